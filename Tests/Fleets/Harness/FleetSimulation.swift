import Fleet
import PlaylistRules

/// A fleet of nodes that share a model of an engine, with faults that a seed decides.
///
/// Real time is simulated. Each node has a clock of its own, which drifts. A node is stopped, killed, started again and cut
/// off from the engine; the engine delays, loses and repeats requests, answers late and restarts. Everything is calm at
/// the end, so that what is left can be judged.
package struct FleetSimulation {
    package struct Outcome: Sendable {
        package internal(set) var findings: [String] = []
        package internal(set) var epochs = 0
        package internal(set) var segments = 0
        package internal(set) var requests = 0
        /// The longest time without a new segment of a channel although a node could have run it.
        package internal(set) var longestSilence = Duration.zero
        package internal(set) var lostSegments = 0
    }

    typealias Time = Duration

    /// One run of a node.
    struct Node {
        var decisions: FleetNode
        let name: String
        let rate: Double
        let offset: Time
        var isAlive = true
        var stoppedUntil: Time?
        var cutUntil: Time = .zero
        /// Until when the upstream does not answer.
        var upstreamAwayUntil: Time = .zero
        /// Events that wait for a stopped node.
        var held: [Event] = []
        var runs: [String: Run] = [:]
        var slept = Time.zero
        var wakeAt: Time?
        var isHealthySince: Time
    }

    /// A channel that a node runs.
    struct Run {
        let epoch: UInt64
        var number: UInt64
        var discontinuity: UInt64
        /// The next segment of the upstream.
        var next: Int
        var waiting: Segment?
        var newest: Segment?
        /// The last time at which the upstream answered.
        var answeredAt: Time
        var isUnanswered = false
        var isStopping = false
    }

    struct Segment: Equatable {
        let number: UInt64
        let discontinuity: UInt64
        let index: Int
        let epoch: UInt64
    }

    enum Event {
        case wake(Int)
        case request(Int, EngineRequest, id: Int)
        case answer(Int, EngineAnswer, id: Int)
        case timeout(Int, id: Int, EngineRequest)
        case upstream(Int)
        case stopped(Int, String)
        case probe(Int, String)
        case read(Int)
        case fault
        case restart(String)
        case resume(Int)
        case demand
    }

    enum EngineRequest {
        case beat(NodeRecord, sentAt: Time)
        case create(OwnerRecord)
        case check(OwnerRecord)
    }

    enum EngineAnswer {
        case view(FleetView)
        case created(OwnerRecord, Bool?)
    }

    struct Reader {
        let channel: Int
        var node: Int?
        var last: Segment?
    }

    static let segmentTime = Time.seconds(2)
    /// Segments that the upstream lists.
    private static let calmTime = Time.seconds(150)

    var random: SeededGenerator
    let fault: PlantedFault?
    var outcome = Outcome()
    var now = Time.zero
    var queue = EventQueue()
    var engine = ModelEngine()
    var nodes: [Node] = []
    let names: [String]
    let channels: [String]
    let connectionCount = 2
    let demands: [String: FleetNode.Demand]
    let end: Time
    var engineDownUntil = Time.zero
    var engineHealthySince = Time.zero
    var lossPercent: Int
    var pendingRequests: Set<Int> = []
    var requestCount = 0
    var readers: [Reader] = []
    var published: [String: [UInt64: Segment]] = [:]
    var newestIndex: [String: (index: Int, at: Time)] = [:]
    var epochOwners: [String: String] = [:]
    /// When a fault last struck the node that ran a channel.
    var disturbed: [String: Time] = [:]
    /// The node that last tried to take a channel.
    var takers: [String: Int] = [:]
    var epochsAtCalm: [String: UInt64] = [:]

    /// - Parameter seconds: simulated time.
    package init(seed: UInt64, seconds: Int = 600, fault: PlantedFault? = nil) {
        random = SeededGenerator(seed: seed)
        self.fault = fault
        end = .seconds(seconds)
        let count = Int.random(in: 3...9, using: &random)
        names = (0..<count).map { "n\($0)" }
        channels = (0..<Int.random(in: 4...16, using: &random)).map { "c\($0)" }
        var demands: [String: FleetNode.Demand] = [:]
        for (index, channel) in channels.enumerated() {
            demands[channel] = .init(
                isAlways: index % 4 != 3, account: index % 4 == 1 ? "a" : nil, connections: connectionCount)
        }
        self.demands = demands
        lossPercent = Int.random(in: 0...3, using: &random)
    }

    /// Whether what happens is printed.
    package var isTraced = false

    func trace(_ text: @autoclosure () -> String) { if isTraced { print("\(now / .seconds(1)) \(text())") } }

    package mutating func run() -> Outcome {
        for name in names { start(name) }
        for channel in channels.indices {
            for _ in 0..<2 { readers.append(Reader(channel: channel)) }
        }
        for reader in readers.indices { schedule(.milliseconds(500 + reader * 37), .read(reader)) }
        schedule(.seconds(20), .fault)
        schedule(.seconds(3), .demand)
        schedule(Self.segmentTime, .upstream(1))
        while let (time, event) = queue.next(), time <= end, outcome.findings.isEmpty {
            now = time
            handle(event)
        }
        if outcome.findings.isEmpty { judgeEnd() }
        if isTraced {
            for node in nodes where node.isAlive { print(node.decisions) }
            print(engine.owners)
        }
        return outcome
    }

    var isCalm: Bool { now >= end - Self.calmTime }

    mutating func schedule(_ delay: Time, _ event: Event) { queue.add(now + max(.zero, delay), event) }

    mutating func find(_ text: String) { outcome.findings.append("\(now): \(text)") }

    // MARK: - Nodes

    mutating func start(_ name: String) {
        let index = nodes.count
        let record = NodeRecord(node: "\(name).\(index)", address: "\(index)", capacity: 100_000)
        var timing = FleetTiming()
        if fault == .shortWait { timing.lease = index % 2 == 0 ? .seconds(6) : .seconds(2) }
        if fault == .noTakeover { timing.lease = .seconds(10_000) }
        nodes.append(
            Node(
                decisions: FleetNode(record, timing: timing), name: name,
                rate: 1 + Double.random(in: -0.02...0.02, using: &random),
                offset: .milliseconds(Int.random(in: 0...1_000_000, using: &random)), isHealthySince: now))
        send(.listed(demands, hash: "h"), to: index)
    }

    /// The time of a node's clock, which counts sleep.
    func clock(_ index: Int) -> Time {
        let node = nodes[index]
        return node.offset + .nanoseconds(Int64(Double((now - node.slept) / .nanoseconds(1)) * node.rate))
    }

    mutating func send(_ input: FleetNode.Input, to index: Int) {
        guard nodes[index].isAlive else { return }
        let actions = nodes[index].decisions.handle(input, at: clock(index))
        for action in actions { perform(action, of: index) }
        scheduleWake(of: index)
    }

    private mutating func scheduleWake(of index: Int) {
        guard let wake = nodes[index].decisions.nextWake else { return }
        let delay = max(wake - clock(index), .milliseconds(1))
        let time = now + .nanoseconds(Int64(Double(delay / .nanoseconds(1)) / nodes[index].rate))
        if let known = nodes[index].wakeAt, known <= time, known > now { return }
        nodes[index].wakeAt = time
        queue.add(time, .wake(index))
    }

    private mutating func perform(_ action: FleetNode.Action, of index: Int) {
        switch action {
        case .beat(let record): request(.beat(record, sentAt: clock(index)), from: index)
        case .create(let record):
            trace("n\(index) creates \(record.subject) epoch=\(record.epoch)")
            takers[record.subject] = index
            request(.create(record), from: index)
        case .start(let channel, let epoch, let base, let after):
            trace(
                "\(nodes[index].decisions.held.count) n\(index) starts \(channel) epoch=\(epoch) base=\(base) after=\(after?.number ?? 0)"
            )
            begin(channel, epoch, base, after, on: index)
        case .stop(let channel):
            trace("n\(index) stops \(channel)")
            if fault == .ignoredStops { break }
            nodes[index].runs[channel]?.isStopping = true
            nodes[index].runs[channel]?.waiting = nil
            schedule(.milliseconds(Int.random(in: 1...1500, using: &random)), .stopped(index, channel))
        case .probe(let channel):
            if fault == .noProbes { break }
            schedule(.milliseconds(Int.random(in: 1...2000, using: &random)), .probe(index, channel))
        case .admit(let channel, let number): admit(channel, number, on: index)
        case .forget(let names): engine.remove(names)
        case .left: nodes[index].isAlive = false
        }
    }

    // MARK: - Requests

    private mutating func request(_ request: EngineRequest, from index: Int) {
        requestCount += 1
        outcome.requests += 1
        let id = requestCount
        pendingRequests.insert(id)
        schedule(.seconds(2), .timeout(index, id: id, request))
        let isLost = Int.random(in: 0..<100, using: &random) < lossPercent
        if isLost || nodes[index].cutUntil > now { return }
        schedule(networkDelay(), .request(index, request, id: id))
        // A repeated request, which may arrive much later.
        if Int.random(in: 0..<100, using: &random) < 2 {
            schedule(
                networkDelay() + .milliseconds(Int.random(in: 0...9000, using: &random)),
                .request(index, request, id: 0))
        }
    }

    private mutating func networkDelay() -> Time {
        switch Int.random(in: 0..<100, using: &random) {
        case 0 where !isCalm: .milliseconds(Int.random(in: 500...8000, using: &random))
        case 0...4: .milliseconds(Int.random(in: 50...1500, using: &random))
        default: .milliseconds(Int.random(in: 1...30, using: &random))
        }
    }

    private mutating func serve(_ request: EngineRequest, from index: Int, id: Int) {
        guard engineDownUntil <= now else { return }
        let answer: EngineAnswer
        switch request {
        case .beat(let record, let sentAt):
            engine.put(record, overwritesNewer: fault == .lateWrites)
            if fault == .ignoredViews {
                for (channel, mark) in record.channels.sorted(by: { $0.key < $1.key }) {
                    if let number = mark.published?.number { admit(channel, number, on: index) }
                }
            }
            answer = .view(
                engine.view(counter: record.counter, sentAt: sentAt, isStale: fault == .staleLists))
        case .create(let record):
            let isOwn = engine.create(record, overwrites: fault == .createsTwice)
            answer = .created(record, isOwn)
        case .check(let record): answer = .created(record, engine.found(record).map { $0 == record })
        }
        guard id > 0, Int.random(in: 0..<100, using: &random) >= lossPercent, nodes[index].cutUntil <= now else {
            return
        }
        schedule(networkDelay(), .answer(index, answer, id: id))
    }

    private mutating func receive(_ answer: EngineAnswer, at index: Int) {
        switch answer {
        case .view(var view):
            if fault == .lateTimes {
                view = FleetView(counter: view.counter, sentAt: clock(index), nodes: view.nodes, owners: view.owners)
            }
            send(.viewed(view), to: index)
        case .created(let record, let isOwn): send(.created(record, isOwn: isOwn), to: index)
        }
    }

    private mutating func fail(_ request: EngineRequest, of index: Int) {
        switch request {
        case .beat: send(.missed, to: index)
        case .create(let record):
            self.request(.check(record), from: index)
        case .check(let record): send(.created(record, isOwn: nil), to: index)
        }
    }

    // MARK: - Events

    private mutating func handle(_ event: Event) {
        if let index = event.node, let until = nodes[index].stoppedUntil, until > now {
            nodes[index].held.append(event)
            return
        }
        switch event {
        case .wake(let index):
            trace("n\(index) wakes")
            send(.wake, to: index)
        case .request(let index, let request, let id): serve(request, from: index, id: id)
        case .answer(let index, let answer, let id):
            if pendingRequests.remove(id) != nil { receive(answer, at: index) }
        case .timeout(let index, let id, let request):
            if pendingRequests.remove(id) != nil { fail(request, of: index) }
        case .upstream(let count): advanceUpstream(to: count)
        case .stopped(let index, let channel):
            nodes[index].runs[channel]?.isStopping = true
            nodes[index].runs[channel] = nil
            send(.stopped(channel), to: index)
        case .probe(let index, let channel):
            send(.upstream(channel, isAnswering: nodes[index].upstreamAwayUntil <= now), to: index)
        case .read(let reader): read(reader)
        case .fault: causeFault()
        case .restart(let name): if !nodes.contains(where: { $0.name == name && $0.isAlive }) { start(name) }
        case .resume(let index): resume(index)
        case .demand: changeDemand()
        }
    }

    private mutating func resume(_ index: Int) {
        nodes[index].stoppedUntil = nil
        nodes[index].isHealthySince = now
        let held = nodes[index].held
        nodes[index].held = []
        for event in held { handle(event) }
        scheduleWake(of: index)
    }

    /// Viewers ask for channels that do not always run, and leave.
    private mutating func changeDemand() {
        schedule(.milliseconds(Int.random(in: 500...8000, using: &random)), .demand)
        let optional = channels.filter { demands[$0]?.isAlways == false }
        guard let channel = optional.randomElement(using: &random), let index = running.randomElement(using: &random)
        else { return }
        if nodes[index].runs[channel] != nil {
            if Int.random(in: 0..<3, using: &random) == 0, !isCalm { schedule(.zero, .stopped(index, channel)) }
        } else if nodes[index].decisions.place(of: channel, at: clock(index)) == .nowhere {
            send(.requested(channel), to: index)
        }
    }

    var running: [Int] {
        nodes.indices.filter { nodes[$0].isAlive && (nodes[$0].stoppedUntil ?? .zero) <= now }
    }

    private mutating func causeFault() {
        guard !isCalm else {
            (lossPercent, engineDownUntil) = (0, min(engineDownUntil, now + .seconds(5)))
            return
        }
        schedule(.seconds(Int.random(in: 5...60, using: &random)), .fault)
        guard let index = running.randomElement(using: &random) else { return }
        let time = Time.milliseconds(Int.random(in: 500...40_000, using: &random))
        let kind = Int.random(in: 0..<14, using: &random)
        for (channel, taker) in takers where taker == index { disturbed[channel] = now }
        trace("fault \(kind) n\(index) \(time)")
        switch kind {
        case 0...2:
            nodes[index].isAlive = false
            schedule(.milliseconds(Int.random(in: 100...30_000, using: &random)), .restart(nodes[index].name))
        case 3...5:
            nodes[index].stoppedUntil = now + time
            if fault == .sleepingClock { nodes[index].slept += time }
            queue.add(now + time, .resume(index))
        case 6...8:
            nodes[index].cutUntil = now + time
            nodes[index].isHealthySince = now + time
        case 9:
            engineDownUntil = now + time
            engineHealthySince = now + time
        case 10:
            nodes[index].isHealthySince = end
            send(.leaving, to: index)
            schedule(.seconds(40), .restart(nodes[index].name))
        case 11, 12:
            nodes[index].upstreamAwayUntil = now + time
            nodes[index].isHealthySince = now + time
        default: lossPercent = Int.random(in: 0...5, using: &random)
        }
    }
}

extension FleetSimulation.Event {
    /// The node whose process handles the event.
    fileprivate var node: Int? {
        switch self {
        case .wake(let index), .answer(let index, _, _), .timeout(let index, _, _), .stopped(let index, _),
            .probe(let index, _):
            index
        case .request, .upstream, .read, .fault, .restart, .resume, .demand: nil
        }
    }
}

/// Events in the order of their times, and for equal times in the order in which they were added.
struct EventQueue {
    private var heap: [(time: Duration, order: Int, event: FleetSimulation.Event)] = []
    private var count = 0

    mutating func add(_ time: Duration, _ event: FleetSimulation.Event) {
        count += 1
        heap.append((time, count, event))
        var child = heap.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func next() -> (Duration, FleetSimulation.Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
                guard let least = children.min(by: precedes), precedes(least, parent) else { break }
                heap.swapAt(least, parent)
                parent = least
            }
        }
        return (first.time, first.event)
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (heap[left].time, heap[left].order) < (heap[right].time, heap[right].order)
    }
}
