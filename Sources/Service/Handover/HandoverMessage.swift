package import Foundation

/// A message between the process that hands its channels over and its successor, one line of JSON.
package enum HandoverMessage: Codable, Equatable, Sendable {
    /// The first message to the successor, which reads the rings and checks that it can continue them.
    /// - Parameter format: `HandoverMessage.format` of the sender.
    case offer(format: Int, HandoverState)
    /// The sender accepts no connections any more, and starts no channels. The successor accepts connections.
    case accept(HandoverState)
    /// The sender has closed the ring of a channel.
    case released(channel: String)
    /// Everything is handed over: the successor is the service.
    case completed

    /// The successor can start. Nothing has changed yet.
    case ready
    /// The successor cannot start.
    case refused(reason: String)
    /// The successor accepts connections, and answers for every channel.
    case accepting
    /// The successor publishes a channel, or does not need it.
    case taken(channel: String)
    /// The successor cannot publish a channel.
    case failed(channel: String, reason: String)

    /// The version of these messages. A successor refuses an offer of another version.
    package static let format = 1
}

/// The state of a process that its successor continues.
package struct HandoverState: Codable, Equatable, Sendable {
    /// The directories of the rings of running channels, by channel.
    package var channels: [String: String] = [:]
    /// The directory of the process for rings; nil: the successor chooses its own.
    package var spool: String?
    /// Whether the last process removes that directory.
    package var isTemporary = false
    /// How often the process was handed over.
    package var generation = 0
    /// The health of the channels in the last 24 hours.
    package var health = HealthHandover()
    /// Channels that requests put or deleted, in order.
    package var changes: [ChannelChange] = []

    package init(channels: [String: String] = [:]) { self.channels = channels }

    package init(
        channels: [String: String], spool: String, isTemporary: Bool, generation: Int, health: HealthHandover,
        changes: [ChannelChange] = []
    ) {
        (self.channels, self.spool, self.isTemporary) = (channels, spool, isTemporary)
        (self.generation, self.health, self.changes) = (generation, health, changes)
    }
}

extension HandoverMessage {
    /// The message as a line, without the line end.
    package var line: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Strings and numbers can always be encoded.
        return (try? encoder.encode(self)) ?? Data()
    }

    /// - Returns: nil for a message of another version.
    package init?(line: Data) {
        guard let message = try? JSONDecoder().decode(HandoverMessage.self, from: line) else { return nil }
        self = message
    }
}
