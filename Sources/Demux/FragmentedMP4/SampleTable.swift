package import Media
import Support

/// Samples of a track, read from the tables of `stbl` (ISO/IEC 14496-12 §8.6, §8.7).
package struct SampleTable: Equatable, Sendable {
    package struct Sample: Equatable, Sendable {
        package let offset: UInt64
        /// Decode time in the track's timescale: the sum of the durations of the samples before.
        let decodeTime: UInt64
        package let size: UInt32
        let duration: UInt32
        /// Presentation time − decode time, in the track's timescale.
        ///
        /// Read as signed also in version 0, because writers use negative values there against the standard.
        let compositionOffset: Int32
        package let isSync: Bool

        package var end: UInt64 { offset + UInt64(size) }
    }

    /// Most samples accepted: more than six hours of AAC, eleven hours of video.
    static let maxSamples = 1 << 20

    /// Samples in decoding order, 32 bytes each. Their offsets do not decrease, and the sum of their durations is below
    /// 2⁵².
    let samples: [Sample]

    /// - Throws: if the tables contradict each other, or the samples do not lie in the file in decoding order.
    init(_ stbl: Box, fileSize: UInt64) throws(MediaError) {
        let boxes = try stbl.children()
        let sizes = try Self.sizes(boxes)
        let durations = try boxes.column("stts") { (fields) throws(MediaError) in
            try fields.expandedRuns(count: sizes.count)
        }
        let compositionOffsets =
            boxes.first("ctts") == nil
            ? nil
            : try boxes.column("ctts") { (fields) throws(MediaError) in try fields.expandedRuns(count: sizes.count) }
        let isSync = try Self.syncSamples(boxes, count: sizes.count)
        let offsets = try ChunkTable(boxes).sampleOffsets(of: sizes, fileSize: fileSize)
        var time: UInt64 = 0
        samples = sizes.indices.map { index in
            defer { time += UInt64(durations[index]) }
            return Sample(
                offset: offsets[index], decodeTime: time, size: sizes[index], duration: durations[index],
                compositionOffset: Int32(bitPattern: compositionOffsets?[index] ?? 0), isSync: isSync[index])
        }
        StepCounter.add(samples.count)
        guard !zip(offsets, offsets.dropFirst()).contains(where: { $0 > $1 }) else {
            throw .movie(.samplesOutOfOrder)
        }
    }

    /// Reads `stsz` (§8.7.3.2): the size of each sample in bytes, in order.
    private static func sizes(_ boxes: [Box]) throws(MediaError) -> [UInt32] {
        try boxes.column("stsz") { (fields) throws(MediaError) in
            let (common, count) = (try fields.u32(), try fields.u32())
            guard count <= maxSamples else { throw .movie(.tooManySamples(count: count)) }
            if common != 0 { return [UInt32](repeating: common, count: Int(count)) }
            var sizes: [UInt32] = []
            for _ in 0..<count { sizes.append(try fields.u32()) }
            return sizes
        }
    }

    /// Reads `stss` (§8.6.2). Without it every sample is a sync sample.
    private static func syncSamples(_ boxes: [Box], count: Int) throws(MediaError) -> [Bool] {
        guard boxes.first("stss") != nil else { return [Bool](repeating: true, count: count) }
        return try boxes.column("stss") { (fields) throws(MediaError) in
            var isSync = [Bool](repeating: false, count: count)
            var last = 0
            for _ in 0..<(try fields.u32()) {
                let number = Int(try fields.u32())
                guard number > last, number <= count else { return nil }
                isSync[number - 1] = true
                last = number
            }
            return isSync
        }
    }
}

extension [Box] {
    /// Reads a table after its version and flags.
    /// - Parameter read: returns nil for invalid values.
    func column<Value>(
        _ type: BoxType, _ read: (inout BoxFields) throws(MediaError) -> Value?
    ) throws(MediaError) -> Value {
        let bad = MediaError.movie(.badTable(box: "\(type)"))
        guard let box = first(type) else { throw bad }
        var fields = BoxFields(box.body)
        do throws(MediaError) {
            _ = try fields.versionAndFlags()
            if let value = try read(&fields) { return value }
        } catch {
            throw error.reason == .truncated ? bad : error
        }
        throw bad
    }
}

extension BoxFields {
    /// Reads the pairs of a sample_count and a value in `stts` and `ctts` (§8.6.1).
    /// - Returns: the value of each of `count` samples; nil if the pairs cover fewer samples.
    fileprivate mutating func expandedRuns(count: Int) throws(MediaError) -> [UInt32]? {
        var values: [UInt32] = []
        values.reserveCapacity(count)
        for _ in 0..<(try u32()) {
            let repeated = min(Int(try u32()), count - values.count)
            values.append(contentsOf: repeatElement(try u32(), count: repeated))
        }
        return values.count == count ? values : nil
    }
}

/// File offsets and sample counts of a track's chunks (ISO/IEC 14496-12 §8.7.4, §8.7.5).
private struct ChunkTable {
    private typealias Entry = (firstChunk: Int, samplesPerChunk: Int, descriptionIndex: UInt32)

