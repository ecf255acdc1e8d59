// Which channels a node takes, and which it hands to nodes with more room.

extension FleetNode {
    /// The counter of a node that has seen the others for a lease.
    private static let settledCounter: UInt64 = 2
    /// The most subjects that are taken in one step.
    private static let takenAtOnce = 64

    mutating func decide(at now: Duration, _ actions: inout [Action]) {
        guard let view, let firstView, !isLeaving, holdsLease(at: now) else { return }
        let free = demands.keys.sorted().filter { isFree($0, view) }
        freeSince = Dictionary(free.map { ($0, freeSince[$0] ?? now) }) { first, _ in first }
        // Nodes that start together see each other first.
        let settled = firstView + timing.lease
        let order = now >= settled ? ranking(of: free.filter { demands[$0]?.isAlways == true }, view) : [:]
        var count = 0
        for name in free where count < Self.takenAtOnce {
            guard let demand = demands[name], let since = freeSince[name] else { continue }
            if !requested.contains(name) {
                guard let rank = order[name]?.firstIndex(of: record.node) else { continue }
                // Nodes before this one may have no answer of the upstream either.
                let turns = isAnsweredHere(name, view) ? min(rank, 1) : rank
                guard now - max(since, settled) >= timing.spread * turns else { continue }
            }
            count += 1
            if let account = demand.account {
                guard let own = connections.first(where: { $0.value == name })?.key else {
                    takeConnection(of: account, demand.connections, for: name, view, &actions)
                    continue
                }
                guard isHeld(own) else { continue }
            }
            create(name, view, &actions)
        }
        releaseUnused(free, at: now)
    }

    /// Whether a subject has no owner that could publish.
    private func isFree(_ name: String, _ view: FleetView) -> Bool {
        switch tenures[name] {
        case .released(let own, let time)?:
            // Other nodes come first if the channel was handed over. The own epoch is the highest one until then.
            guard view.owners[name]?.record == own, demands[name]?.isAlways == true else { break }
            return view.sentAt - time > timing.othersLease
        case nil: break
        default: return false
        }
        guard let owner = view.owners[name] else { return true }
        guard let found: OwnerRecord = owner.record else { return false }
        if found.node == record.node { return true }
        if case .some(.none) = view.nodes[found.node] { return false }
        if let mark = node(found.node)?.channels[name], mark.epoch == found.epoch, mark.isReleased { return true }
        return isSilent(found.node) || isAnsweredHere(name, view)
    }

    /// The other nodes that may take channels: those that have the same list.
    private func candidates(_ view: FleetView) -> [NodeRecord] {
        let nodes: [NodeRecord] = view.nodes.values.compactMap { $0 }
        return nodes.filter {
            $0.node != record.node && $0.list == record.list && !$0.isLeaving && !isSilent($0.node)
        }
    }

    private func ranking(of channels: [String], _ view: FleetView) -> [String: [String]] {
        guard !channels.isEmpty else { return [:] }
        // A node that has just begun, or that missed two renewals, would not take them soon.
        let able = candidates(view).filter {
            $0.counter > Self.settledCounter && !watch.isSilent($0.node, for: timing.beat * 2)
        }
        let nodes = (able + [record]).map { Placement.Candidate(node: $0.node, room: $0.capacity - $0.load) }
        return Placement.ranking(
            of: channels.map { (slug: $0, rate: newestMark(of: $0)?.rate ?? Self.assumedRate) }, on: nodes)
    }

    private mutating func create(_ name: String, _ view: FleetView, _ actions: inout [Action]) {
        let owner = view.owners[name]?.record
        let holder = owner.flatMap { node($0.node) }
        // An entry is recorded before anybody sees it.
        let next = newestMark(of: name)?.published.map { $0.number + 1 }
        attempts += 1
        let new = OwnerRecord(
            subject: name, epoch: (view.owners[name]?.epoch ?? 0) + 1, node: record.node, attempt: attempts,
            base: max(next ?? 0, owner?.base ?? 0))
        let previous = owner.map { owner in
            Tenure.Previous(
                node: owner.node, epoch: owner.epoch, counter: isSilent(owner.node) ? holder?.counter : nil)
        }
        tenures[name] = .creating(new, previous: previous?.node == record.node ? nil : previous)
        actions.append(.create(new))
    }

    // MARK: - Connections of accounts

    /// Whether a subject is a connection of an account. No slug begins with that character.
    func isConnection(_ name: String) -> Bool { name.first == "@" }

    /// Takes one of the connections of an account that nobody has.
    private mutating func takeConnection(
        of account: String, _ count: Int, for channel: String, _ view: FleetView, _ actions: inout [Action]
    ) {
        let names = (0..<max(0, count)).map { "@\(account).\($0)" }
        guard let name = names.first(where: { connections[$0] == nil && isFree($0, view) }) else { return }
        connections[name] = channel
        create(name, view, &actions)
    }

    /// Releases connections that were taken for channels that another node has taken.
    private mutating func releaseUnused(_ free: [String], at now: Duration) {
        for (name, channel) in connections where tenures[channel] == nil && isHeld(name) && !free.contains(channel) {
            connections[name] = nil
            release(name, at: now)
        }
    }

    // MARK: - Moving

    /// Hands a channel to a node with more room, at most one in a while.
    mutating func move(_ view: FleetView, at now: Duration, _ actions: inout [Action]) {
        let rooms = candidates(view).map { $0.capacity - $0.load }
        let room = record.capacity - record.load
        // One move in the fleet at a time: a release of another node counts too.
        let released = Set(
            view.nodes.values.flatMap { node in
                (node?.channels ?? [:]).filter { $0.value.isReleased && !isConnection($0.key) }
                    .map { "\($0.key) \($0.value.epoch)" }
            })
        if !released.isSubset(of: knownReleases) { lastMove = now }
        knownReleases = released
        // The node with the least room moves one.
        guard let most = rooms.max(), let least = rooms.min(), room <= least, let firstView,
            now - (lastMove ?? firstView) >= timing.moveInterval, !tenures.values.contains(where: \.isOpen)
        else { return }
        let movable = held.filter { isMovable($0) }
        let rates = movable.map { (name: $0, rate: record.channels[$0]?.rate ?? Self.assumedRate) }
        guard let least = rates.min(by: { ($0.rate, $0.name) < ($1.rate, $1.name) }), most - room > 3 * least.rate
        else { return }
        lastMove = now
        stop(least.name, &actions)
    }

    /// A channel with a connection stays: another channel might take the connection meanwhile.
    private func isMovable(_ name: String) -> Bool {
        demands[name]?.isAlways == true && demands[name]?.account == nil && !breaks.contains(name)
    }
}
