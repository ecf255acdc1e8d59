import Media

/// Which PES packet's time has been taken by a frame: the first that begins in the packet (ISO/IEC 13818-1 §2.4.3.7).
/// Offsets ascend from call to call.
struct PESTimestamps: Sendable {
    private var cursor = PacketStartCursor()
    private var lastUsed: Int?
    private var nextLoss = 0

    init() {}

    /// Which frame is the first to begin in a packet cannot be known where bytes of it are missing.
    /// - Returns: where the next loss behind `offset` lies.
    mutating func skipLosses(upTo offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while nextLoss < buffer.losses.count, buffer.losses[nextLoss].offset <= offset {
            let fault = buffer.losses[nextLoss].offset
            if let around = buffer.packetIndex(before: fault) {
                lastUsed = max(around, lastUsed ?? around)
            }
            nextLoss += 1
        }
        return nextLoss < buffer.losses.count ? buffer.losses[nextLoss].offset : nil
    }

    /// The time of a frame that begins at `offset`; nil when another has taken it, or there is none.
    mutating func consumeTimestamp(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Ticks? {
        guard let packet = cursor.packetIndex(at: offset, in: buffer), packet != lastUsed else { return nil }
        lastUsed = packet
        return buffer.starts[packet].pts
    }

    /// A frame that begins at `offset` would be the first of its packet.
    mutating func isUnused(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Bool {
        cursor.packetIndex(at: offset, in: buffer) != lastUsed
    }
}
