/// The cursor's effects for one playlist, with what follows from all of them.
struct PlaylistUpdate: Equatable, Sendable {
    let effects: [SegmentCursor.Effect]
    /// The first media sequence number not listed before, gaps included.
    let firstNew: UInt64?
    /// The first media sequence number that is fetched.
    let firstFetched: UInt64?

    init(_ effects: [SegmentCursor.Effect]) {
        self.effects = effects
        firstNew = effects.lazy.compactMap(\.firstNew).first
        firstFetched = effects.lazy.compactMap(\.firstFetched).first
    }

    /// Whether the playlist uses the same numbers and URLs for the same segments as the playlists before.
    var isContinuation: Bool {
        !effects.contains {
            switch $0 {
            case .stale, .reset: true
            case .fetch, .gap, .slidOut, .ended: false
            }
        }
    }

    /// Whether media before the new segments is missing or unknown.
    var isDisconnected: Bool {
        effects.contains {
            switch $0 {
            case .slidOut: true
            case .reset(let method): method != .url
            case .fetch, .gap, .stale, .ended: false
            }
        }
    }

    var isReset: Bool { effects.contains { if case .reset = $0 { true } else { false } } }
    var isEnd: Bool { effects.contains(.ended) }
}

extension SegmentCursor.Effect {
    fileprivate var firstFetched: UInt64? {
        if case .fetch(let numbers) = self { numbers.lowerBound } else { nil }
    }

    fileprivate var firstNew: UInt64? {
        switch self {
        case .fetch(let numbers), .gap(let numbers): numbers.lowerBound
        case .slidOut, .stale, .reset, .ended: nil
        }
    }
}
