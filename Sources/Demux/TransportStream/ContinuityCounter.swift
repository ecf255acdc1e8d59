/// The continuity counter of one PID (ISO/IEC 13818-1 §2.4.3.3), by which lost packets are noticed.
///
/// A multiplexer that never advances it tells nothing of losses: then the same counter with another payload is no loss.
struct ContinuityCounter: Sendable {
    /// Packets in a row with one counter and different payloads. Fewer may follow the loss of a full round.
    private static let provingPackets = 2

    /// The counter of the last packet with a payload; nil if it tells nothing of the next one.
    private(set) var last: UInt8?
    private var standing = 0

    /// Whether `packet`, which is no duplicate, follows the last one without a loss; false if it is not known.
    func isFollowed(by packet: TransportPacket) -> Bool {
        guard let last else { return false }
        return packet.follows(last) || standing >= Self.provingPackets && packet.continuityCounter == last
    }

    /// Records a packet that is no duplicate.
    mutating func record(_ packet: TransportPacket) {
        if let last { standing = packet.continuityCounter == last ? standing + 1 : 0 }
        last = packet.continuityCounter
    }

    /// Forgets the last packet, after which a new one begins.
    mutating func restart() { last = nil }
}
