import Media

/// From the samples of a track to video packets.
struct VideoFragmentFramer: Sendable {
    /// By sample entry; nil where that one cannot be used.
    private let descriptions: [VideoSampleDescription?]
    private let entries: [SampleEntry]
    private var current: Int?
    private var writer: VideoSampleWriter
    private var codec: VideoConfiguration.Codec
    private var lengthSize = 4
    private var units: [NALUnit] = []
    private var roles: [NALUnitRole] = []

    /// - Returns: nil when the track's first entry is none that we carry.
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

    /// - Parameter index: of the sample entry that holds for the samples to come, from 0.
    /// - Returns: the packets so far, when their codec ends here.
    mutating func selectEntry(_ index: Int) throws(MediaError) -> [VideoPacket] {
        guard index != current else { return [] }
        guard descriptions.indices.contains(index), let description = descriptions[index] else {
            throw SampleEntry.unusableError(index, of: entries)
        }
        var done: [VideoPacket] = []
        if description.codec != codec {
            done = writer.drain()
            codec = description.codec
            writer = VideoSampleWriter(pid: 0, codec: codec, room: writer.maxArenaSize)
        }
        lengthSize = description.lengthSize
        writer.activate(description.parameterSets.map { ($0.kind, $0.unit) })
        current = index
        return done
    }

    /// - Returns: false when no picture is in it, or nothing to decode it with.
    mutating func append(_ sample: TrackFragment.Sample, of bytes: [UInt8], pts: Ticks, dts: Ticks) -> Bool {
        units.removeAll(keepingCapacity: true)
        roles.removeAll(keepingCapacity: true)
        let isWhole = LengthPrefixedNALUnits.scan(
            bytes, in: sample.payload.indices, lengthSize: lengthSize, into: &units)
        for unit in units { roles.append(NALUnitRole(unit, of: bytes, codec: codec)) }
        return writer.write(
            units[...], roles[...], of: bytes,
            VideoSampleWriter.Timing(pts: pts, dts: dts, isDamaged: !isWhole || !sample.isWhole))
    }

    mutating func drain() -> [VideoPacket] { writer.drain() }
}
