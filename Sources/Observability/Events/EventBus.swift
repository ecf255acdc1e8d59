import Support
import Synchronization

/// Passes the events of the process to their subscribers, and keeps the newest ones.
///
/// Publishing never waits: a subscriber that does not read in time loses events, which are counted.
package final class EventBus: Sendable {
    struct Counts: Equatable, Sendable {
        var published: [EventKind: Int] = [:]
        /// Events that subscribers lost because they read too slowly.
        var lost = 0
    }

    private struct State {
        var newest: ArraySlice<ServiceEvent> = []
        var nextID: UInt64
        var subscriptions: [ObjectIdentifier: EventSubscription] = [:]
        var counts = Counts()
        var streamsHaveEnded = false
    }

    /// Events that are kept for subscribers that come later.
    static let capacity = 1000
    /// Events that wait for one subscriber.
    static let subscriptionLimit = 1000
    /// IDs of one second: a restarted process continues with greater ones.
    private static let idsPerSecond: UInt64 = 1_000_000

    private let capacity: Int
    private let wallClock: @Sendable () -> Int64
    /// The ID of the first event of this process.
    private let firstID: UInt64
    private let state: Mutex<State>

    /// - Parameter wallClock: returns milliseconds since 1970.
    package init(
        capacity: Int = EventBus.capacity, wallClock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds }
    ) {
        self.capacity = capacity
        self.wallClock = wallClock
        firstID = UInt64(clamping: wallClock() / 1000) * Self.idsPerSecond
        state = Mutex(State(nextID: firstID))
    }

    var counts: Counts { state.withLock { $0.counts } }

    var subscriberCount: Int { state.withLock { $0.subscriptions.count } }

    package func publish(_ content: EventContent, channel: String? = nil) {
        let time = wallClock()
        state.withLock { state in
            let event = ServiceEvent(id: state.nextID, time: time, channel: channel, content: content)
            state.nextID += 1
            state.counts.published[content.kind, default: 0] += 1
            state.newest.append(event)
            if state.newest.count > capacity { state.newest.removeFirst() }
            for subscription in state.subscriptions.values where subscription.append(event) { state.counts.lost += 1 }
        }
    }

    /// Adds a subscriber until `unsubscribe` is called.
    /// - Parameter last: the ID of the event after which it continues; nil: with the next event.
    func subscribe(
        _ filter: EventFilter = EventFilter(), after last: UInt64? = nil,
        as reader: EventSubscription.Reader = .delivery, limit: Int = EventBus.subscriptionLimit
    ) -> EventSubscription {
        state.withLock { state in
            let subscription = EventSubscription(
                filter, reader: reader, limit: limit, earlier: last.map { earlier(after: $0, state) } ?? .init())
            state.subscriptions[ObjectIdentifier(subscription)] = subscription
            if state.streamsHaveEnded, reader == .stream { subscription.end() }
            return subscription
        }
    }

    /// Ends the streams of clients, after the events published so far. Deliveries go on.
    package func endStreams() {
        let streams = state.withLock { state in
            state.streamsHaveEnded = true
            return state.subscriptions.values.filter { $0.reader == .stream }
        }
        for stream in streams { stream.end() }
    }

    func unsubscribe(_ subscription: EventSubscription) {
        _ = state.withLock { $0.subscriptions.removeValue(forKey: ObjectIdentifier(subscription)) }
        subscription.end()
    }

    /// The kept events after `last`, and how many later events of this process are no longer kept. Lost events of an
    /// earlier process are not counted.
    private func earlier(after last: UInt64, _ state: State) -> EventSubscription.Batch {
        let oldest = state.newest.first?.id ?? state.nextID
        let next = max(last == .max ? last : last + 1, firstID)
        return .init(
            events: state.newest.filter { $0.id > last }, lost: next < oldest ? Int(clamping: oldest - next) : 0)
    }
}
