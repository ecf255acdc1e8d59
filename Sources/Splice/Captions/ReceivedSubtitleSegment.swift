import Media

/// An upstream subtitle segment that `CuePlacer` has received and parsed.
struct ReceivedSubtitleSegment: Sendable {
    /// Without its text.
    let input: SubtitleInput
    let byteCount: Int
    let file: WebVTT
    /// Cues without a place on the timeline.
    var unplacedCues: [WebVTT.Cue]
    /// Presentation times of the segment on the channel's timeline; nil while unknown.
    var outputRange: Range<Ticks>?
    var hasPlacedCues = false
    /// Presentation time at which the published video ended when the segment arrived.
    let outputEndAtReceipt: Ticks?

    /// Whether the segment's own place and the places of all its cues are known.
    var isPlaced: Bool { unplacedCues.isEmpty && outputRange != nil }
}
