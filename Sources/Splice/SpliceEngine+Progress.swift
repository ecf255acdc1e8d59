extension SpliceEngine {
    /// Progress of the main rendition.
    enum Progress: Sendable {
        /// No segment was demuxed.
        case waiting
        /// Segments were demuxed, `last` most recently. `hasVideo`: at least one of them had video frames.
        case segments(last: SegmentInput, hasVideo: Bool)
        /// The rendition ended, after `last` if it had any segment.
        case ended(last: SegmentInput?, hasVideo: Bool)

        var isEnded: Bool {
            if case .ended = self { true } else { false }
        }

        /// The segment demuxed last; frames held at the end of the rendition belong to it.
        var lastSegment: SegmentInput? {
            switch self {
            case .waiting: nil
            case .segments(let last, _): last
            case .ended(let last, _): last
            }
        }

        /// Whether any segment had video frames.
        var hasVideo: Bool {
            switch self {
            case .waiting: false
            case .segments(_, let hasVideo), .ended(_, let hasVideo): hasVideo
            }
        }

        /// Records a demuxed segment. A rendition that ended stays ended.
        mutating func advance(to segment: SegmentInput, hasVideo: Bool) {
            let hasVideo = self.hasVideo || hasVideo
            self =
                isEnded
                ? .ended(last: segment, hasVideo: hasVideo) : .segments(last: segment, hasVideo: hasVideo)
        }

        mutating func end() { self = .ended(last: lastSegment, hasVideo: hasVideo) }
    }
}
