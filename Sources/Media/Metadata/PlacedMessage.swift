/// An event message on the channel's timeline.
package struct PlacedMessage: Equatable, Sendable {
    package let message: EventMessage
    /// Presentation time in the video timescale.
    package let time: Ticks

    package init(message: EventMessage, time: Ticks) {
        self.message = message
        self.time = time
    }
}
