import Demux
package import Media
import Mux
import Transcode

/// Where the pictures that one upstream segment has of one run are shown, or its sound where it has none. What is timed
/// against the same source (subtitles) finds its place by it.
package struct SourceSpan: Equatable, Sendable {
    /// `PeriodDescription.run`.
    package let period: Int
    /// Of the upstream segment.
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// Milliseconds since 1970 of the first picture as the upstream dates it; nil where it does not.
    package let programDateTime: Int64?
    /// Presentation times on the source's own clock, unfolded: the first picture, and the end of the last.
    package let start: Ticks
    package let end: Ticks
    /// Presentation time of the first picture on the channel's timeline.
    package let outputStart: Ticks
}

extension SourceSpan {
    init(_ piece: PeriodPart, run: Int, on timeline: PeriodTimeline) {
        let window = piece.videoSpan
        self.init(
            period: run, mediaSequence: piece.mediaSequence, discontinuitySequence: piece.discontinuitySequence,
            programDateTime: piece.programDateTime, start: window.start, end: window.end,
            outputStart: timeline.presentation(of: window.start))
    }

    /// Of a piece of sound alone.
    init(_ piece: AudioPeriodPart, period: Int, on timeline: PeriodTimeline) {
        let start = piece.frames.first?.pts ?? .zero
        let last = piece.frames.last
        self.init(
            period: period, mediaSequence: piece.mediaSequence, discontinuitySequence: piece.discontinuitySequence,
            programDateTime: piece.programDateTime, start: start,
            end: last.map { $0.pts + $0.packet.configuration.frameDuration } ?? start,
            outputStart: timeline.presentation(of: start))
    }

    /// Where the source's clock shows on the channel's timeline.
    var offset: Ticks { outputStart - start }
    /// On the channel's timeline.
    var outputEnd: Ticks { end + offset }
}
