import Media

/// The sample table of one track, as it grows chunk by chunk (ISO/IEC 14496-12 §8.5 to §8.7).
struct SampleTableWriter: Equatable, Sendable {
    /// Consecutive samples with one value.
    struct Run: Equatable, Sendable {
        var count: UInt32
        let value: UInt32
    }

    /// Samples that are contiguous in the file (§3.1.3).
    struct Chunk: Equatable, Sendable {
        let offset: UInt64
        let sampleCount: UInt32
        /// The index of the sample entry in `descriptions`.
        let description: Int
    }

    let id: UInt32
    var language = LanguageTag.unknown
    private var descriptions: [TrackDescriptions.Track] = []
    /// How long the samples of each description last.
    private var descriptionDurations: [Int64] = []
    private(set) var chunks: [Chunk] = []
    private(set) var sizes: [UInt32] = []
    private(set) var durations: [Run] = []
    private(set) var compositionOffsets: [Run] = []
    /// The numbers of the samples with which decoding may begin, from 1 on. Random access points with leading pictures
    /// are included, because players seek only to samples in this table.
    private(set) var syncSamples: [UInt32] = []
    /// The decode time of the first sample, in the track's timescale.
    private(set) var start: Int64 = 0
    /// From the first sample to the end of the last one.
    private(set) var duration: Int64 = 0

    init(id: UInt32) { self.id = id }

    /// Tracks after the leading audio are audio too.
    var isAudio: Bool { id >= TrackID.audio }

    var timescale: Int64 { isAudio ? TrackTimescale.audio : TrackTimescale.video }

    /// Appends a chunk. The preceding sample lasts until the chunk begins; its duration is 0 if the chunk begins
    /// earlier.
    /// - Parameters:
    ///   - decodeTime: decode time of the first sample.
    ///   - offset: position of the chunk in the media data.
    mutating func append(
        _ samples: some Collection<FragmentTrack.Sample>, at decodeTime: Int64, offset: UInt64,
        as description: TrackDescriptions.Track
    ) {
        guard !samples.isEmpty else { return }
        if sizes.isEmpty { start = decodeTime } else { holdLastSample(until: decodeTime) }
        let index = index(of: description)
        chunks.append(Chunk(offset: offset, sampleCount: UInt32(samples.count), description: index))
        for sample in samples {
            sizes.append(UInt32(clamping: sample.bytes.count))
            Self.append(sample.duration, to: &durations)
            Self.append(UInt32(bitPattern: sample.compositionOffset), to: &compositionOffsets)
            if sample.isRandomAccessPoint { syncSamples.append(UInt32(sizes.count)) }
            duration += Int64(sample.duration)
            descriptionDurations[index] += Int64(sample.duration)
        }
    }

    private mutating func index(of description: TrackDescriptions.Track) -> Int {
        if let index = descriptions.lastIndex(of: description) { return index }
        descriptions.append(description)
        descriptionDurations.append(0)
        return descriptions.count - 1
    }

    /// The index of the description that lasts longest, the first of several; 0 if there is none. Players and
    /// catalogs take the size of a movie from its first sample entry, which may otherwise be that of a short ad.
    private var longest: Int {
        descriptionDurations.indices.max { descriptionDurations[$0] < descriptionDurations[$1] } ?? 0
    }

    /// The sample entries in the order of the file.
    var orderedDescriptions: [TrackDescriptions.Track] {
        guard !descriptions.isEmpty else { return [] }
        var ordered = descriptions
        ordered.insert(ordered.remove(at: longest), at: 0)
        return ordered
    }

    /// The number of a sample entry in the file, from 1 on.
    private func number(of description: Int) -> UInt32 {
        let longest = longest
        return UInt32(description == longest ? 1 : description < longest ? description + 2 : description + 1)
    }

    private mutating func holdLastSample(until decodeTime: Int64) {
        let missing = decodeTime - start - duration
        guard missing != 0, let last = durations.last else { return }
        let held = UInt32(clamping: Int64(last.value) + missing)
        durations[durations.count - 1].count -= 1
        if last.count == 1 { durations.removeLast() }
        Self.append(held, to: &durations)
        duration += Int64(held) - Int64(last.value)
    }

    private static func append(_ value: UInt32, to runs: inout [Run]) {
        if let last = runs.last, last.value == value {
            runs[runs.count - 1].count += 1
        } else {
            runs.append(Run(count: 1, value: value))
        }
    }

    /// The bytes of the table in memory.
    var byteCount: Int {
        (sizes.count + syncSamples.count) * 4 + (durations.count + compositionOffsets.count) * 8 + chunks.count * 16
    }
}

// MARK: - Boxes

extension SampleTableWriter {
    /// Writes `stbl`.
    /// - Parameter dataStart: the offset of the media data in the file.
    func writeSampleTable(to minf: inout BoxWriter, dataStart: UInt64, isLarge: Bool) {
        minf.box("stbl") { stbl in
            stbl.fullBox("stsd") { stsd in
                stsd.u32(UInt32(descriptions.count))
                for description in orderedDescriptions { stsd.append(description.sampleEntry) }
            }
            writeRuns("stts", durations, to: &stbl)
            if compositionOffsets.contains(where: { $0.value != 0 }) {
                // Version 1: the offsets are signed.
                writeRuns("ctts", version: 1, compositionOffsets, to: &stbl)
            }
            if syncSamples.count < sizes.count {
                stbl.fullBox("stss") { stss in
                    stss.u32(UInt32(syncSamples.count))
                    for number in syncSamples { stss.u32(number) }
                }
            }
            writeChunkSizes(to: &stbl)
            stbl.fullBox("stsz") { stsz in
                stsz.u32(0)
                stsz.u32(UInt32(sizes.count))
                for size in sizes { stsz.u32(size) }
            }
            stbl.fullBox(isLarge ? "co64" : "stco") { offsets in
                offsets.u32(UInt32(chunks.count))
                for chunk in chunks {
                    let offset = dataStart + chunk.offset
                    if isLarge { offsets.u64(offset) } else { offsets.u32(UInt32(truncatingIfNeeded: offset)) }
                }
            }
        }
    }

    private func writeRuns(_ type: BoxType, version: UInt8 = 0, _ runs: [Run], to stbl: inout BoxWriter) {
        stbl.fullBox(type, version: version) { box in
            box.u32(UInt32(runs.count))
            for run in runs {
                box.u32(run.count)
                box.u32(run.value)
            }
        }
    }

    /// Writes `stsc` (§8.7.4): an entry for each chunk that differs from the one before it.
    private func writeChunkSizes(to stbl: inout BoxWriter) {
        let first = chunks.indices.filter { index in
            guard index > 0 else { return true }
            let (before, chunk) = (chunks[index - 1], chunks[index])
            return before.sampleCount != chunk.sampleCount || before.description != chunk.description
        }
        let numbers = descriptions.indices.map(number)
        stbl.fullBox("stsc") { stsc in
            stsc.u32(UInt32(first.count))
            for index in first {
                stsc.u32(UInt32(index + 1))
                stsc.u32(chunks[index].sampleCount)
                stsc.u32(numbers[chunks[index].description])
            }
        }
    }
}
