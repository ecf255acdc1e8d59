import Media
import Support

/// Finds the transport packets in the bytes of one connection, which arrive in parts of any size.
///
/// A packet counts once the next one begins where it should. If sync is found again inside a packet, that packet was cut
/// short.
struct PacketFraming: Sendable {
    /// Bytes with the offsets of the packets in them, each of 188 bytes.
    struct Packets {
        let bytes: [UInt8]
        var offsets: [Int] = []
    }

    private static let resyncPackets = 3

    /// Bytes that are not decided yet: less than a packet, or bytes without sync.
    private var rest: [UInt8] = []
    private var size: Int?
    /// Bytes of `rest` that were searched for sync without success.
    private var searched = 0
    private(set) var bytesOutOfSync = 0

    mutating func append(_ part: [UInt8]) -> Packets {
        var packets = Packets(bytes: rest + part)
        var position = 0
        if size == nil { position = start(in: packets.bytes) }
        if size != nil { position = read(from: position, into: &packets) }
        rest = Array(packets.bytes[position...])
        StepCounter.add(packets.offsets.count + 1)
        return packets
    }

    mutating func finish() -> Packets {
        defer { rest = [] }
        let isPacket = size != nil && searched == 0 && rest.count >= PacketStride.packetSize
        if !isPacket { bytesOutOfSync += rest.count }
        return Packets(bytes: rest, offsets: isPacket ? [0] : [])
    }

    /// Returns the offset of the first packet, or of the bytes that may be part of it.
    private mutating func start(in bytes: [UInt8]) -> Int {
        StepCounter.add(min(bytes.count, PacketStride.longestLead))
        let stride = PacketStride(recognizing: bytes)
        size = stride?.size
        let start =
            stride?.start ?? (bytes.count > PacketStride.longestLead ? bytes.count - PacketStride.packetSize : 0)
        bytesOutOfSync += start
        return start
    }

    /// Returns the offset of the first byte that is not decided.
    private mutating func read(from start: Int, into packets: inout Packets) -> Int {
        let bytes = packets.bytes
        var position = start
        while let size, position + size < bytes.count {
            if bytes[position + size] == PacketStride.syncByte, searched == 0 {
                packets.offsets.append(position)
                position += size
                continue
            }
            guard let next = resync(bytes, by: size, after: position) else {
                guard bytes.count - position > PacketStride.longestLead else { break }
                bytesOutOfSync += bytes.count - position
                (self.size, searched, position) = (nil, 0, bytes.count)
                break
            }
            let isWhole = next.start >= position + PacketStride.packetSize
            if isWhole { packets.offsets.append(position) }
            bytesOutOfSync += next.start - (isWhole ? min(position + size, next.start) : position)
            (searched, position, self.size) = (0, next.start, next.size)
        }
        return position
    }

    /// Returns where sync is found again, with the distance of the packets there; nil if the bytes are too few, or have none.
    private mutating func resync(
        _ bytes: [UInt8], by size: Int, after position: Int
    ) -> (start: Int, size: Int)? {
        let end = bytes.count - (Self.resyncPackets - 1) * size
        let first = position + 1 + searched
        guard first < end else { return nil }
        StepCounter.add(end - first)
        let next = (first..<end).first { PacketStride.hasPackets(Self.resyncPackets, in: bytes, from: $0, by: size) }
        searched = end - position - 1
        if let next { return (next, size) }
        // The packet may be the first of another size.
        guard let other = PacketStride(recognizing: Array(bytes[position...])), other.size != size else { return nil }
        return (position + other.start, other.size)
    }
}
