import Playlist

/// Whether a list goes on, as far as its ENDLIST can be believed.
///
/// A live channel that ends is asked for a while whether it begins again: an encoder that is started anew writes an
/// ENDLIST first. For as long as anything else may be silent: viewers play on meanwhile.
enum EndListState: Equatable, Sendable {
    /// It was never seen without an end.
    case finished
    case live
    /// It was live and has ended; it may begin again up to then.
    case reopening(until: Duration)

    private static let reopenLimit = TargetDurations.halves(7)

    var reopensUntil: Duration? { if case .reopening(let until) = self { until } else { nil } }

    /// - Parameters:
    ///   - hasEnded: as the cursor says, which does not believe every list.
    ///   - news: it lists something new.
    mutating func update(from list: MediaPlaylist, hasEnded: Bool, hasNewSegments news: Bool, at now: Duration) {
        if self == .finished, !list.isComplete { self = .live }
        switch self {
        case .finished: break
        case .live, .reopening:
            guard hasEnded else {
                self = .live
                return
            }
            if self == .live || news { self = .reopening(until: now + list.targetDuration * Self.reopenLimit) }
        }
    }
}

/// By what one knows a list that has ended from another one: the last segment that it has.
struct LastSegmentIdentity: Equatable, Sendable {
    private let mediaSequence: UInt64
    /// Without its query, which may be signed anew each time.
    private let path: Substring

    init(_ segment: MediaSegment) {
        mediaSequence = segment.mediaSequence
        path = segment.uri.prefix { $0 != "?" }
    }
}
