import Demux
package import Media
import Mux
import Transcode

/// Position on the timeline of the media that one upstream segment has of one period. Media timed against the same
/// source, such as subtitles, is placed by it.
package struct SourceSpan: Equatable, Sendable {
    /// Index of the period: `PeriodDescription.index`.
    package let period: Int
    /// Media sequence number of the upstream segment.
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// Upstream date of the first frame in milliseconds since 1970; nil if there is none.
    package let programDateTime: Int64?
    /// Presentation times of the first frame and of the end of the last, unwrapped, on the source's clock.
    package let start: Ticks
    package let end: Ticks
    /// Presentation time of the first frame on the channel's timeline.
    package let outputStart: Ticks
}

extension SourceSpan {
    init(_ part: PeriodPart, period: Int, on timeline: PeriodTimeline) {
        let span = part.videoSpan
        self.init(
            period: period, mediaSequence: part.mediaSequence, discontinuitySequence: part.discontinuitySequence,
            programDateTime: part.programDateTime, start: span.start, end: span.end,
            outputStart: timeline.presentation(of: span.start))
    }

    /// Span of an audio-only part.
    init(_ part: AudioPeriodPart, period: Int, on timeline: PeriodTimeline) {
        let start = part.frames.first?.pts ?? .zero
        let last = part.frames.last
        self.init(
            period: period, mediaSequence: part.mediaSequence, discontinuitySequence: part.discontinuitySequence,
            programDateTime: part.programDateTime, start: start,
            end: last.map { $0.pts + $0.packet.configuration.frameDuration } ?? start,
            outputStart: timeline.presentation(of: start))
    }

    /// Ticks that are added to times on the source's clock to get times on the channel's timeline.
    var offset: Ticks { outputStart - start }
    /// End of the last frame on the channel's timeline.
    var outputEnd: Ticks { end + offset }
}
