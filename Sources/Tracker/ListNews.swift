/// What a list has that is new, as the cursor says.
struct ListNews: Equatable, Sendable {
    let effects: [SegmentCursor.Effect]
    /// The first media sequence number of what was not listed before, gaps included.
    let firstNew: UInt64?
    /// The first media sequence number of what is fetched.
    let firstTaken: UInt64?

    init(_ effects: [SegmentCursor.Effect]) {
        self.effects = effects
        firstNew = effects.lazy.compactMap(\.firstNew).first
        firstTaken = effects.lazy.compactMap(\.firstTaken).first
    }

    /// It goes on from the lists before it: its numbers and addresses are those of the same segments.
    var isSequel: Bool {
        !effects.contains {
            switch $0 {
            case .stale, .reset: true
            case .take, .gap, .slid, .ended: false
            }
        }
    }

    var isReset: Bool { effects.contains { if case .reset = $0 { true } else { false } } }
    var isEnd: Bool { effects.contains(.ended) }
}

extension SegmentCursor.Effect {
    fileprivate var firstTaken: UInt64? {
        if case .take(let numbers) = self { numbers.lowerBound } else { nil }
    }

    fileprivate var firstNew: UInt64? {
        switch self {
        case .take(let numbers), .gap(let numbers): numbers.lowerBound
        case .slid, .stale, .reset, .ended: nil
        }
    }
}
