extension ChannelPipeline {
    /// The output of a channel at one moment: a source, filler, or nothing any more.
    enum Output: Equatable {
        case source(Int)
        /// An outage is filled; `after` is the source that was published before.
        case filler(OutageFiller.Kind, after: Int)
        /// Nothing follows; `after` is the source that was published last.
        case ended(after: Int)

        /// The source that is published, or was published last. Source 0 is the channel's own upstream.
        var source: Int {
            switch self {
            case .source(let source), .filler(_, let source), .ended(let source): source
            }
        }

        /// nil unless an outage is filled.
        var filler: OutageFiller.Kind? { if case .filler(let kind, _) = self { kind } else { nil } }

        var isEnded: Bool { if case .ended = self { true } else { false } }
    }
}
