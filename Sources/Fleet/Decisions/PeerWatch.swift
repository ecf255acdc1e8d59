/// Judges other nodes by the changes of their records that this node has seen, by its own clock.
struct PeerWatch: Sendable {
    private struct Sight {
        /// nil: the record was absent, or cannot be read.
        var counter: UInt64?
        /// When the answer came that first had this counter.
        var since: Duration
        /// When the request for the newest answer that had this counter was sent.
        var until: Duration
    }

    private var sights: [String: Sight] = [:]
    /// When the request for the newest view was sent.
    private var newest: Duration?

    /// Records the nodes of a view, and the owners without a record.
    /// - Parameter pause: the time between two views after which nothing is known of the other nodes: no record could
    ///   change while the engine was away.
    mutating func record(_ view: FleetView, at now: Duration, after pause: Duration) {
        if let newest, view.sentAt - newest > pause { sights = [:] }
        newest = view.sentAt
        let owners = view.owners.values.compactMap { $0.record?.node }
        let names = Set(view.nodes.keys).union(owners)
        sights = sights.filter { names.contains($0.key) }
        for name in names {
            let counter = view.nodes[name].flatMap { $0?.counter }
            if var sight = sights[name], sight.counter == counter {
                sight.until = max(view.sentAt, sight.until)
                sights[name] = sight
            } else {
                sights[name] = Sight(counter: counter, since: now, until: now)
            }
        }
    }

    /// Whether the record of a node stayed the same for a time.
    func isSilent(_ node: String, for time: Duration) -> Bool {
        sights[node].map { $0.until - $0.since >= time } ?? false
    }

    /// When the present counter was first seen.
    func firstSight(of node: String) -> Duration? { sights[node]?.since }
}
