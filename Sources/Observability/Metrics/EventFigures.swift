/// The counts of events, and of what became of them.
package struct EventFigures: Sendable {
    private let bus: EventBus
    private let delivery: EventDelivery

    package init(_ bus: EventBus, _ delivery: EventDelivery) {
        self.bus = bus
        self.delivery = delivery
    }

    package var counts: EventBus.Counts { bus.counts }
    var deliveries: [DeliveryCounter.Key: Int] { delivery.counter.counts }
}
