import Media
import Metering

/// The positions of the transport packets in a segment (ISO/IEC 13818-1 §2.4.3.2).
struct PacketSync: Equatable, Sendable {
    static let packetSize = 188
    static let syncByte: UInt8 = 0x47
    /// The bytes that are searched between two checkpoints for cancellation.
    private static let longestSearch = 1 << 16

    private(set) var blocks: [PacketBlock] = []
    /// Number of bytes outside packets: before, between and after them.
    private(set) var bytesOutOfSync = 0

    /// Finds the packets; nil if there are none.
    init?(_ bytes: [UInt8]) throws(MediaError) {
        guard let (first, stride) = try Self.detect(bytes) else { return nil }
        bytesOutOfSync = first
        var offset = first
        while offset + Self.packetSize <= bytes.count {
            try MediaError.checkCancellation()
            var end = Self.endOfBlock(bytes, from: offset, stride: stride)
            if end + Self.packetSize <= bytes.count {
                // If sync is found again inside a packet, that packet was cut short.
                let next = try Self.resync(bytes, after: max(offset - 1, end - stride), stride: stride) ?? bytes.count
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
        for part in Swift.stride(from: start, to: end, by: PacketBlock.limit * stride) {
            let count = min((end - part) / stride, PacketBlock.limit)
            blocks.append(PacketBlock(start: part, count: count, stride: stride, hasBadSyncBytes: hasBadSyncBytes))
        }
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
    static func detect(_ bytes: [UInt8]) throws(MediaError) -> (first: Int, stride: Int)? {
        for start in Swift.stride(from: 0, to: bytes.count, by: longestSearch) {
            try MediaError.checkCancellation()
            let part = start..<min(start + longestSearch, bytes.count)
            for offset in part where bytes[offset] == syncByte {
                for stride in [188, 192, 204] where isInSync(bytes, at: offset, stride: stride) {
                    return (offset, stride)
                }
            }
            StepCounter.add(part.count)
        }
        return nil
    }

    private static func endOfBlock(_ bytes: [UInt8], from start: Int, stride: Int) -> Int {
        var offset = start
        while offset + packetSize <= bytes.count, bytes[offset] == syncByte { offset += stride }
        StepCounter.add((offset - start) / stride + 1)
        return offset
    }

    private static func resync(_ bytes: [UInt8], after lost: Int, stride: Int) throws(MediaError) -> Int? {
        var offset = lost + 1
        while offset + packetSize <= bytes.count {
            try MediaError.checkCancellation()
            let part = offset..<min(offset + longestSearch, bytes.count - packetSize + 1)
            let found = part.first { isInSync(bytes, at: $0, stride: stride) }
            StepCounter.add((found ?? part.upperBound) - offset + 1)
            if let found { return found }
            offset = part.upperBound
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
