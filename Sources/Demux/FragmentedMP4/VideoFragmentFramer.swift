import Media
import Support

/// Converts the samples of a video track to packets.
struct VideoFragmentFramer: Sendable {
    /// Descriptions by sample entry; nil for an unsupported one.
    private let descriptions: [VideoSampleDescription?]
    private let entries: [SampleEntry]
    private var current: Int?
    private var writer: VideoSampleWriter
    private var codec: VideoConfiguration.Codec
    private var lengthSize = 4

    /// - Returns: nil if the track's first sample entry is not supported.
    init?(_ track: MovieTrack) throws(MediaError) {
        var descriptions: [VideoSampleDescription?] = []
        for entry in track.sampleEntries { descriptions.append(try VideoSampleDescription(entry)) }
        guard let first = descriptions[0] else { return nil }
        self.descriptions = descriptions
        entries = track.sampleEntries
        codec = first.codec
        writer = VideoSampleWriter(pid: 0, codec: codec)
    }

    mutating func reserve(bytes: Int) { writer.reserve(bytes: bytes) }

    /// - Parameter index: the zero-based sample entry of the following samples.
    /// - Returns: The packets so far, if the codec changes here.
    mutating func selectEntry(_ index: Int) throws(MediaError) -> [VideoPacket] {
        guard index != current else { return [] }
        guard descriptions.indices.contains(index), let description = descriptions[index] else {
            throw SampleEntry.unusableError(index, of: entries)
        }
        var finished: [VideoPacket] = []
        if description.codec != codec {
            finished = writer.drain()
            codec = description.codec
            writer = VideoSampleWriter(pid: 0, codec: codec, maxArenaSize: writer.maxArenaSize)
        }
        lengthSize = description.lengthSize
        writer.activate(
            description.parameterSets.map { ($0.kind, $0.unit) }, dynamicRangeBoxes: description.dynamicRangeBoxes)
        current = index
        return finished
    }

    /// - Returns: false if there is no picture, or nothing to decode it with.
    mutating func append(
        _ sample: TrackFragment.Sample, of bytes: [UInt8], pts: Ticks, dts: Ticks, counts: inout Counts<DemuxCount>
    ) -> Bool {
        var units: [NALUnit] = []
        let isWhole = LengthPrefixedNALUnits.scan(
            bytes, in: sample.payload.indices, lengthSize: lengthSize, into: &units)
        let roles = units.map { NALUnitRole($0, of: bytes, codec: codec) }
        if hasForeignSequence(units, roles, of: bytes) { counts[.foreignParameterSets] += 1 }
        return writer.write(
            units[...], roles[...], of: bytes,
            VideoSampleWriter.Timing(
                pts: pts, dts: dts, isDamaged: !isWhole || !sample.isComplete, isMarkedSync: sample.isSync))
    }

    /// Whether the units have an SPS that the sample entry does not have, though it has one.
    private func hasForeignSequence(_ units: [NALUnit], _ roles: [NALUnitRole], of bytes: [UInt8]) -> Bool {
        guard roles.contains(.parameterSet(.sequence)), let current, let sets = descriptions[current]?.parameterSets,
            sets.contains(where: { $0.kind == .sequence })
        else { return false }
        return zip(units, roles).contains { unit, role in
            role == .parameterSet(.sequence)
                && !sets.contains { $0.kind == .sequence && $0.unit == bytes[unit.start..<unit.end] }
        }
    }

    mutating func drain() -> [VideoPacket] { writer.drain() }
}
