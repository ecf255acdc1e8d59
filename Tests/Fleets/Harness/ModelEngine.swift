import Fleet

/// The records of an engine, as they are at a moment.
struct ModelEngine {
    private(set) var nodes: [String: NodeRecord] = [:]
    private(set) var owners: [String: [UInt64: OwnerRecord]] = [:]
    /// Records that were overwritten, for `PlantedFault.staleLists`.
    private var earlier: [String: NodeRecord] = [:]

    mutating func put(_ record: NodeRecord, overwritesNewer: Bool) {
        if !overwritesNewer, let known = nodes[record.node], known.counter >= record.counter { return }
        earlier[record.node] = nodes[record.node]
        nodes[record.node] = record
    }

    /// - Returns: whether the record of that epoch is this one.
    mutating func create(_ record: OwnerRecord, overwrites: Bool) -> Bool {
        if !overwrites, let known = owners[record.subject]?[record.epoch] { return known == record }
        owners[record.subject, default: [:]][record.epoch] = record
        // Owners remove the records of earlier epochs.
        owners[record.subject] = owners[record.subject]?.filter { $0.key + 4 > record.epoch }
        return true
    }

    func found(_ record: OwnerRecord) -> OwnerRecord? { owners[record.subject]?[record.epoch] }

    mutating func remove(_ names: [String]) { for name in names { nodes[name] = nil } }

    func view(counter: UInt64, sentAt: Duration, isStale: Bool) -> FleetView {
        FleetView(
            counter: counter, sentAt: sentAt,
            nodes: isStale ? nodes.merging(earlier) { $1 } : nodes,
            owners: owners.compactMapValues { epochs in
                epochs.max { $0.key < $1.key }.map { Ownership(epoch: $0.key, record: $0.value) }
            })
    }
}

/// A mistake that is planted between the decisions and the engine, and that the simulation has to find.
package enum PlantedFault: String, CaseIterable, Sendable {
    /// The engine answers a second creation of a key like the first.
    case createsTwice
    /// A late write replaces a newer one.
    case lateWrites
    /// Lists have records of before.
    case staleLists
    /// A segment is visible before it is recorded.
    case earlySegments
    /// A segment is visible once it is recorded, whoever owns the channel.
    case ignoredViews
    /// The time of a view is that of its answer.
    case lateTimes
    /// The clock does not count sleep, and the run of a channel goes on although its node lost the lease.
    case sleepingClock
    /// The other nodes wait for less than a lease.
    case shortWait
    /// The number that the decisions give is not used.
    case ownNumbers
    /// The channel continues where the upstream is, not after what was published.
    case ownTimeline
    /// Channels are never taken from silent nodes.
    case noTakeover
    /// No node asks an upstream that does not answer the owner.
    case noProbes
    /// A run ignores that it has to stop.
    case ignoredStops
}
