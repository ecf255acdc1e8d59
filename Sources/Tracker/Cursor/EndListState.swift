import Playlist
import Support

/// Tracks whether a playlist with ENDLIST has really ended.
///
/// A live channel with ENDLIST is loaded for a while longer, because a restarted encoder writes an ENDLIST first. The
/// limit is that of any other silence, during which viewers play on.
enum EndListState: Equatable, Sendable {
    /// Every playlist so far had an end.
    case finished
    case live
    /// A live playlist has ended, and may continue until then.
    case reopening(until: Duration)

    private static let reopenLimit = TargetDurations.halves(7)

    var reopensUntil: Duration? { if case .reopening(let until) = self { until } else { nil } }

    /// - Parameters:
    ///   - hasEnded: the cursor's decision, which does not trust every playlist.
    ///   - hasNewSegments: whether the playlist listed something new.
    mutating func update(from playlist: MediaPlaylist, hasEnded: Bool, hasNewSegments: Bool, at now: Duration) {
        if self == .finished, !playlist.isComplete { self = .live }
        switch self {
        case .finished: break
        case .live, .reopening:
            guard hasEnded else {
                self = .live
                return
            }
            if self == .live || hasNewSegments {
                self = .reopening(until: now + playlist.targetDuration * Self.reopenLimit)
            }
        }
    }
}

/// The last segment of a playlist, which tells one ended playlist from another.
struct LastSegmentIdentity: Equatable, Sendable {
    private let mediaSequence: UInt64
    /// The URI without its query, which may be signed anew each time.
    private let path: String

    init(_ segment: MediaSegment) {
        mediaSequence = segment.mediaSequence
        path = URIReference.withoutQuery(segment.uri)
    }
}
