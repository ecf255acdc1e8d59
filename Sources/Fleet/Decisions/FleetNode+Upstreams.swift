// How a channel leaves an owner that its upstream does not answer, if it answers another node.

extension FleetNode {
    /// Records whether the upstream of a channel answers this node: its run, or its probe.
    mutating func recordUpstream(of name: String, isAnswering: Bool, at now: Duration, _ actions: inout [Action]) {
        guard isHeld(name) else {
            probes.record(name, isAnswered: isAnswering)
            // The next view decides: the owner may have an answer by then.
            if isAnswering { renewal.isUrgent = true }
            return probeUpstreams(at: now, &actions)
        }
        if !isAnswering { probes.recordSilence(of: name, at: now) }
        guard record.channels[name]?.isUnanswered == isAnswering else { return }
        record.channels[name]?.isUnanswered = !isAnswering
        renewal.isUrgent = true
    }

    mutating func probeUpstreams(at now: Duration, _ actions: inout [Action]) {
        guard let view, !isLeaving, holdsLease(at: now) else { return }
        // A channel with a connection stays: a probe might need another one. A channel on demand ends without media.
        let unanswered = demands.compactMap { name, demand in
            demand.isAlways && demand.account == nil
                ? unansweredEpoch(of: name, view).map { (name, $0) } : nil
        }
        for name in probes.begin(Dictionary(unanswered) { $1 }, at: now) { actions.append(.probe(name)) }
    }

    /// Whether the upstream of a channel answers this node, but not the channel's owner.
    func isAnsweredHere(_ name: String, _ view: FleetView) -> Bool {
        unansweredEpoch(of: name, view).map { probes.isAnswered(name, notIn: $0) } ?? false
    }

    /// The epoch of another node that the upstream of a channel does not answer; nil: there is no such owner.
    private func unansweredEpoch(of name: String, _ view: FleetView) -> UInt64? {
        guard let owner = view.owners[name]?.record, owner.node != record.node,
            let mark = node(owner.node)?.channels[name], mark.epoch == owner.epoch, mark.isUnanswered,
            !mark.isReleased
        else { return nil }
        return owner.epoch
    }
}
