import Media

/// One track that packets are made of: its clock, and where its next fragment should begin.
struct TrackDemuxer: Sendable {
    let trackID: UInt32
    private let converter: TrackTimeConverter
    /// Behind the last sample, in the track's timescale: where a fragment without `tfdt` begins.
    private var nextDecodeTime: UInt64 = 0
    /// Of the samples in the segment, shown or not, as on the wire.
    private(set) var earliestPTS: Ticks?
    private var video: VideoFragmentFramer?
    private var audio: AudioFragmentFramer?

    /// - Returns: nil when it is coded as nothing we carry, or holds neither pictures nor sound.
    init?(_ track: MovieTrack, of movie: Movie) throws(MediaError) {
        trackID = track.trackID
        converter = TrackTimeConverter(track, movieTimescale: movie.timescale)
        switch track.handler {
        case "vide": video = try VideoFragmentFramer(track)
        case "soun": audio = try AudioFragmentFramer(track)
        default: break
        }
        guard video != nil || audio != nil else { return nil }
    }

    /// Goes on where `old`, perhaps on another timescale, stopped.
    mutating func resume(after old: TrackDemuxer?) {
        if let old { nextDecodeTime = old.converter.convert(old.nextDecodeTime, to: converter) }
    }

    /// - Parameter capacity: bytes of the segment that this track may fill alone.
    mutating func beginSegment(capacity: Int) {
        video?.reserve(bytes: capacity)
        earliestPTS = nil
    }

    /// - Throws: when the sample entry it names cannot be used.
    mutating func append(
        _ fragment: TrackFragment, of bytes: [UInt8], into segment: inout DemuxedSegment
    ) throws(MediaError) {
        let entry = Int(fragment.header.defaults.descriptionIndex) - 1
        segment.video += try video?.selectEntry(entry) ?? []
        try audio?.selectEntry(entry, for: fragment.samples)
        var time = fragment.decodeTime ?? nextDecodeTime
        for sample in fragment.samples {
            append(sample, at: time, of: bytes, counts: &segment.counts)
            time &+= UInt64(sample.duration)
        }
        nextDecodeTime = time
    }

    private mutating func append(
        _ sample: TrackFragment.Sample, at time: UInt64, of bytes: [UInt8], counts: inout DemuxCounts
    ) {
        if !sample.isWhole { counts.incompleteSamples += 1 }
        guard sample.isWhole || !sample.payload.isEmpty else { return }
        let pts = converter.wire(time, offset: sample.compositionOffset)
        earliestPTS = earliestPTS.map { Ticks.earlierOnWire($0, pts) } ?? pts
        let isTaken =
            video?.append(sample, of: bytes, pts: pts, dts: converter.wire(time))
            ?? audio?.append(sample, of: bytes, pts: pts) ?? false
        if !isTaken { counts.undecodable += 1 }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) {
        segment.video += video?.drain() ?? []
        segment.audio += audio?.drain() ?? []
    }
}
