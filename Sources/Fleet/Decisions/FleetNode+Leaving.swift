// How a node whose process ends hands its channels over.

extension FleetNode {
    /// The parts in which a node that leaves hands its channels over, and the least number of channels in one.
    private static let (parts, leastAtOnce) = (8, 4)

    /// Whether a channel that this node hands over does not run on another node yet. Requests for it are held until then.
    private func isBeingHandedOver(_ name: String, at now: Duration) -> Bool {
        switch tenures[name] {
        case .stopping: return true
        case .released(_, let time) where demands[name]?.isAlways == true:
            if case .at = place(of: name, at: now) { return false }
            return now - time < timing.handover
        default: return false
        }
    }

    mutating func leave(at now: Duration, _ actions: inout [Action]) {
        let names = tenures.keys.filter { !isConnection($0) }.sorted()
        for name in names { if case .created = tenures[name] { release(name, at: now) } }
        // A part at a time: the next channel follows when one is taken.
        let open = names.count { isBeingHandedOver($0, at: now) }
        if open > 0 { renewal.isUrgent = true }
        let next = names.filter { isHeld($0) }.prefix(max(0, max(Self.leastAtOnce, names.count / Self.parts) - open))
        for name in next { stop(name, &actions) }
        guard open == 0, next.isEmpty else { return }
        for name in tenures.keys.filter({ isConnection($0) }) { release(name, at: now) }
        guard !hasLeft, renewal.isIdle, record.channels.values.allSatisfy(\.isReleased) else { return }
        hasLeft = true
        actions.append(.left)
    }
}
