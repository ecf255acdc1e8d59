import Media
import Support

/// The positions of the transport packets in a segment (ISO/IEC 13818-1 §2.4.3.2).
///
/// The packets of a file may be 192 or 204 bytes apart.
struct PacketSync: Equatable, Sendable {
    private static var packetSize: Int { PacketStride.packetSize }
    private static let longestSearch = 1 << 16

    private(set) var blocks: [PacketBlock] = []
    /// Number of bytes outside packets: before, between and after them.
    private(set) var bytesOutOfSync = 0
    private let stride: Int

    /// Finds the packets; nil if there are none.
    init?(_ bytes: [UInt8]) throws(MediaError) {
        stride = Self.stride(of: bytes)
        guard let first = try Self.resync(bytes, after: -1, by: stride) else { return nil }
        bytesOutOfSync = first
        var offset = first
        while offset + Self.packetSize <= bytes.count {
            try MediaError.checkCancellation()
            var end = endOfBlock(bytes, from: offset)
            if end + Self.packetSize <= bytes.count {
                // If sync is found again inside a packet, that packet was cut short.
                let next = try Self.resync(bytes, after: max(offset - 1, end - stride), by: stride) ?? bytes.count
                if next < end { end -= stride }
                if end > offset { append(from: offset, to: end, hasBadSyncBytes: false) }
                recordGap(from: end, to: next)
                offset = next
            } else {
                append(from: offset, to: end, hasBadSyncBytes: false)
                offset = end
            }
        }
        bytesOutOfSync += max(0, bytes.count - max(offset, blocks.last.map { $0[$0.count] } ?? offset))
    }

    private mutating func append(from start: Int, to end: Int, hasBadSyncBytes: Bool) {
        for part in Swift.stride(from: start, to: end, by: PacketBlock.limit * stride) {
            let count = min((end - part) / stride, PacketBlock.limit)
            blocks.append(PacketBlock(start: part, count: count, stride: stride, hasBadSyncBytes: hasBadSyncBytes))
        }
    }

    /// Treats a gap of whole packets as packets whose sync bytes are wrong, and any other gap as junk.
    private mutating func recordGap(from start: Int, to end: Int) {
        if (end - start).isMultiple(of: stride) {
            append(from: start, to: end, hasBadSyncBytes: true)
        } else {
            bytesOutOfSync += end - start
        }
    }

    /// The stride of the first packets; 188 if they are too few to tell.
    private static func stride(of bytes: [UInt8]) -> Int {
        guard !PacketStride.hasPackets(3, in: bytes, from: 0, by: packetSize) else { return packetSize }
        return PacketStride(recognizing: bytes)?.size ?? packetSize
    }

    private func endOfBlock(_ bytes: [UInt8], from start: Int) -> Int {
        var offset = start
        while offset + Self.packetSize <= bytes.count, bytes[offset] == PacketStride.syncByte { offset += stride }
        StepCounter.add((offset - start) / stride + 1)
        return offset
    }

    private static func resync(_ bytes: [UInt8], after lost: Int, by stride: Int) throws(MediaError) -> Int? {
        var offset = lost + 1
        while offset + packetSize <= bytes.count {
            try MediaError.checkCancellation()
            let part = offset..<min(offset + longestSearch, bytes.count - packetSize + 1)
            let found = part.first { isInSync(bytes, at: $0, by: stride) }
            StepCounter.add((found ?? part.upperBound) - offset + 1)
            if let found { return found }
            offset = part.upperBound
        }
        return nil
    }

    /// Whether three packets begin here in a row, or fewer if the last packet ends exactly at the end of the bytes.
    private static func isInSync(_ bytes: [UInt8], at offset: Int, by stride: Int) -> Bool {
        let (count, isEnd) = packets(upTo: 3, in: bytes, at: offset, by: stride)
        return count == 3 || isEnd
    }

    /// Returns how many packets begin in a row at `offset`, up to `limit`, and whether the bytes end with the last of them.
    static func packets(
        upTo limit: Int, in bytes: [UInt8], at offset: Int, by stride: Int
    ) -> (count: Int, isEnd: Bool) {
        var (count, next) = (0, offset)
        while count < limit {
            guard next + packetSize <= bytes.count, bytes[next] == PacketStride.syncByte else { return (count, false) }
            count += 1
            if next + packetSize == bytes.count || next + stride == bytes.count { return (count, true) }
            next += stride
        }
        return (count, false)
    }
}

/// Consecutive transport packets without a gap between them, `PacketBlock.limit` at most.
struct PacketBlock: Equatable, Sendable {
    /// The packets between two checkpoints for cancellation.
    static let limit = 128

    let start: Int
    let count: Int
    let stride: Int
    /// Whether the sync bytes of these packets are wrong. Such a packet counts only if its PID and continuity counter
    /// fit.
    let hasBadSyncBytes: Bool

    subscript(index: Int) -> Int { start + index * stride }
}
