import Media
import Metering

/// Demuxes one followed track: converts its times and keeps the decode time of its next fragment.
struct TrackDemuxer: Sendable {
    let trackID: UInt32
    private let converter: TrackTimeConverter
    /// The end of the last sample, in the track's timescale: the decode time of a fragment without `tfdt`.
    private var nextDecodeTime: UInt64 = 0
    /// The earliest presentation time in the segment, as on the wire, samples outside the edit list included.
    private(set) var earliestPTS: Ticks?
    private var video: VideoFragmentFramer?
    private var audio: AudioFragmentFramer?

    /// - Returns: nil if the track is neither audio nor video, or its codec is not supported.
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

    /// Continues at the end of `old`, which may have another timescale.
    mutating func resume(after old: TrackDemuxer?) {
        if let old { nextDecodeTime = old.converter.convert(old.nextDecodeTime, to: converter) }
    }

    /// - Parameter capacity: the largest number of bytes of this track in the segment.
    mutating func beginSegment(capacity: Int) {
        video?.reserve(bytes: capacity)
        earliestPTS = nil
    }

    /// - Throws: If the sample entry of the fragment cannot be used.
    mutating func append(
        _ fragment: TrackFragment, of bytes: [UInt8], into segment: inout DemuxedSegment
    ) throws(MediaError) {
        let entry = Int(fragment.header.defaults.descriptionIndex) - 1
        segment.video += try video?.selectEntry(entry) ?? []
        try audio?.selectEntry(entry, for: fragment.samples)
        var time = fragment.decodeTime ?? nextDecodeTime
        for sample in fragment.samples {
            try MediaError.checkCancellation()
            StepCounter.add(1)
            append(sample, at: time, of: bytes, counts: &segment.counts)
            time &+= UInt64(sample.duration)
        }
        nextDecodeTime = time
    }

    private mutating func append(
        _ sample: TrackFragment.Sample, at time: UInt64, of bytes: [UInt8], counts: inout DemuxCounts
    ) {
        if !sample.isComplete { counts.incompleteSamples += 1 }
        guard sample.isComplete || !sample.payload.isEmpty else { return }
        let pts = converter.wire(time, offset: sample.compositionOffset)
        earliestPTS = earliestPTS.map { Ticks.earlierOnWire($0, pts) } ?? pts
        let isAppended =
            video?.append(sample, of: bytes, pts: pts, dts: converter.wire(time))
            ?? audio?.append(sample, of: bytes, pts: pts) ?? false
        if !isAppended { counts.undecodable += 1 }
    }

    mutating func endSegment(into segment: inout DemuxedSegment) {
        segment.video += video?.drain() ?? []
        segment.audio += audio?.drain() ?? []
    }
}
