import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import Fetch
@testable import Observability
@testable import Support

private func answer(_ status: Int) -> FetchOutcome { .success(.init(status: status, finalURL: "u", body: [])) }
private func failure(_ reason: FetchError.Reason) -> FetchOutcome { .failure(.init(reason, url: "u")) }

private let decisions: [(when: String, outcome: FetchOutcome, attempt: Int, decision: WebhookRetry.Decision)] = [
    ("accepted", answer(204), 1, .delivered), ("refused", answer(401), 1, .giveUp),
    ("not there", answer(404), 1, .giveUp), ("moved", answer(307), 1, .giveUp),
    ("too large", answer(413), 1, .giveUp), ("overloaded", answer(429), 1, .retry(after: .seconds(1))),
    ("an error", answer(500), 2, .retry(after: .seconds(2))),
    ("being started", answer(503), 6, .retry(after: .seconds(32))),
    ("down", failure(.refused), 7, .retry(after: .seconds(60))),
    ("hanging", failure(.timedOut), 1, .retry(after: .seconds(1))),
    ("for the last time", failure(.reset), 8, .giveUp),
]

@Test(arguments: decisions.indices) func webhookAttemptIsJudged(row: Int) {
    let row = decisions[row]
    #expect(WebhookRetry().decide(after: row.outcome, attempt: row.attempt) == row.decision, "\(row.when)")
}

/// A clock that is always later: a sleep takes no time.
private final class SleeplessClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let time = Mutex((now: Instant(), sleeps: [Duration]()))
    var now: Instant { time.withLock { $0.now } }
    var sleeps: [Duration] { time.withLock { $0.sleeps } }
    let minimumResolution = Duration.zero

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        time.withLock { time in
            time.sleeps.append(deadline.offset - time.now.offset)
            time.now = deadline
        }
    }
}

extension DeliveryCounter {
    fileprivate func count(_ outcome: Outcome, _ target: Target) -> Int {
        counts[Key(target: target, outcome: outcome)] ?? 0
    }
}

@Suite(.ownThreads) struct WebhookTests {
    private let bus = EventBus(wallClock: { 0 })
    private let counter = DeliveryCounter()
    private let clock = SleeplessClock()

    private func webhook(limit: Int = 100, _ post: @escaping @Sendable ([UInt8]) async -> FetchOutcome) -> Webhook<
        SleeplessClock
    > {
        Webhook(
            name: "test", post: post, subscription: bus.subscribe(limit: limit), counter: counter, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func publish(_ count: Int) {
        for number in 0..<count { bus.publish(.listReload(source: "s", added: number)) }
    }

    @Test func eventsComeInOrderAfterRetries() async throws {
        let bodies = Mutex([String]())
        let outcomes = Mutex([answer(503), failure(.refused), failure(.reset), answer(200), answer(404), answer(200)])
        let webhook = webhook { body in
            bodies.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
            return outcomes.withLock { $0.removeFirst() }
        }
        publish(3)
        bus.unsubscribe(webhook.subscription)
        await webhook.run()
        let numbers = bodies.withLock { $0 }.map { body in
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?["added"] as? Int
        }
        #expect(numbers == [0, 0, 0, 0, 1, 2])
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(counter.count(.delivered, .webhook) == 2 && counter.count(.failed, .webhook) == 1)
        #expect(counter.count(.retried, .webhook) == 3)
    }

    @Test func receiverThatIsDownCostsOldEventsOnly() async {
        let webhook = webhook(limit: 2) { _ in failure(.refused) }
        publish(5)
        bus.unsubscribe(webhook.subscription)
        await webhook.run()
        #expect(counter.count(.dropped, .webhook) == 3 && counter.count(.failed, .webhook) == 2)
        let pauses = [1, 2, 4, 8, 16, 32, 60].map { Duration.seconds($0) }
        #expect(clock.sleeps == pauses + pauses)
    }

    private static let faults: [(when: String, steps: [LoopbackServer.Step], outcome: DeliveryCounter.Outcome)] = [
        ("it accepts", [.answer(204)], .delivered), ("it refuses", [.answer(403)], .failed),
        ("it resets the connection", [.reset], .failed), ("it closes", [.close], .failed),
        ("it redirects", [.redirect(to: "http://127.0.0.1:9/")], .failed),
        ("it is no HTTP server", [.send("hello\r\n\r\n"), .close], .failed),
    ]

    @Test(arguments: faults.indices) func receiverMisbehaves(row: Int) async throws {
        let row = Self.faults[row]
        let server = try LoopbackServer { _ in row.steps }
        var requests = CurlConfiguration()
        requests.noProxy = "*"
        let fetcher = try CurlFetcher(upstream: server.url, configuration: requests)
        let webhook = webhook {
            await fetcher.send(.init(type: "application/json", bytes: $0), to: server.url + "/hook")
        }
        publish(1)
        bus.unsubscribe(webhook.subscription)
        await webhook.run()
        #expect(counter.count(row.outcome, .webhook) == 1, "\(row.when)")
        let request = try #require(server.requests.first)
        #expect(request.target == "/hook" && request.headers["content-type"] == "application/json")
        #expect(String(decoding: request.body, as: UTF8.self).hasPrefix("{\"id\":0,\"time\":\"1970-"))
        let isRetried = counter.count(.retried, .webhook) > 0
        #expect(isRetried == [.reset, .close].contains(row.steps.last), "\(row.when)")
    }

    /// The end of the process waits for a receiver that hangs only as long as it may.
    @Test(.timeLimit(.minutes(1))) func hangingReceiverIsLeft() async throws {
        let server = try LoopbackServer { _ in [.hang] }
        let delivery = try EventDelivery(
            bus, webhooks: [server.url], commands: [],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        publish(3)
        while server.requests.isEmpty { await Task.yield() }
        await delivery.finish(within: .milliseconds(50))
        #expect(delivery.counter.count(.delivered, .webhook) == 0)
        #expect(await server.waitForHangUps(1))
    }

    @Test func webhookHasToBeAURL() {
        #expect(throws: RelayError.self) {
            try EventDelivery(bus, webhooks: ["ftp://h/"], commands: [], logger: Logger(label: "test"))
        }
    }
}
