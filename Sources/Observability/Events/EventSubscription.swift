import HTTP
import Synchronization

/// The events that one subscriber has not read yet: a bounded queue that loses the oldest events of a slow subscriber.
final class EventSubscription: Sendable {
    struct Batch: Equatable, Sendable {
        var events: [ServiceEvent] = []
        /// Events lost before the first of `events`.
        var lost = 0
    }

    enum Reader: Equatable, Sendable {
        /// A client of `/api/events`.
        case stream
        /// A delivery to a webhook or command, which continues after the streams have ended.
        case delivery
    }

    private struct State {
        var batch = Batch()
        var isEnded = false
        var isWoken = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    let filter: EventFilter
    let reader: Reader
    private let limit: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - limit: the most events that wait.
    ///   - earlier: events that the subscriber receives first.
    init(
        _ filter: EventFilter = EventFilter(), reader: Reader = .delivery, limit: Int, earlier: Batch = Batch()
    ) {
        self.filter = filter
        self.reader = reader
        self.limit = limit
        state = Mutex(State())
        state.withLock { $0.batch.lost = earlier.lost }
        for event in earlier.events { append(event) }
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    var count: Int { state.withLock { $0.batch.events.count } }

    /// Appends an event that the filter includes.
    /// - Returns: whether an older event was lost.
    @discardableResult
    func append(_ event: ServiceEvent) -> Bool {
        guard filter.includes(event) else { return false }
        return state.withLock { state in
            guard !state.isEnded else { return false }
            state.batch.events.append(event)
            Self.wake(&state)
            guard state.batch.events.count > limit else { return false }
            state.batch.events.removeFirst()
            state.batch.lost += 1
            return true
        }
    }

    func dequeue() -> Batch {
        state.withLock { state in
            defer { state.batch = Batch() }
            return state.batch
        }
    }

    /// Reads each event until the subscription has ended, or the task is canceled.
    /// - Parameter reportLost: called with the number of events lost before the next one.
    func forEach(reportLost: (Int) -> Void, perform: (ServiceEvent) async -> Void) async {
        while !Task.isCancelled {
            let (lost, event, isEnded) = state.withLock { state in
                defer { state.batch.lost = 0 }
                let event = state.batch.events.isEmpty ? nil : state.batch.events.removeFirst()
                return (state.batch.lost, event, state.isEnded)
            }
            if lost > 0 { reportLost(lost) }
            if let event {
                await perform(event)
            } else if isEnded {
                return
            } else {
                await wait()
            }
        }
    }

    /// Returns when there are events, the subscription has ended, or `wake()` was called since the last call. One task
    /// at a time may wait.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    state.waiter = continuation
                    if state.isWoken || state.isEnded || !state.batch.events.isEmpty { Self.wake(&state) }
                    state.isWoken = false
                }
            }
        } onCancel: {
            wake()
        }
    }

    /// Ends the current wait, or the next one.
    func wake() {
        state.withLock { state in
            state.isWoken = state.waiter == nil
            Self.wake(&state)
        }
    }

    /// Accepts no more events. Events that have arrived can still be read.
    func end() {
        state.withLock { state in
            state.isEnded = true
            Self.wake(&state)
        }
    }

    private static func wake(_ state: inout State) {
        state.waiter?.resume()
        state.waiter = nil
    }
}

/// The events that a subscriber receives: events of some channels and types, or all events.
struct EventFilter: Equatable, Sendable {
    /// A `type` in the query that is not an event type.
    struct UnknownType: Error, Equatable {
        let name: String
    }

    /// nil: all channels, and events without a channel.
    var channels: Set<String>?
    /// nil: all types.
    var kinds: Set<EventKind>?

    init() {}

    /// Reads `channel=` and `type=`, each with several values separated by commas, or several times.
    init(query: [RequestTarget.QueryItem]) throws(UnknownType) {
        for item in query {
            let values = item.value.split(separator: ",").map(String.init)
            switch item.name {
            case "channel": channels = (channels ?? []).union(values)
            case "type":
                for value in values {
                    guard let kind = EventKind(rawValue: value) else { throw UnknownType(name: value) }
                    kinds = (kinds ?? []).union([kind])
                }
            default: break
            }
        }
    }

    func includes(_ event: ServiceEvent) -> Bool {
        if let kinds, !kinds.contains(event.content.kind) { return false }
        guard let channels else { return true }
        return event.channel.map { channels.contains($0) } ?? false
    }
}
