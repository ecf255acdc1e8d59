/// Decides which channels one run of a node owns, from the records of an engine and from time.
///
/// An owner is the node of the record with the highest epoch. Its lease is renewed by each view of the records that was
/// read after its own record was written. A segment becomes visible only after such a view, and after the owner's record
/// contains the segment. A node that takes the channel over therefore continues after everything that any viewer saw.
///
/// Time is that of a clock that counts sleep. No decision depends on the date of another machine.
package struct FleetNode: Sendable {
    /// When a channel runs, as the list of this node states.
    package struct Demand: Equatable, Sendable {
        /// Whether the channel runs without viewers.
        package var isAlways: Bool
        /// The account whose connections the channel needs, and their number.
        package var account: String?
        package var connections: Int

        package init(isAlways: Bool, account: String? = nil, connections: Int = 0) {
            (self.isAlways, self.account, self.connections) = (isAlways, account, connections)
        }
    }

    package enum Input: Equatable, Sendable {
        /// The channels of this node's list.
        case listed([String: Demand], hash: String)
        /// A viewer of this node waits for the channel.
        case requested(String)
        /// No viewer of this node waits for the channel any more.
        case abandoned(String)
        /// An entry is ready. `.admit` says that it may become visible.
        case prepared(String, PublishedMark, rate: Int)
        /// Nothing is published in the channel any more, because `.stop` said so or because the run ended.
        case stopped(String)
        /// Whether the channel is in an ad break, in which it is not moved.
        case inBreak(String, Bool)
        /// Whether the upstream of a channel answers this node: what its run says, or the answer to `.probe`.
        case upstream(String, isAnswering: Bool)
        case viewed(FleetView)
        /// The own record could not be written, or the records could not be read.
        case missed
        /// The answer to `.create`, read back if necessary; nil: unknown.
        case created(OwnerRecord, isOwn: Bool?)
        /// The process ends. Its channels are handed over one by one.
        case leaving
        case wake
    }

    package enum Action: Equatable, Sendable {
        /// Write the own record, then read all records.
        case beat(NodeRecord)
        /// Create the record if its key is absent.
        case create(OwnerRecord)
        /// Run the channel from the number `base` on, after what `after` says.
        case start(String, epoch: UInt64, base: UInt64, after: PublishedMark?)
        /// End the run of the channel. `.stopped` follows.
        case stop(String)
        /// Ask the upstream of the channel, which does not answer its owner. `.upstream` follows.
        case probe(String)
        /// The entry of that number may become visible.
        case admit(String, number: UInt64)
        /// The records of these nodes are no longer needed.
        case forget([String])
        /// All channels are handed over.
        case left
    }

    /// Where a channel is served.
    package enum Place: Equatable, Sendable {
        case here
        /// Another node owns the channel.
        case at(FleetPeer)
        /// No node owns the channel, or its owner is silent.
        case nowhere
    }

    /// The bit rate of a channel that was never measured, in kbit/s.
    static let assumedRate = 5_000
    /// How long the record of a node that owns nothing stays after its last change.
    static let recordLife = Duration.seconds(600)

    let timing: FleetTiming
    var record: NodeRecord
    private(set) var view: FleetView?
    private(set) var watch = PeerWatch()
    private(set) var demands: [String: Demand] = [:]
    private(set) var requested: Set<String> = []
    var tenures: [String: Tenure] = [:]
    /// The channel that uses each connection of this node.
    var connections: [String: String] = [:]
    /// When each subject without an owner that could publish was first seen so.
    var freeSince: [String: Duration] = [:]
    var attempts: UInt64 = 0
    /// When a channel was last handed over, by this node or another one, or taken by this one.
    var lastMove: Duration?
    var knownReleases: Set<String> = []
    var probes = UpstreamProbes()
    private var admission = EntryAdmission()
    private(set) var breaks: Set<String> = []
    /// When the records were first read.
    private(set) var firstView: Duration?
    /// When the lease ends, as far as the node knows.
    private(set) var leaseEnd = Duration.zero
    var renewal: RenewalSchedule
    /// When the last input was handled.
    private var lastInput = Duration.zero
    /// Whether the process was stopped for longer than a lease, and has not read the records since.
    private var isAsleep = false
    private(set) var isLeaving = false
    /// Whether `.left` was sent.
    var hasLeft = false

    /// - Parameter record: the node's own record, without channels.
    package init(_ record: NodeRecord, timing: FleetTiming = FleetTiming()) {
        (self.record, self.timing, renewal) = (record, timing, RenewalSchedule(timing))
    }

    /// When `.wake` is due; nil: not before another input.
    package var nextWake: Duration? {
        // Connections are given up when the lease ends.
        let end = connections.isEmpty || leaseEnd <= lastInput ? nil : leaseEnd
        return [renewal.next, end].compactMap { $0 }.min()
    }

    /// Whether the node may publish at that time.
    package func holdsLease(at now: Duration) -> Bool { now < leaseEnd }

    /// The channels that the node owns, in order.
    package var held: [String] { tenures.keys.filter { isHeld($0) && !isConnection($0) }.sorted() }

    func isHeld(_ name: String) -> Bool { if case .held = tenures[name] { true } else { false } }

    /// A node that slept may have lost its channels, which only the next view says.
    package func place(of channel: String, at now: Duration) -> Place {
        if isHeld(channel) { return isAsleep || now - lastInput > timing.lease ? .nowhere : .here }
        guard let owner = view?.owners[channel]?.record, owner.node != record.node, !isSilent(owner.node),
            let node = node(owner.node), let mark = node.channels[channel], mark.epoch == owner.epoch,
            !mark.isReleased
        else { return .nowhere }
        return .at(FleetPeer(node: node.node, address: node.address, counter: node.counter))
    }

    /// The nodes beside this one whose records change, in order.
    package var peers: [FleetPeer] {
        (view?.nodes.values.compactMap { $0 } ?? []).filter { $0.node != record.node && !isSilent($0.node) }
            .sorted { $0.node < $1.node }
            .map { FleetPeer(node: $0.node, address: $0.address, counter: $0.counter) }
    }

    /// The counters of own records that another node may have read a short while ago.
    var provableCounters: ClosedRange<UInt64> {
        let read = view?.counter ?? record.counter
        return read - min(read, FleetKey.renewals)...max(read, record.counter)
    }

    /// The entry of a channel in the record of this node; nil if there is none.
    package func mark(of channel: String) -> ChannelMark? { record.channels[channel] }

    /// The record of a node in the newest view; nil if it is absent or cannot be read.
    func node(_ name: String) -> NodeRecord? { view?.nodes[name] ?? nil }

    func isSilent(_ node: String) -> Bool { watch.isSilent(node, for: timing.othersLease) }

    package mutating func handle(_ input: Input, at now: Duration) -> [Action] {
        var actions: [Action] = []
        if now - lastInput > timing.lease { isAsleep = true }
        lastInput = now
        if !holdsLease(at: now) { stopUsingConnections(&actions) }
        switch input {
        case .listed(let demands, let hash):
            (self.demands, record.list) = (demands, hash)
            requested.formIntersection(demands.keys)
            for name in held where demands[name] == nil { stop(name, &actions) }
        case .requested(let name):
            guard demands[name] != nil else { break }
            requested.insert(name)
            decide(at: now, &actions)
        case .abandoned(let name): requested.remove(name)
        case .prepared(let name, let mark, let rate): prepare(name, mark, rate)
        case .stopped(let name):
            release(name, at: now)
            if isLeaving { leave(at: now, &actions) }
        case .inBreak(let name, let isInside):
            if isInside { breaks.insert(name) } else { breaks.remove(name) }
        case .upstream(let name, let isAnswering):
            recordUpstream(of: name, isAnswering: isAnswering, at: now, &actions)
        case .viewed(let view):
            renewal.finish()
            isAsleep = false
            update(view, at: now, &actions)
        case .missed: renewal.finish()
        case .created(let owner, let isOwn): recordCreation(of: owner, isOwn, at: now)
        case .leaving:
            (isLeaving, record.isLeaving, renewal.isUrgent) = (true, true, true)
            leave(at: now, &actions)
        case .wake: break
        }
        beatIfDue(at: now, &actions)
        return actions
    }
}

