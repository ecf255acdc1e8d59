import Playlist
import Synchronization
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// A clock on which no time passes, so that only answers cause steps.
struct FrozenClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    var now: Instant { Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        for await _ in AsyncStream<Never>.makeStream().stream {}
        try Task.checkCancellation()
    }
}

private struct OriginFetcher: Fetcher {
    let origin: SessionOrigin

    func fetch(_ request: FetchRequest) async -> FetchOutcome { origin.answer(request, at: .zero).0 }
}

/// Never answers. Logs requests and cancellations.
private struct SilentFetcher: Fetcher {
    let log: AsyncStream<String>.Continuation

    func fetch(_ request: FetchRequest) async -> FetchOutcome {
        log.yield("requested")
        for await _ in AsyncStream<Never>.makeStream().stream {}
        log.yield("canceled")
        return .failure(FetchError(.canceled, url: request.url))
    }
}

private var finished: SessionOrigin {
    var origin = SessionOrigin()
    origin.windowLength = 30
    origin.stopsAt = .zero
    origin.endsWithList = true
    origin.tags = { "#EXT-X-KEY:METHOD=AES-128,URI=\"key\($0 / 4)\"\n" }
    return origin
}

private func session() -> UpstreamSession {
    UpstreamSession(upstream: SessionOrigin.url, policy: .init(variant: .highest))
}

@Test func liveAndReplayDriversDeliverTheSame() async throws {
    let driver = TrackerDriver(upstream: OriginFetcher(origin: finished), clock: FrozenClock())
    var deliveries: [Delivery] = []
    let end = try await driver.run(reporting: session()) { output, _ in
        if case .delivery(let delivery) = output { deliveries.append(delivery) }
        return .published
    }
    #expect(end == .drained)
    let replayed = try await SessionRun(finished)
    let numbers = deliveries.compactMap { delivery -> UInt64? in
        if case .segment(let segment) = delivery.content { segment.segment.mediaSequence } else { nil }
    }
    #expect(numbers == replayed.numbers() && numbers.count == 30)
}

@Test func twoReplaysAreEqual() async throws {
    var origin = SessionOrigin()
    origin.latency = { .milliseconds($0.url.utf8.reduce(0) { ($0 * 31 + Int($1)) % 4000 }) }
    let first = try await SessionRun(origin, seconds: 300)
    let second = try await SessionRun(origin, seconds: 300)
    #expect(first.deliveries.map(\.delivery) == second.deliveries.map(\.delivery))
    #expect(first.deliveries.map(\.at) == second.deliveries.map(\.at))
    #expect(first.events.map(\.event) == second.events.map(\.event))
    #expect(first.status == second.status)
}

@Test func cancelingTheTaskCancelsTheTransfers() async throws {
    let (log, source) = AsyncStream<String>.makeStream()
    let driver = TrackerDriver(upstream: SilentFetcher(log: source), clock: FrozenClock())
    let run = Task { try await driver.run(reporting: session()) { _, _ in .published } }
    var entries = log.makeAsyncIterator()
    #expect(await entries.next() == "requested")
    run.cancel()
    #expect(await entries.next() == "canceled")
    await #expect(throws: CancellationError.self) { try await run.value }
}

@Test func errorFromDownstreamEndsTheDriver() async throws {
    struct DiskFull: Error {}
    let driver = TrackerDriver(upstream: OriginFetcher(origin: finished), clock: FrozenClock())
    await #expect(throws: DiskFull.self) {
        _ = try await driver.run(reporting: session()) { output, _ in
            if case .delivery = output { throw DiskFull() }
            return .published
        }
    }
}

// MARK: - Wake-ups

/// A clock that is moved by hand. Each sleep is counted.
private final class StepClock: Clock {
    typealias Instant = FrozenClock.Instant

    private struct State {
        var now = Instant()
        var sleeps: [Int: (deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = [:]
        var sleepCount = 0
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    var sleepCount: Int { state.withLock { $0.sleepCount } }
    var isSleeping: Bool { state.withLock { !$0.sleeps.isEmpty } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.sleepCount += 1
            return state.sleepCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // All cancellations come before the clock is moved.
                guard !Task.isCancelled else { return continuation.resume() }
                state.withLock { $0.sleeps[number] = (deadline, continuation) }
            }
        } onCancel: {
            end(number)
        }
        try Task.checkCancellation()
    }

    func move(to time: Duration) {
        let over = state.withLock { state in
            state.now = Instant(offset: time)
            return state.sleeps.filter { $0.value.deadline.offset <= time }.keys
        }
        for number in over { end(number) }
    }

    private func end(_ number: Int) { state.withLock { $0.sleeps.removeValue(forKey: number) }?.continuation.resume() }
}

private let wakeRows: [(when: String, wanted: [Int], sleeps: Int)] = [
    ("one time", [5], 1), ("the same time again", [5, 5, 5], 1), ("later and later times", [5, 6, 7, 8, 9], 2),
    ("an earlier time", [5, 3], 2), ("later, then earlier than the first", [5, 8, 3], 2),
]

/// A sleep goes on if a later time is wanted.
@Test(arguments: wakeRows) func sessionWakesAtTheTimeWantedLast(when: String, wanted: [Int], sleeps: Int) async {
    let clock = StepClock()
    let wake = Mutex<Duration?>(nil)
    let timer = SessionTimer(clock, since: clock.now) { wake.withLock { $0 = clock.now.offset } }
    for seconds in wanted { timer.wake(at: .seconds(seconds)) }
    for second in 1...9 {
        while !clock.isSleeping, wake.withLock({ $0 }) == nil { await Task.yield() }
        clock.move(to: .seconds(second))
    }
    while wake.withLock({ $0 }) == nil { await Task.yield() }
    #expect(wake.withLock { $0 } == .seconds(wanted[wanted.count - 1]), "\(when)")
    #expect(clock.sleepCount <= sleeps)
    await timer.end()
}
