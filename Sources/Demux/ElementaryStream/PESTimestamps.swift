import Media

/// Assigns the timestamp of a PES packet to the first frame that begins in it (ISO/IEC 13818-1 §2.4.3.7). Offsets
/// ascend from call to call.
struct PESTimestamps: Sendable {
    private var lastUsed: Int?
    private var nextLoss = 0

    init() {}

    /// Marks packets with losses up to `offset` as used: the first frame of such a packet is unknown.
    /// - Returns: The offset of the next loss after `offset`.
    mutating func skipLosses(upTo offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while nextLoss < buffer.losses.count, buffer.losses[nextLoss].offset <= offset {
            let loss = buffer.losses[nextLoss].offset
            if let damaged = buffer.packetIndex(before: loss) {
                lastUsed = max(damaged, lastUsed ?? damaged)
            }
            nextLoss += 1
        }
        return nextLoss < buffer.losses.count ? buffer.losses[nextLoss].offset : nil
    }

    /// Returns the timestamp of a frame that begins at `offset`; nil if another frame used it, or if there is none.
    mutating func consumeTimestamp(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Ticks? {
        guard let packet = buffer.packetIndex(at: offset), packet != lastUsed else { return nil }
        lastUsed = packet
        return buffer.starts[packet].pts
    }

    /// Whether a frame that begins at `offset` would be the first of its packet.
    func isUnused(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Bool {
        buffer.packetIndex(at: offset) != lastUsed
    }
}
