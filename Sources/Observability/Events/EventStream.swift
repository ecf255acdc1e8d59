/// The events of one client of `/api/events`, as Server-Sent Events (HTML §9.2).
final class EventStream: Sendable {
    /// Between two comments that keep a silent connection open.
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

    /// Waits for events, or for the time of a comment. nil: the stream has ended, or the task was canceled.
    func next() async -> ArraySlice<UInt8>? {
        var (text, hasEnded) = dequeue()
        if text == nil, !hasEnded {
            await wait()
            (text, hasEnded) = dequeue()
        }
        guard !Task.isCancelled, let text = text ?? (hasEnded ? nil : ": no event\n\n") else { return nil }
        return Array(text.utf8)[...]
    }

    /// The events that have come, and whether they are the last ones.
    private func dequeue() -> (text: String?, hasEnded: Bool) {
        // No event comes after the end, so the end is looked for first.
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