// MARK: - The own record

extension FleetNode {
    private mutating func beatIfDue(at now: Duration, _ actions: inout [Action]) {
        guard renewal.begin(at: now) else { return }
        record.counter += 1
        record.load = record.channels.values.reduce(0) { $0 + ($1.isReleased ? 0 : $1.rate) }
        admission.write(record.counter)
        actions.append(.beat(record))
    }

    private mutating func prepare(_ name: String, _ mark: PublishedMark, _ rate: Int) {
        guard isHeld(name) else { return }
        record.channels[name]?.published = mark
        if rate > 0 { record.channels[name]?.rate = rate }
        admission.prepare(name, mark.number)
        renewal.isUrgent = true
    }

    private mutating func admit(_ view: FleetView, at now: Duration, _ actions: inout [Action]) {
        guard holdsLease(at: now) else { return }
        for name in admission.channels where isHeld(name) {
            let mark = record.channels[name]?.published
            guard let number = admission.admit(name, readAt: view.counter, newest: mark) else { continue }
            actions.append(.admit(name, number: number))
        }
    }

    /// Removes marks after which another node has continued.
    private mutating func removeMarks(_ view: FleetView) {
        for (name, mark) in record.channels where tenures[name] == nil {
            let isPassed =
                isConnection(name)
                ? (view.owners[name]?.epoch ?? 0) > mark.epoch
                : view.nodes.values.contains { isContinued(mark, by: $0?.channels[name]) }
            if isPassed { record.channels[name] = nil }
        }
    }

