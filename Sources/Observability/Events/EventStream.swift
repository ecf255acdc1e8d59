package import HTTP
import Synchronization

extension EventBus {
    /// Answers a request for `/api/events` that may use the API.
    package func response(to target: RequestTarget) -> Response {
        // The ID is in the header field, or in the query for clients that cannot set a field. An ID that is not a
        // number means 0.
        let last = (target.fields.lastEventID ?? target.query.value(of: "after")).map { UInt64($0) ?? 0 }
        do throws(EventFilter.UnknownType) {
            let filter = try EventFilter(query: target.query)
            // The subscription begins when the client reads, so a HEAD request creates none.
            let stream = Mutex<EventStream?>(nil)
            return Response(
                contentType: .eventStream, cacheControl: .noStore,
                body: .stream(
                    ByteStream { [self] in
                        if let stream = stream.withLock({ $0 }) { return await stream.next() }
                        stream.withLock { $0 = EventStream(self, filter, after: last) }
                        return EventStream.greeting[...]
                    }),
                // nginx holds responses back otherwise.
                extraHeaders: [HeaderField(name: "X-Accel-Buffering", value: "no")])
        } catch {
            return .text(.badRequest, "There is no event of type \(error.name). Types: \(EventKind.list)")
        }
    }
}

/// The events of one client of `/api/events`, as Server-Sent Events (HTML §9.2).
final class EventStream: Sendable {
    /// The time between two comments, which keep a silent connection open.
    static let heartbeatInterval = Duration.seconds(15)
    /// Milliseconds after which a client connects again.
    private static let retryTime = 3000

    private let bus: EventBus
    private let subscription: EventSubscription
    private let heartbeatInterval: Duration

    init(
        _ bus: EventBus, _ filter: EventFilter, after last: UInt64?,
        heartbeatInterval: Duration = EventStream.heartbeatInterval
    ) {
        self.bus = bus
        self.heartbeatInterval = heartbeatInterval
        subscription = bus.subscribe(filter, after: last, as: .stream)
    }

    deinit { bus.unsubscribe(subscription) }

    /// The first bytes, which tell the client that it is connected.
    static let greeting = Array("retry: \(retryTime)\n\n".utf8)

    /// Waits for events, or until a comment is due. nil: the stream has ended, or the task was canceled.
    func next() async -> ArraySlice<UInt8>? {
        var (text, hasEnded) = dequeue()
        if text == nil, !hasEnded {
            await wait()
            (text, hasEnded) = dequeue()
        }
        guard !Task.isCancelled, let text = text ?? (hasEnded ? nil : ": no event\n\n") else { return nil }
        return Array(text.utf8)[...]
    }

    /// The events that have arrived, and whether they are the last ones.
    private func dequeue() -> (text: String?, hasEnded: Bool) {
        // No event arrives after the end, so the end is checked first.
        let hasEnded = subscription.isEnded
        return (text(of: subscription.dequeue()), hasEnded)
    }

    private func wait() async {
        let timer = Task { [subscription, heartbeatInterval] in
            try? await Task.sleep(for: heartbeatInterval)
            if !Task.isCancelled { subscription.wake() }
        }
        await subscription.wait()
        timer.cancel()
    }

    private func text(of batch: EventSubscription.Batch) -> String? {
        guard !batch.events.isEmpty || batch.lost > 0 else { return nil }
        let lost = batch.lost > 0 ? "event: lost\ndata: {\"events\":\(batch.lost)}\n\n" : ""
        return lost + batch.events.map(Self.text).joined()
    }

    static func text(of event: ServiceEvent) -> String {
        "id: \(event.id)\nevent: \(event.content.kind.rawValue)\ndata: \(event.json)\n\n"
    }
}
