import Demux
import Media
import Mux
import Transcode

/// Audio of one period from one upstream segment without video, in order.
struct AudioPeriodPart: Equatable, Sendable {
    /// Set if the first frame begins a period.
    let signal: DiscontinuityDetector.Signal?
    var frames: [TimedAudio]
    let mediaSequence: UInt64
    let discontinuitySequence: UInt64
    /// Date of the first frame in milliseconds since 1970; nil if the upstream gave none.
    let programDateTime: Int64?
    /// Whether this part begins its upstream segment.
    var opensSegment = false
    /// Timed metadata of the upstream segment, in order.
    var metadata: [TimedMetadata] = []

    /// - Parameter lead: time from the segment's first frame to the first of `frames`; nil if the segment's date does
    ///   not apply here.
    init(
        signal: DiscontinuityDetector.Signal?, frames: [TimedAudio], from segment: SegmentInput, after lead: Ticks?
    ) {
        self.signal = signal
        self.frames = frames
        mediaSequence = segment.mediaSequence
        discontinuitySequence = segment.discontinuitySequence
        programDateTime = lead.flatMap { lead in
            segment.programDateTime.map { $0 + lead.count * 1000 / Ticks.perSecond }
        }
    }
}
