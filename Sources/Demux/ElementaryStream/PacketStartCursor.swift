import Media

/// Finds the PES packet of ascending offsets.
struct PacketStartCursor: Sendable {
    private var index = -1

    init() {}

    /// Returns the start of an access unit whose first unit is `unit`. Zeros before its start code belong to it, but
    /// never those of an earlier PES packet, which has other timestamps.
    mutating func startOffset(of unit: NALUnit, in buffer: borrowing ElementaryBuffer) -> Int {
        let code = unit.start - 3
        let start = packetIndex(at: code, in: buffer).map { buffer.starts[$0].offset } ?? 0
        return max(unit.prefix, start)
    }

    /// Returns the index of the PES packet at `offset`; offsets ascend from call to call.
    mutating func packetIndex(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while index + 1 < buffer.starts.count, buffer.starts[index + 1].offset <= offset { index += 1 }
        return index < 0 ? nil : index
    }
}
