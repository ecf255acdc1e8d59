import Media

/// Puts the datagrams of a stream into order, as far as RTP numbers them (RFC 3550 §5.1).
///
/// A missing datagram delays the following ones until one of them has waited for `window`. Datagrams without RTP are
/// passed on as they arrive. RTP is recognized by its header, because streams send RTP without announcing it.
struct DatagramOrder: Sendable {
    struct Counts: Equatable, Sendable {
        /// Datagrams that never arrived.
        var lost = 0
        /// Datagrams that arrived twice, or too late.
        var repeated = 0
        /// Datagrams without a transport stream.
        var foreign = 0
    }

    /// How long a missing datagram is waited for.
    static let window = Duration.milliseconds(200)
    /// The most datagrams that wait for a missing one.
    static let limit = 256
    /// A larger step of the sequence number means that another stream began.
    private static let longestStep = 1024

    private var next: UInt16?
    /// Without RTP: bytes of the last transport packet that the next datagram begins with. ffmpeg fills datagrams of 1,472
    /// bytes, wherever a packet ends.
    private var missingBytes: Int?
    private var held: [UInt16: (payload: ArraySlice<UInt8>, arrivedAt: Duration)] = [:]
    private(set) var counts = Counts()

    /// - Returns: the bytes that are in order now.
    mutating func append(_ datagram: [UInt8], at now: Duration) -> [UInt8] {
        if let start = firstPacket(in: datagram) {
            let rest = (datagram.count - start) % PacketStride.packetSize
            missingBytes = rest == 0 ? 0 : PacketStride.packetSize - rest
            return datagram
        }
        guard let packet = RTPPacket(datagram) else {
            counts.foreign += 1
            return []
        }
        let expected = next ?? packet.sequenceNumber
        let step = Int(Int16(bitPattern: packet.sequenceNumber &- expected))
        if abs(step) > Self.longestStep {
            let rest = release(all: true, at: now)
            next = packet.sequenceNumber &+ 1
            return rest + packet.payload
        }
        next = expected
        guard step >= 0, held[packet.sequenceNumber] == nil else {
            counts.repeated += 1
            return []
        }
        held[packet.sequenceNumber] = (packet.payload, now)
        return release(all: false, at: now)
    }

    /// Where the first transport packet of a datagram without RTP begins; nil if it is another datagram.
    private func firstPacket(in datagram: [UInt8]) -> Int? {
        guard !datagram.isEmpty else { return nil }
        // A byte within a packet may be 0x47 too.
        if let start = missingBytes, (1...datagram.count).contains(start), Self.hasPackets(datagram, from: start) {
            return start
        }
        if datagram.first == Self.syncByte { return 0 }
        guard RTPPacket(datagram) == nil else { return nil }
        return (1..<PacketStride.packetSize).first {
            $0 + PacketStride.packetSize < datagram.count && Self.hasPackets(datagram, from: $0)
        }
    }

    private static func hasPackets(_ datagram: [UInt8], from start: Int) -> Bool {
        stride(from: start, to: datagram.count, by: PacketStride.packetSize).allSatisfy { datagram[$0] == syncByte }
    }

    /// Returns the bytes that are in order, and bytes that have waited too long.
    mutating func release(at now: Duration) -> [UInt8] { release(all: false, at: now) }

    private mutating func release(all: Bool, at now: Duration) -> [UInt8] {
        var bytes: [UInt8] = []
        while !held.isEmpty, let number = next {
            if let packet = held.removeValue(forKey: number) {
                bytes += packet.payload
            } else if all || held.count > Self.limit
                || held.values.contains(where: { now - $0.arrivedAt >= Self.window })
            {
                counts.lost += 1
            } else {
                break
            }
            next = number &+ 1
        }
        return bytes
    }

    private static let syncByte: UInt8 = 0x47
}

/// An RTP packet with transport packets (RFC 3550 §5.1, RFC 2250 §2).
struct RTPPacket: Equatable, Sendable {
    let sequenceNumber: UInt16
    let payload: ArraySlice<UInt8>

    /// nil if the datagram is not such a packet.
    init?(_ datagram: [UInt8]) {
        guard datagram.count > 12, datagram[0] & 0xC0 == 0x80 else { return nil }
        var start = 12 + 4 * Int(datagram[0] & 0x0F)
        if datagram[0] & 0x10 != 0 {
            guard datagram.count >= start + 4 else { return nil }
            start += 4 + 4 * (Int(datagram[start + 2]) << 8 | Int(datagram[start + 3]))
        }
        let padding = datagram[0] & 0x20 != 0 ? Int(datagram[datagram.count - 1]) : 0
        guard start < datagram.count - padding, datagram[start] == 0x47 else { return nil }
        sequenceNumber = UInt16(datagram[2]) << 8 | UInt16(datagram[3])
        payload = datagram[start..<datagram.count - padding]
    }
}
