/// What a list has that is new, as the cursor says.
struct PlaylistUpdate: Equatable, Sendable {
    let effects: [SegmentCursor.Effect]
    /// The first media sequence number of what was not listed before, gaps included.
    let firstNew: UInt64?
    /// The first media sequence number of what is fetched.
    let firstFetched: UInt64?

    init(_ effects: [SegmentCursor.Effect]) {
        self.effects = effects
        firstNew = effects.lazy.compactMap(\.firstNew).first
        firstFetched = effects.lazy.compactMap(\.firstTaken).first
    }

    /// It goes on from the lists before it: its numbers and addresses are those of the same segments.
    var isContinuation: Bool {
        !effects.contains {
            switch $0 {
            case .stale, .reset: true
            case .fetch, .gap, .slidOut, .ended: false
            }
        }
    }

    var isReset: Bool { effects.contains { if case .reset = $0 { true } else { false } } }
    var isEnd: Bool { effects.contains(.ended) }
}

extension SegmentCursor.Effect {
    fileprivate var firstTaken: UInt64? {
        if case .fetch(let numbers) = self { numbers.lowerBound } else { nil }
    }

    fileprivate var firstNew: UInt64? {
        switch self {
        case .fetch(let numbers), .gap(let numbers): numbers.lowerBound
        case .slidOut, .stale, .reset, .ended: nil
        }
    }
}
