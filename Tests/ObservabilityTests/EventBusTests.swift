import Testing

@testable import HTTP
@testable import Observability
@testable import WebServer

private func reload(_ number: Int) -> EventContent {
    .listReload(source: "list", added: number)
}

private func numbers(_ batch: EventSubscription.Batch) -> [Int] {
    batch.events.map { event in (0..<10).first { reload($0) == event.content } ?? -1 }
}

/// The time of the first event is second 5.
private func bus(capacity: Int = 5) -> EventBus { EventBus(capacity: capacity, wallClock: { 5000 }) }

/// The events 0 to 9 were published, and the newest five are kept. IDs begin at 5,000,000.
private let resumeRows: [(when: String, last: UInt64?, events: [Int], lost: Int)] = [
    ("without an ID", nil, [], 0), ("after the newest", 5_000_009, [], 0),
    ("after a kept one", 5_000_006, [7, 8, 9], 0),
    ("after the last that is not kept", 5_000_004, [5, 6, 7, 8, 9], 0),
    ("after an older one", 5_000_001, [5, 6, 7, 8, 9], 3),
    ("of an earlier process", 4_000_123, [5, 6, 7, 8, 9], 5), ("no number", 0, [5, 6, 7, 8, 9], 5),
    ("from the future", .max, [], 0),
]

@Test(arguments: resumeRows) func subscriberResumes(when: String, last: UInt64?, events: [Int], lost: Int) {
    let bus = bus()
    for number in 0..<10 { bus.publish(reload(number)) }
    let batch = bus.subscribe(after: last).dequeue()
    #expect(numbers(batch) == events, "\(when)")
    #expect(batch.lost == lost, "\(when)")
}

@Test func slowSubscriberLosesTheOldestEventsAlone() {
    let bus = bus()
    let (slow, fast) = (bus.subscribe(limit: 3), bus.subscribe(limit: 100))
    for number in 0..<5 { bus.publish(reload(number)) }
    #expect(numbers(fast.dequeue()) == [0, 1, 2, 3, 4])
    let batch = slow.dequeue()
    #expect(numbers(batch) == [2, 3, 4] && batch.lost == 2 && bus.counts.lost == 2)
    bus.publish(reload(5))
    #expect(numbers(slow.dequeue()) == [5] && slow.dequeue() == .init())
    bus.unsubscribe(slow)
    bus.publish(reload(6))
    #expect(slow.isEnded && slow.count == 0 && fast.count == 2)
}

private let filters: [(when: String, query: [(String, String)], channel: String?, isIncluded: Bool)] = [
    ("nothing asked", [], "news", true), ("its channel", [("channel", "sport,news")], "news", true),
    ("several fields", [("channel", "sport"), ("channel", "news")], "news", true),
    ("another channel", [("channel", "sport")], "news", false), ("of no channel", [("channel", "news")], nil, false),
    ("its type", [("type", "splice,channel_start")], "news", true),
    ("another type", [("type", "splice")], "news", false),
    ("both", [("type", "channel_start"), ("channel", "news")], "news", true),
    ("type but not channel", [("type", "channel_start"), ("channel", "x")], "news", false),
    ("foreign names", [("v", "1")], "news", true), ("nothing between commas", [("type", "")], "news", true),
]

@Test(arguments: filters)
func filterSelects(when: String, query: [(String, String)], channel: String?, isIncluded: Bool) throws {
    let filter = try EventFilter(query: query.map { .init(name: $0.0, value: $0.1) })
    let event = ServiceEvent(id: 1, time: 0, channel: channel, content: .channelStart(url: "u"))
    #expect(filter.includes(event) == isIncluded, "\(when)")
}

@Test func unknownTypeIsRefused() {
    #expect(throws: EventFilter.UnknownType(name: "x")) {
        try EventFilter(query: [.init(name: "type", value: "splice,x")])
    }
}

@Test(.timeLimit(.minutes(1))) func waitEndsWithAnEventAWakeAnEndOrACancellation() async {
    let bus = bus()
    let subscription = bus.subscribe()
    async let waiting: Void = subscription.wait()
    bus.publish(reload(1))
    await waiting
    await subscription.wait()
    #expect(numbers(subscription.dequeue()) == [1])
    subscription.wake()
    await subscription.wait()
    let task = Task { await subscription.wait() }
    task.cancel()
    await task.value
    let last = Task { await subscription.wait() }
    bus.unsubscribe(subscription)
    await last.value
    await subscription.wait()
}