    private let offsets: [UInt64]
    /// Entries of `stsc`, in increasing order of `firstChunk`.
    private let entries: [Entry]

    init(_ boxes: [Box]) throws(MediaError) {
        let isLong = boxes.first("stco") == nil && boxes.first("co64") != nil
        offsets = try boxes.column(isLong ? "co64" : "stco") { (fields) throws(MediaError) in
            var offsets: [UInt64] = []
            for _ in 0..<(try fields.u32()) { offsets.append(isLong ? try fields.u64() : UInt64(try fields.u32())) }
            return offsets
        }
        entries = try boxes.column("stsc") { (fields) throws(MediaError) in
            var entries: [Entry] = []
            for _ in 0..<(try fields.u32()) {
                let entry: Entry = (Int(try fields.u32()), Int(try fields.u32()), try fields.u32())
                guard entry.firstChunk > entries.last?.firstChunk ?? 0, entry.samplesPerChunk > 0 else { return nil }
                entries.append(entry)
            }
            return entries.isEmpty || entries[0].firstChunk == 1 ? entries : nil
        }
    }

    /// Returns the file offset of each sample.
    /// - Throws: if the chunks hold fewer samples, or a sample is outside the file.
    func sampleOffsets(of sizes: [UInt32], fileSize: UInt64) throws(MediaError) -> [UInt64] {
        var sampleOffsets: [UInt64] = []
        sampleOffsets.reserveCapacity(sizes.count)
        for (index, entry) in entries.enumerated() where sampleOffsets.count < sizes.count {
            guard entry.descriptionIndex == 1 else { throw .movie(.severalSampleEntries) }
            let end = index + 1 < entries.count ? entries[index + 1].firstChunk - 1 : offsets.count
            for chunkOffset in offsets[min(entry.firstChunk - 1, offsets.count)..<min(end, offsets.count)] {
                var offset = chunkOffset
                for size in sizes[sampleOffsets.count...].prefix(entry.samplesPerChunk) {
                    guard offset <= fileSize, UInt64(size) <= fileSize - offset else { throw .movie(.samplesPastEnd) }
                    sampleOffsets.append(offset)
                    offset += UInt64(size)
                }
            }
        }
        guard sampleOffsets.count == sizes.count else { throw .movie(.badTable(box: "stsc")) }
        return sampleOffsets
    }
}

/// A track of a plain MP4 file: its samples and its clock.
package struct SampleTrack: Sendable {
    /// Limit of all durations in a file, so that no sum of times overflows.
    static let maxDuration = Ticks.seconds(86_400)

    /// Samples in decoding order, never empty.
    package let samples: [SampleTable.Sample]
    private let clock: TrackTimeConverter

    /// - Returns: nil for a track without samples.
    init?(_ trak: Box, _ track: MovieTrack, of movie: Movie, fileSize: UInt64) throws(MediaError) {
        clock = TrackTimeConverter(track, movieTimescale: movie.timescale)
        samples = try SampleTable(trak.descendant("mdia", "minf", "stbl"), fileSize: fileSize).samples
        guard let last = samples.last else { return nil }
        let seconds = Int128(Self.maxDuration.count / Ticks.perSecond)
        let (edits, unit) = (track.edits, seconds * Int128(track.timescale.unitsPerSecond))
        guard Int128(last.decodeTime) + Int128(last.duration) <= unit, Int128(edits.mediaTime).magnitude <= unit,
            Int128(edits.emptyDuration) <= seconds * Int128(movie.timescale?.unitsPerSecond ?? 0)
        else { throw .movie(.tooLong) }
    }

    /// Returns the index of the first sample that begins at an offset in the file or after it.
    func firstIndex(from offset: UInt64) -> Int { samples.partitioningIndex { $0.offset >= offset } }

    /// Decode time of a sample after the edit list. The end index gives the end of the track.
    package func decodeTime(_ index: Int) -> Ticks { clock.time(mediaTime(index)) }

    package func presentationTime(_ index: Int) -> Ticks {
        guard samples.indices.contains(index) else { return decodeTime(index) }
        return clock.time(samples[index].decodeTime, offset: samples[index].compositionOffset)
    }

    package var presentationEnd: Ticks {
        samples.reduce(presentationTime(0)) { end, sample in
            max(end, clock.time(sample.decodeTime + UInt64(sample.duration), offset: sample.compositionOffset))
        }
    }

    private func mediaTime(_ index: Int) -> UInt64 {
        if samples.indices.contains(index) { return samples[index].decodeTime }
        return samples.last.map { $0.decodeTime + UInt64($0.duration) } ?? 0
    }

    /// Index of the first sample presented at or after `time`, if the samples' presentation order is their decoding order.
    package func firstIndex(presentedFrom time: Ticks) -> Int {
        samples.partitioningIndex { clock.time($0.decodeTime, offset: $0.compositionOffset) >= time }
    }
}
