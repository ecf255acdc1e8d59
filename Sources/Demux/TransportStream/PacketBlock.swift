import Media

/// Consecutive transport packets without a gap between them, `PacketBlock.limit` at most.
struct PacketBlock: Equatable, Sendable {
    /// The packets between two checkpoints for cancellation.
    static let limit = 128

    /// Offset of the first packet's sync byte.
    let start: Int
    let count: Int
    /// Distance between sync bytes: 188, 192 (4 bytes of timestamp before each packet) or 204 (16 bytes of parity after
    /// it).
    let stride: Int
    /// Whether the sync bytes of these packets are wrong. Such a packet counts only if its PID and continuity counter
    /// fit.
    let hasBadSyncBytes: Bool

    /// The offset of the sync byte of a packet.
    subscript(index: Int) -> Int { start + index * stride }
}
