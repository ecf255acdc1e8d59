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
        subscription = bus.subscribe(filter, after: last)
    }

    deinit { bus.unsubscribe(subscription) }

    /// The first bytes, which tell the client that it is connected.
    static let greeting = Array("retry: \(retryTime)\n\n".utf8)

    /// Waits for events, or for the time of a comment. nil: the stream has ended, or the task was canceled.
    func next() async -> ArraySlice<UInt8>? {
        if let text = text(of: subscription.dequeue()) { return Array(text.utf8)[...] }
        guard !subscription.isEnded, !Task.isCancelled else { return nil }
        let timer = Task { [subscription, heartbeatInterval] in
            try? await Task.sleep(for: heartbeatInterval)
            if !Task.isCancelled { subscription.wake() }
        }
        await subscription.wait()
        timer.cancel()
        guard !Task.isCancelled else { return nil }
        let text = text(of: subscription.dequeue())
        guard text != nil || !subscription.isEnded else { return nil }
        return Array((text ?? ": no event\n\n").utf8)[...]
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
