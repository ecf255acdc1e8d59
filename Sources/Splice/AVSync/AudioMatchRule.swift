import Media

/// Rule that matches a video span with an audio span. The lists rank the rules: the first that finds audio decides.
enum AudioMatchRule: CaseIterable, Equatable, Sendable {
    /// The span that was matched before continues.
    case continuedSpan
    /// The next span overlaps the video on its clock, and does not go back before the audio dequeued last.
    case nextOverlapping
    /// The upstream signaled a discontinuity: a new span has its sequence number and overlaps the video.
    case signaledOverlapping
    /// The same, but the new span is on its own clock. Requires a companion whose sequence numbers are known.
    case signaledOwnClock
    /// Video and matched audio both continue across the start of the period.
    ///
    /// If a new span overlaps the video, the matched one must have more than `VideoTimestampUnwrapper.longestFrame` left.
    case unbrokenSpan
    /// A new span has the video's discontinuity sequence number and overlaps it.
    case sequenceOverlapping
    /// A new span overlaps the video, with another sequence number.
    case newOverlapping
    /// A span has the video's discontinuity sequence number and is on its own clock.
    case sequenceOwnClock
    /// No new span fits: the span matched before overlaps the video, or is long enough to be audio on its own clock.
    case rematchedSpan

    /// Rules for a video span that continues a period, in order.
    static let insidePeriod: [AudioMatchRule] = [.continuedSpan, .nextOverlapping, .sequenceOwnClock]

    /// Rules for a video span that begins a period, in order: new audio first, unless audio and video both continue.
    static let atPeriodStart: [AudioMatchRule] = [
        .signaledOverlapping, .signaledOwnClock, .unbrokenSpan, .sequenceOverlapping, .newOverlapping,
        .sequenceOwnClock, .rematchedSpan,
    ]
}

/// An audio span that matches a video span.
struct AudioMatch: Equatable, Sendable {
    /// Index in `AudioVideoMatcher.audioSpans`.
    let index: Int
    let rule: AudioMatchRule
    /// Ticks that are added to the audio's times to get times on the video's clock.
    let clockOffset: Ticks
}
