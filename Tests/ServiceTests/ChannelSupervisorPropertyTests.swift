import Support
import TestSupport
import Testing
import WebTestSupport

@testable import Service

/// Viewers, upstreams and time, made up from a seed: whatever they do, the supervisor's promises hold.
private struct SupervisedWorld {
    private typealias Run = ChannelSupervisor.Run

    private static let names = ["a", "b", "c", "d", "e", "f"]

    private var random: SeededGenerator
    private var supervisor: ChannelSupervisor
    private var now = Duration.zero
    /// Inputs that come later by themselves.
    private var pending: [(at: Duration, input: ChannelSupervisor.Input)] = []
    private var runs: Set<Run> = []
    private var endingRuns: Set<Run> = []
    private var streams: [Run] = []
    private var waiters: [UInt64: Duration] = [:]
    private var waiterNames: [UInt64: String] = [:]
    private var lastSeen: [String: Duration] = [:]
    private var waiterCount: UInt64 = 0
    private(set) var violations: [String] = []
    private(set) var startCount = 0

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 0...4, using: &random)
        supervisor = ChannelSupervisor(
            .init(
                idle: .seconds(Int.random(in: 0...40, using: &random)), maxRunning: limit == 0 ? nil : limit,
                keepWarm: limit == 1 ? 1 : 0))
        if seed % 2 == 0 {
            connections = Int.random(in: 1...2, using: &random)
            accounts = Dictionary(
                uniqueKeysWithValues: Self.names.shuffled(using: &random).prefix(4).map { ($0, "one") })
        }
        if seed % 3 == 0 { always = [Self.names[Int(seed / 3) % Self.names.count]] }
    }

    /// The account of some channels, and its connections; nil: it has no limit.
    private var accounts: [String: String] = [:]
    private var connections: Int?

    /// Channels that run without viewers.
    private var always: Set<String> = []

    mutating func run(steps: Int) {
        if let connections { send(.connected(["one": connections])) }
        let demands = Self.names.map { name in
            (name, ChannelSupervisor.Demand(isAlways: always.contains(name), account: accounts[name]))
        }
        send(.demanded(Dictionary(uniqueKeysWithValues: demands)))
        for _ in 0..<steps {
            advance(by: .milliseconds(Int.random(in: 0...4000, using: &random)))
            act()
        }
        advance(by: .seconds(600))
        for run in streams { send(.streamClosed(run)) }
        streams = []
        advance(by: .seconds(600))
        let rest = runs.count { !always.contains($0.channel) }
        let isAllowed = rest <= supervisor.policy.keepWarm
        check(isAllowed, "\(rest) runs are left")
        let waiting = waiters
        check(waiting.isEmpty, "requests were never answered: \(waiting)")
    }

    /// Moves the time, with everything that is due meanwhile in its order.
    private mutating func advance(by time: Duration) {
        let end = now + time
        while true {
            let next = pending.indices.min { pending[$0].at < pending[$1].at }
            let due = [next.map { pending[$0].at }, supervisor.nextWake].compactMap { $0 }.min()
            guard let due, due <= end else { break }
            now = max(now, due)
            if let next, pending[next].at <= due {
                send(pending.remove(at: next).input)
            } else {
                send(.wake)
            }
        }
        now = end
    }

    private mutating func act() {
        let name = Self.names.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: request(name)
        case 3: leave()
        case 4..<6:
            if supervisor.recordRequest(of: name, at: now) != nil { lastSeen[name] = now }
        case 6:
            if let run = runs.subtracting(endingRuns).sorted(by: { $0.number < $1.number }).first {
                streams.append(run)
                send(.streamOpened(run))
            }
        case 7:
            if !streams.isEmpty { closeStream() }
        case 8: send(.retired(name))
        default:
            if let run = runs.sorted(by: { $0.number < $1.number }).last, Bool.random(using: &random) {
                over(run, failure: "gone")
            }
        }
    }

    private mutating func request(_ name: String) {
        waiterCount += 1
        waiters[waiterCount] = now
        waiterNames[waiterCount] = name
        lastSeen[name] = now
        send(.requested(name, waiter: waiterCount, isStream: Bool.random(using: &random)))
    }

    private mutating func leave() {
        guard let id = waiters.keys.sorted().randomElement(using: &random), let name = waiterNames[id] else { return }
        waiters[id] = nil
        lastSeen[name] = now
        send(.abandoned(name, waiter: id))
    }

    private mutating func closeStream() {
        let run = streams.remove(at: Int.random(in: streams.indices, using: &random))
        lastSeen[run.channel] = now
        send(.streamClosed(run))
    }

    private mutating func over(_ run: Run, failure: FailureText?) {
        guard runs.remove(run) != nil else { return }
        endingRuns.remove(run)
        send(.ended(run, failure: failure))
    }

    private mutating func send(_ input: ChannelSupervisor.Input) {
        if case .ended(let run, nil) = input { (_, _) = (runs.remove(run), endingRuns.remove(run)) }
        for effect in supervisor.handle(input, at: now) { perform(effect) }
        checkRuns()
    }

    private mutating func perform(_ effect: ChannelSupervisor.Effect) {
        switch effect {
        case .start(let run):
            startCount += 1
            let isSecond = runs.contains { $0.channel == run.channel }
            check(!isSecond, "two readers of \(run.channel)")
            runs.insert(run)
            let count = runs.count
            if let limit = supervisor.policy.maxRunning { check(count <= limit, "more than \(limit) run") }
            let shared = runs.count { accounts[$0.channel] != nil }
            if let connections { check(shared <= connections, "\(shared) connections of an account") }
            if Int.random(in: 0..<6, using: &random) > 0 {
                pending.append((now + .milliseconds(Int.random(in: 10...20_000, using: &random)), .published(run)))
            }
        case .end(let run):
            let isKnown = runs.contains(run)
            check(isKnown, "\(run) ends but does not run")
            endingRuns.insert(run)
            pending.append((now + .milliseconds(Int.random(in: 0...3000, using: &random)), .ended(run, failure: nil)))
        case .answer(let id, _):
            guard let since = waiters.removeValue(forKey: id) else { return check(false, "\(id) is answered twice") }
            let held = now - since
            check(held <= supervisor.policy.startLimit, "\(id) was held for \(held)")
            if let name = waiterNames[id] { lastSeen[name] = now }
        }
    }

    /// No run without a viewer for longer than the idle time, unless it is kept warm.
    private mutating func checkRuns() {
        let waiting = Set(waiters.keys.compactMap { waiterNames[$0] })
        let unwatched = runs.subtracting(endingRuns).filter { run in
            guard !always.contains(run.channel) else { return false }
            guard !streams.contains(run), !waiting.contains(run.channel) else { return false }
            return now - (lastSeen[run.channel] ?? .zero) > supervisor.policy.idle
        }
        let isAllowed = unwatched.count <= supervisor.policy.keepWarm
        check(isAllowed, "\(unwatched) have no viewers")
    }

    private mutating func check(_ holds: Bool, _ violation: String) {
        if !holds { violations.append("at \(now): \(violation)") }
    }
}

@Test(arguments: 0..<200 as Range<UInt64>)
func supervisorKeepsItsPromises(seed: UInt64) {
    var world = SupervisedWorld(seed: seed)
    world.run(steps: 300)
    #expect(world.violations.prefix(3) == [], "seed \(seed)")
    #expect(world.startCount > 5, "seed \(seed)")
}
