import Media

/// A cue with its place on the channel's timeline.
struct PlacedCue: Equatable, Sendable {
    /// The cue without times.
    var cue: WebVTT.Cue
    /// STYLE and REGION blocks of the cue's file.
    var definitions: [String]
    /// Index of the period that presents the cue.
    var period: Int
    /// Presentation times on the channel's timeline. `end` may be after the end of the period.
    var start: Ticks
    var end: Ticks
    /// Whether a published file contains the cue.
    var isPublished = false

    /// Whether presenting this cue also presents `other`.
    func covers(_ other: PlacedCue) -> Bool {
        cue == other.cue && period == other.period && start <= other.start && end >= other.end
    }
}
