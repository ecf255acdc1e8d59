/// Which PES packet's time has been taken by a frame: the first that begins in the packet (ISO/IEC 13818-1 §2.4.3.7).
/// Offsets ascend from call to call.
struct PacketTimes: Sendable {
    private var cursor = PacketStartCursor()
    private var lastTaken: Int?
    private var nextFault = 0

    init() {}

    /// Which frame is the first to begin in a packet cannot be known where bytes of it are missing.
    /// - Returns: where the next loss behind `offset` lies.
    mutating func passFaults(upTo offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while nextFault < buffer.faults.count, buffer.faults[nextFault].offset <= offset {
            let fault = buffer.faults[nextFault].offset
            if let around = buffer.packetIndex(before: fault) {
                lastTaken = max(around, lastTaken ?? around)
            }
            nextFault += 1
        }
        return nextFault < buffer.faults.count ? buffer.faults[nextFault].offset : nil
    }

    /// The time of a frame that begins at `offset`; nil when another has taken it, or there is none.
    mutating func take(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Ticks? {
        guard let packet = cursor.packet(at: offset, in: buffer), packet != lastTaken else { return nil }
        lastTaken = packet
        return buffer.starts[packet].pts
    }

    /// A frame that begins at `offset` would be the first of its packet.
    mutating func isUntaken(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Bool {
        cursor.packet(at: offset, in: buffer) != lastTaken
    }
}