    private func isContinued(_ mark: ChannelMark, by other: ChannelMark?) -> Bool {
        guard let other, other.epoch > mark.epoch else { return false }
        return mark.published == nil || other.published.map { $0.number >= mark.published?.number ?? 0 } ?? false
    }

    /// The newest mark of a channel in all records.
    func newestMark(of name: String) -> ChannelMark? {
        let marks =
            (view?.nodes.values.compactMap { $0?.channels[name] } ?? []) + [record.channels[name]].compactMap { $0 }
        return marks.max {
            ($0.published?.number ?? 0, $0.epoch) < ($1.published?.number ?? 0, $1.epoch)
        }
    }

    /// Removes the records of nodes that are silent for long, if other records have all that they say.
    private func forget(_ view: FleetView, _ actions: inout [Action]) {
        let owners = Set(view.owners.values.compactMap { $0.record?.node })
        let gone = view.nodes.filter { name, node in
            guard name != record.node, !owners.contains(name), watch.isSilent(name, for: Self.recordLife), let node
            else { return false }
            return node.channels.allSatisfy { channel, mark in
                isConnection(channel) || isContinued(mark, by: record.channels[channel])
                    || view.nodes.contains { $0.key != name && isContinued(mark, by: $0.value?.channels[channel]) }
            }
        }
        if !gone.isEmpty { actions.append(.forget(gone.keys.sorted())) }
    }
}

// MARK: - Views

extension FleetNode {
    private mutating func update(_ view: FleetView, at now: Duration, _ actions: inout [Action]) {
        self.view = view
        firstView = firstView ?? now
        watch.record(view, at: now, after: timing.othersLease)
        for name in tenures.keys.sorted() { review(name, view, at: now, &actions) }
        leaseEnd = max(leaseEnd, view.sentAt + timing.ownLease)
        admit(view, at: now, &actions)
        removeMarks(view)
        decide(at: now, &actions)
        probeUpstreams(at: now, &actions)
        if isLeaving { leave(at: now, &actions) } else { move(view, at: now, &actions) }
        forget(view, &actions)
    }

