import Media

/// Finds the PES packet of ascending offsets.
struct PacketStartCursor: Sendable {
    private var index = -1

    init() {}

    /// Returns the index of the PES packet at `offset`; offsets ascend from call to call.
    mutating func packetIndex(at offset: Int, in buffer: borrowing ElementaryBuffer) -> Int? {
        while index + 1 < buffer.starts.count, buffer.starts[index + 1].offset <= offset { index += 1 }
        return index < 0 ? nil : index
    }
}
