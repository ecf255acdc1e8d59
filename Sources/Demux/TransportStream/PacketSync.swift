import Media

/// A stretch of transport packets that follow each other without a gap.
struct PacketBlock: Equatable, Sendable {
    /// Offset of the first packet's sync byte.
    let start: Int
    let count: Int
    /// Distance from one sync byte to the next: 188, 192 (with a time stamp in front) or 204 (with parity behind).
    let stride: Int
    /// The sync bytes of these packets are wrong; each packet must prove itself by its PID and counter.
    let hasBadSyncBytes: Bool

    subscript(index: Int) -> Int { start + index * stride }
}

/// Where the transport packets of a segment are (ISO/IEC 13818-1 §2.4.3.2). An intact segment is one run.
struct PacketSync: Equatable, Sendable {
    static let packetSize = 188
    static let syncByte: UInt8 = 0x47

    private(set) var blocks: [PacketBlock] = []
    /// Bytes that belong to no packet: junk in front, between and behind.
    private(set) var bytesOutOfSync = 0

    /// Nil when no packet is found.
    init?(_ bytes: [UInt8]) {
        guard let (first, stride) = Self.detect(bytes) else { return nil }
        bytesOutOfSync = first
        var offset = first
        while offset + Self.packetSize <= bytes.count {
            var end = Self.endOfBlock(bytes, from: offset, stride: stride)
            if end + Self.packetSize <= bytes.count {
                // A packet that sync is found again inside of was cut short.
                let next = Self.resync(bytes, after: max(offset - 1, end - stride), stride: stride) ?? bytes.count
                if next < end { end -= stride }
                if end > offset { append(from: offset, to: end, stride: stride, isDoubtful: false) }
                recordGap(from: end, to: next, stride: stride)
                offset = next
            } else {
                append(from: offset, to: end, stride: stride, isDoubtful: false)
                offset = end
            }
        }
        bytesOutOfSync += max(0, bytes.count - max(offset, blocks.last.map { $0[$0.count] } ?? offset))
    }

    private mutating func append(from start: Int, to end: Int, stride: Int, isDoubtful: Bool) {
        blocks.append(
            PacketBlock(start: start, count: (end - start) / stride, stride: stride, hasBadSyncBytes: isDoubtful))
    }

    /// A gap of whole packets lost nothing but sync bytes; any other gap is junk.
    private mutating func recordGap(from start: Int, to end: Int, stride: Int) {
        if (end - start).isMultiple(of: stride) {
            append(from: start, to: end, stride: stride, isDoubtful: true)
        } else {
            bytesOutOfSync += end - start
        }
    }

    /// The first place where three sync bytes stand in one of the known strides.
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
        return offset
    }

    private static func resync(_ bytes: [UInt8], after lost: Int, stride: Int) -> Int? {
        var offset = lost + 1
        while offset + packetSize <= bytes.count {
            if isInSync(bytes, at: offset, stride: stride) { return offset }
            offset += 1
        }
        return nil
    }

    /// Three sync bytes in stride, or fewer when the last packet ends exactly where the bytes end.
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
