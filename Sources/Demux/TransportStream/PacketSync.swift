import Media
import Support

/// The positions of the transport packets in a segment (ISO/IEC 13818-1 §2.4.3.2).
struct PacketSync: Equatable, Sendable {
    static var packetSize: Int { PacketStride.packetSize }
    static var syncByte: UInt8 { PacketStride.syncByte }
    /// The bytes that are searched between two checkpoints for cancellation.
    private static let longestSearch = 1 << 16

    private(set) var blocks: [PacketBlock] = []
    /// Number of bytes outside packets: before, between and after them.
    private(set) var bytesOutOfSync = 0

    /// Finds the packets; nil if there are none.
    init?(_ bytes: [UInt8]) throws(MediaError) {
        guard let first = try Self.resync(bytes, after: -1) else { return nil }
        bytesOutOfSync = first
        var offset = first
        while offset + Self.packetSize <= bytes.count {
            try MediaError.checkCancellation()
            var end = Self.endOfBlock(bytes, from: offset)
            if end + Self.packetSize <= bytes.count {
                // If sync is found again inside a packet, that packet was cut short.
                let next = try Self.resync(bytes, after: max(offset - 1, end - Self.packetSize)) ?? bytes.count
                if next < end { end -= Self.packetSize }
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
        for part in stride(from: start, to: end, by: PacketBlock.limit * Self.packetSize) {
            let count = min((end - part) / Self.packetSize, PacketBlock.limit)
            blocks.append(PacketBlock(start: part, count: count, hasBadSyncBytes: hasBadSyncBytes))
        }
    }

    /// Treats a gap of whole packets as packets whose sync bytes are wrong, and any other gap as junk.
    private mutating func recordGap(from start: Int, to end: Int) {
        if (end - start).isMultiple(of: Self.packetSize) {
            append(from: start, to: end, hasBadSyncBytes: true)
        } else {
            bytesOutOfSync += end - start
        }
    }

    private static func endOfBlock(_ bytes: [UInt8], from start: Int) -> Int {
        var offset = start
        while offset + packetSize <= bytes.count, bytes[offset] == syncByte { offset += packetSize }
        StepCounter.add((offset - start) / packetSize + 1)
        return offset
    }

    private static func resync(_ bytes: [UInt8], after lost: Int) throws(MediaError) -> Int? {
        var offset = lost + 1
        while offset + packetSize <= bytes.count {
            try MediaError.checkCancellation()
            let part = offset..<min(offset + longestSearch, bytes.count - packetSize + 1)
            let found = part.first { isInSync(bytes, at: $0) }
            StepCounter.add((found ?? part.upperBound) - offset + 1)
            if let found { return found }
            offset = part.upperBound
        }
        return nil
    }

    /// Whether three packets begin here in a row, or fewer if the last packet ends exactly at the end of the bytes.
    private static func isInSync(_ bytes: [UInt8], at offset: Int) -> Bool {
        var next = offset
        for _ in 0..<3 {
            guard next + packetSize <= bytes.count, bytes[next] == syncByte else { return false }
            next += packetSize
            if next == bytes.count { return true }
        }
        return true
    }
}

/// Consecutive transport packets without a gap between them, `PacketBlock.limit` at most.
struct PacketBlock: Equatable, Sendable {
    /// The packets between two checkpoints for cancellation.
    static let limit = 128

    /// Offset of the first packet's sync byte.
    let start: Int
    let count: Int
    /// Whether the sync bytes of these packets are wrong. Such a packet counts only if its PID and continuity counter
    /// fit.
    let hasBadSyncBytes: Bool

    /// The offset of the sync byte of a packet.
    subscript(index: Int) -> Int { start + index * PacketSync.packetSize }
}
