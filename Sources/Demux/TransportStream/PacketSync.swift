import Media
import Support

/// The positions of the transport packets in a segment (ISO/IEC 13818-1 §2.4.3.2).
///
/// The packets of a file may be 192 or 204 bytes apart, and the distance may change where a recorder joined two files.
struct PacketSync: Equatable, Sendable {
    private static var packetSize: Int { PacketStride.packetSize }
    private static let longestSearch = 1 << 16

    private(set) var blocks: [PacketBlock] = []
    /// Number of bytes outside packets: before, between and after them.
    private(set) var bytesOutOfSync = 0
    private var stride: Int

    /// Finds the packets; nil if there are none.
    init?(_ bytes: [UInt8]) throws(MediaError) {
        stride = Self.stride(of: bytes)
        guard let first = try resync(bytes, from: 0) else { return nil }
        bytesOutOfSync = first.offset
        var offset = first.offset
        while offset + Self.packetSize <= bytes.count {
            try MediaError.checkCancellation()
            let end = endOfBlock(bytes, from: offset)
            guard end + Self.packetSize <= bytes.count else {
                append(from: offset, to: end, hasBadSyncBytes: false)
                offset = end
                break
            }
            // The last packet may be the first of another size. If sync is found again inside it, it was cut short.
            let last = end - stride
            let next = try resync(bytes, from: last) ?? (bytes.count, stride)
            let isCut = next.offset < last + Self.packetSize
            append(from: offset, to: isCut ? last : end, hasBadSyncBytes: false)
            recordGap(from: isCut ? last : min(end, next.offset), to: next.offset)
            (offset, stride) = next
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

    /// Returns the next offset at which packets begin, and their distance: `stride`, unless packets of another size follow.
    private func resync(
        _ bytes: [UInt8], from start: Int
    ) throws(MediaError) -> (offset: Int, stride: Int)? {
        var offset = start
        while offset + Self.packetSize <= bytes.count {
            try MediaError.checkCancellation()
            let part = offset..<min(offset + Self.longestSearch, bytes.count - Self.packetSize + 1)
            for position in part where bytes[position] == PacketStride.syncByte {
                guard let found = strideInSync(bytes, at: position) else { continue }
                StepCounter.add(position - offset + 1)
                return (position, found)
            }
            StepCounter.add(part.count + 1)
            offset = part.upperBound
        }
        return nil
    }

    /// The distance of the packets that begin here in a row; nil if too few do.
    ///
    /// Three packets count, or fewer if the last of them ends exactly at the end of the bytes. Packets of another size have to
    /// prove it.
    private func strideInSync(_ bytes: [UInt8], at offset: Int) -> Int? {
        let (count, isEnd) = Self.packets(upTo: 3, in: bytes, at: offset, by: stride)
        if count == 3 || isEnd { return stride }
        return PacketStride.sizes.first { size in
            guard size != stride else { return false }
            let (count, isEnd) = Self.packets(upTo: PacketStride.provingPackets, in: bytes, at: offset, by: size)
            return count == PacketStride.provingPackets || count >= 3 && isEnd
        }
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
