import Media

/// Knows whether the dates of a rendition's audio and of the video agree, and compares them.
///
/// Dates are believed once audio and video on one clock had the same, and as long as no audio that overlaps its video
/// is missing by them.
struct AudioDating: Sendable {
    /// Largest difference between dates of the same time, milliseconds.
    private static let tolerance: Int64 = 500
    /// Time of video without the audio that overlaps it, after which dates are not believed.
    private static let longestMissing = Ticks.seconds(10)

    private var isBelieved = false
    private var missing = Ticks.zero

    /// Compares the dates of matched audio on the video's own clock.
    mutating func compare(_ audio: AudioSpan, with span: AudioVideoMatcher.VideoSpan) {
        guard let offset = audio.clockOffset, offset.wire == .zero, let date = span.date,
            let own = audio.date(at: span.start - offset)
        else { return }
        (isBelieved, missing) = (abs(own - date) <= Self.tolerance, .zero)
    }

    /// Records a span that is over.
    /// - Parameter isOverlapped: whether audio of another date overlaps it.
    mutating func recordMissing(_ isOverlapped: Bool, _ span: AudioVideoMatcher.VideoSpan) {
        missing = isOverlapped ? missing + max(.zero, span.end - span.start) : .zero
        if missing > Self.longestMissing { isBelieved = false }
    }

    /// Whether all of the audio up to now is earlier than `span`.
    func isEarlier(_ audio: AudioSpan, than span: AudioVideoMatcher.VideoSpan) -> Bool {
        guard isBelieved, let date = span.date, let end = audio.date(at: audio.end) else { return false }
        return end < date - Self.tolerance
    }

    /// Whether the rest of the audio is later than `span`.
    func isLater(_ audio: AudioSpan, than span: AudioVideoMatcher.VideoSpan) -> Bool {
        guard isBelieved, let date = span.date, let first = audio.frames.first,
            let start = audio.date(at: first.pts)
        else { return false }
        return start > date + (span.end - span.start).count * 1000 / Ticks.perSecond + Self.tolerance
    }
}
