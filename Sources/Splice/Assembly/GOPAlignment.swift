import Media

/// Learns whether an upstream's segments end at GOP boundaries.
///
/// Published segments cannot be recalled, so while the alignment is unknown a segment is held until the next one
/// begins. At a join that costs nothing, because several segments come at once. Each time the upstream breaks its
/// alignment it has to show twice as many aligned boundaries, up to a bound: one late frame does not delay for ever.
struct GOPAlignment: Equatable, Sendable {
    static let maxBoundariesNeeded = 32
    /// Number of consecutive false alarms after which an open tail is ignored: the upstream counts time that way.
    private static let maxFalseAlarms = 3

    enum State: Equatable, Sendable {
        case unknown
        /// Segments end at GOP boundaries. `needed`: aligned boundaries that it took to trust the upstream.
        case aligned(needed: Int)
        /// A segment ended in the middle of a GOP, and `seen` aligned boundaries followed of those `needed`.
        case midGOP(needed: Int, seen: Int)
    }

    enum Holdback: Equatable, Sendable {
        case nothing
        /// Hold the segment until it is known how the next one begins.
        case segment
        /// Segments end in the middle of a GOP: frames from the last sync sample on belong to the next segment.
        case lastGOP
    }

    private(set) var state = State.unknown
    private var falseAlarms = 0
    private var hasOpenTail = false

    var holdback: Holdback {
        switch state {
        case .unknown: .segment
        case .aligned: hasOpenTail ? .segment : .nothing
        case .midGOP: .lastGOP
        }
    }

    /// Records how a following segment of the same period begins.
    mutating func recordSegmentStart(isSync: Bool) {
        if hasOpenTail { falseAlarms = isSync ? falseAlarms + 1 : 0 }
        state = Self.next(state, isSync: isSync)
    }

    private static func next(_ state: State, isSync: Bool) -> State {
        switch state {
        case .unknown: isSync ? .aligned(needed: 1) : .midGOP(needed: 1, seen: 0)
        case .aligned(let needed):
            isSync ? state : .midGOP(needed: min(needed * 2, maxBoundariesNeeded), seen: 0)
        case .midGOP(let needed, _) where !isSync: .midGOP(needed: needed, seen: 0)
        case .midGOP(let needed, let seen):
            seen + 1 >= needed ? .aligned(needed: needed) : .midGOP(needed: needed, seen: seen + 1)
        }
    }

    /// - Parameter isClosed: whether all frames presented before the last decoded one were received.
    mutating func recordTail(isClosed: Bool) { hasOpenTail = !isClosed && falseAlarms < Self.maxFalseAlarms }
}
