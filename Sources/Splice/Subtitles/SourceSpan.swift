/// Where the pictures that one upstream segment has of one run are shown, or its sound where it has none. What is timed
/// against the same source (subtitles) finds its place by it.
package struct SourceSpan: Equatable, Sendable {
    /// `RunDescription.run`.
    package let run: Int
    /// Of the upstream segment.
    package let mediaSequence: UInt64
    package let discontinuitySequence: UInt64
    /// Milliseconds since 1970 of the first picture as the upstream dates it; nil where it does not.
    package let programDateTime: Int64?
    /// Presentation times on the source's own clock, unfolded: the first picture, and the end of the last.
    package let start: Ticks
    package let end: Ticks
    /// Presentation time of the first picture on the channel's timeline.
    package let output: Ticks
}

extension SourceSpan {
    init(_ piece: RunPiece, run: Int, on timeline: ProgramTimeline) {
        let window = piece.window
        self.init(
            run: run, mediaSequence: piece.mediaSequence, discontinuitySequence: piece.discontinuitySequence,
            programDateTime: piece.programDateTime, start: window.start, end: window.end,
            output: timeline.presentation(of: window.start))
    }

    /// Of a piece of sound alone.
    init(_ piece: SoundPiece, run: Int, on timeline: ProgramTimeline) {
        let start = piece.frames.first?.pts ?? .zero
        let last = piece.frames.last
        self.init(
            run: run, mediaSequence: piece.mediaSequence, discontinuitySequence: piece.discontinuitySequence,
            programDateTime: piece.programDateTime, start: start,
            end: last.map { $0.pts + $0.packet.configuration.frameDuration } ?? start,
            output: timeline.presentation(of: start))
    }

    /// Where the source's clock shows on the channel's timeline.
    var offset: Ticks { output - start }
    /// On the channel's timeline.
    var outputEnd: Ticks { end + offset }
}
