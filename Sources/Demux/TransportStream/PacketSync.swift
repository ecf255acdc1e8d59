import Media
import Metering

/// The positions of the transport packets in a segment (ISO/IEC 13818-1 §2.4.3.2). An intact segment is one block.
struct PacketSync: Equatable, Sendable {
    static let packetSize = 188
    static let syncByte: UInt8 = 0x47

    private(set) var blocks: [PacketBlock] = []
    /// Number of bytes outside packets: before, between and after them.
    private(set) var bytesOutOfSync = 0

    /// Finds the packets; nil if there are none.
    init?(_ bytes: [UInt8]) {
        guard let (first, stride) = Self.detect(bytes) else { return nil }
        bytesOutOfSync = first
        var offset = first
        while offset + Self.packetSize <= bytes.count {
            var end = Self.endOfBlock(bytes, from: offset, stride: stride)
            if end + Self.packetSize <= bytes.count {
                // If sync is found again inside a packet, that packet was cut short.
                let next = Self.resync(bytes, after: max(offset - 1, end - stride), stride: stride) ?? bytes.count
                if next < end { end -= stride }
                if end > offset { append(from: offset, to: end, stride: stride, hasBadSyncBytes: false) }
                recordGap(from: end, to: next, stride: stride)
                offset = next
            } else {
                append(from: offset, to: end, stride: stride, hasBadSyncBytes: false)
                offset = end
            }
        }
        bytesOutOfSync += max(0, bytes.count - max(offset, blocks.last.map { $0[$0.count] } ?? offset))
    }

    private mutating func append(from start: Int, to end: Int, stride: Int, hasBadSyncBytes: Bool) {
        blocks.append(
            PacketBlock(start: start, count: (end - start) / stride, stride: stride, hasBadSyncBytes: hasBadSyncBytes))
    }

    /// Treats a gap of whole packets as packets whose sync bytes are wrong, and any other gap as junk.
    private mutating func recordGap(from start: Int, to end: Int, stride: Int) {
        if (end - start).isMultiple(of: stride) {
            append(from: start, to: end, stride: stride, hasBadSyncBytes: true)
        } else {
            bytesOutOfSync += end - start
        }
    }

    /// Finds the first offset with three sync bytes at a known stride.
    private static func detect(_ bytes: [UInt8]) -> (first: Int, stride: Int)? {
        for offset in bytes.indices where bytes[offset] == syncByte {
            for stride in [188, 192, 204] where isInSync(bytes, at: offset, stride: stride) {
                return (offset, stride)
            }
        }
        return nil
    }

    private static func endOfBlock(_ bytes: [UInt8], from start: Int, stride: Int) -> Int {
        var offset = start
        while offset + packetSize <= bytes.count, bytes[offset] == syncByte { offset += stride }
        StepCounter.add((offset - start) / stride + 1)
        return offset
    }

    private static func resync(_ bytes: [UInt8], after lost: Int, stride: Int) -> Int? {
        var offset = lost + 1
        defer { StepCounter.add(offset - lost) }
        while offset + packetSize <= bytes.count {
            if isInSync(bytes, at: offset, stride: stride) { return offset }
            offset += 1
        }
        return nil
    }

    /// Whether three sync bytes follow at the stride, or fewer if the last packet ends exactly at the end of the bytes.
    private static func isInSync(_ bytes: [UInt8], at offset: Int, stride: Int) -> Bool {
        var next = offset
        for _ in 0..<3 {
            guard next + packetSize <= bytes.count, bytes[next] == syncByte else { return false }
            let trailer = stride == 204 ? stride - packetSize : 0
            if next + packetSize + trailer == bytes.count { return true }
            next += stride
        }
        return true
    }
}

/// Consecutive transport packets without a gap between them.
struct PacketBlock: Equatable, Sendable {
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