    /// Compares a tenure with the newest records.
    private mutating func review(_ name: String, _ view: FleetView, at now: Duration, _ actions: inout [Action]) {
        guard let tenure = tenures[name] else { return }
        let own = tenure.record
        let found = view.owners[name]
        let isOwn = found?.record == own
        let isPassed = found.map { $0.epoch > own.epoch || $0.epoch == own.epoch && !isOwn } ?? false
        switch tenure {
        case .creating(_, let previous):
            if isOwn {
                tenures[name] = .created(own, previous: previous, at: now)
            } else if isPassed {
                forgetTenure(of: name)
            } else {
                // The first attempt may still arrive: the same record is created again.
                actions.append(.create(own))
            }
        case .created(_, let previous, let time):
            if isPassed {
                forgetTenure(of: name)
            } else if isOwn, view.sentAt >= time, now < view.sentAt + timing.ownLease {
                confirm(name, own, previous, since: time, view, at: now, &actions)
            }
        case .held:
            if isPassed {
                stop(name, &actions)
            } else if !isOwn {
                actions.append(.create(own))  // The engine has lost the record.
            }
        case .stopping: break
        case .released: if isPassed, !isLeaving { tenures[name] = nil }
        }
    }

    /// Starts a channel once its previous owner can publish nothing more.
    private mutating func confirm(
        _ name: String, _ own: OwnerRecord, _ previous: Tenure.Previous?, since time: Duration, _ view: FleetView,
        at now: Duration, _ actions: inout [Action]
    ) {
        let before = previous.flatMap { node($0.node) }
        let last = before?.channels[name]
        let isOver =
            before == nil || before?.counter == previous?.counter || last?.isReleased == true
            || last == nil || last?.epoch != previous?.epoch
        guard isOver || view.sentAt - time >= timing.othersLease else { return }
        if demands[name]?.account != nil, !connections.contains(where: { $0.value == name && isHeld($0.key) }) {
            return release(name, at: now)  // Another node has the connection since.
        }
        let mark = newestMark(of: name)
        tenures[name] = .held(own)
        record.channels[name] = ChannelMark(
            epoch: own.epoch, rate: mark?.rate ?? (isConnection(name) ? 0 : Self.assumedRate),
            published: mark?.published)
        admission.begin(name, after: mark?.published)
        renewal.isUrgent = true
        guard !isConnection(name) else { return }
        lastMove = now  // Rates and room are known when it has run for a while.
        let base = max(own.base, mark?.published.map { $0.number + 1 } ?? 0)
        actions.append(.start(name, epoch: own.epoch, base: base, after: mark?.published))
    }

    private mutating func recordCreation(of owner: OwnerRecord, _ isOwn: Bool?, at now: Duration) {
        guard case .creating(owner, let previous) = tenures[owner.subject], let isOwn else { return }
        if isOwn {
            tenures[owner.subject] = .created(owner, previous: previous, at: now)
            renewal.isUrgent = true
        } else {
            forgetTenure(of: owner.subject)
        }
    }

    private mutating func forgetTenure(of name: String) {
        tenures[name] = nil
        connections[name] = nil
    }
}

// MARK: - Ending

extension FleetNode {
    mutating func stop(_ name: String, _ actions: inout [Action]) {
        guard let tenure = tenures[name], case .held(let own) = tenure else { return }
        withdrawEntry(of: name)
        guard isConnection(name) else {
            tenures[name] = .stopping(own)
            return actions.append(.stop(name))
        }
        // Another node has the connection: the channel that uses it ends.
        let channel = connections[name]
        forgetTenure(of: name)
        if let channel { stop(channel, &actions) }
    }

    private mutating func withdrawEntry(of name: String) {
        if var mark = record.channels[name] {
            admission.withdraw(name, from: &mark.published)
            record.channels[name] = mark
        }
    }

    /// Ends channels whose connection may belong to another node.
    private mutating func stopUsingConnections(_ actions: inout [Action]) {
        for channel in connections.values.sorted() where !isConnection(channel) { stop(channel, &actions) }
    }

    /// Records that this node publishes nothing more in its epoch.
    mutating func release(_ name: String, at now: Duration) {
        requested.remove(name)
        switch tenures[name] {
        case .held(let own), .stopping(let own), .created(let own, _, _):
            withdrawEntry(of: name)
            tenures[name] = .released(own, at: now)
            let mark = newestMark(of: name)
            record.channels[name] = ChannelMark(
                epoch: own.epoch, isReleased: true, rate: mark?.rate ?? Self.assumedRate, published: mark?.published)
            renewal.isUrgent = true
        case .creating, .released, nil: break
        }
        for (connection, user) in connections where user == name {
            connections[connection] = nil
            release(connection, at: now)
        }
    }
}
