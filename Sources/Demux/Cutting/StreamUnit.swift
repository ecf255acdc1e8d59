import Media
import Support

/// A PES packet of an endless stream, or a packet with sections, as the transport packets that carry it.
struct StreamUnit: Equatable, Sendable {
    /// The values by which two units are the same frame.
    struct Identity: Hashable, Sendable {
        /// 33 bits.
        let time: Ticks
        let digest: UInt64
    }

    let pid: UInt16
    /// Packets of 188 bytes. Their continuity counters begin with 0, and jump where packets are missing.
    let packets: [UInt8]
    /// The decoding time, of 33 bits; nil if it has none.
    let time: Ticks?
    /// Zero unless the unit is of the stream that is cut by.
    let digest: UInt64
    let isRandomAccess: Bool
    let followsLoss: Bool

    var identity: Identity? { time.map { Identity(time: $0, digest: digest) } }
}

/// Collects the packets of one PID into units.
struct StreamUnitAssembler: Sendable {
    /// How units begin, and where decoding can begin.
    enum Content: Equatable, Sendable {
        case video(UInt8)
        case audio
        case data
        /// Each packet is a unit.
        case sections

        /// The length of a video packet may be wrong: one above 65,535 wraps in 16 bits. It ends where the next begins.
        var isVideo: Bool { if case .video = self { true } else { false } }
    }

    /// The outcome of packets that no unit holds.
    struct Counts: Equatable, Sendable {
        var losses = 0
        var oversized = 0
    }

    /// The largest unit: a picture of 4 MiB.
    static let byteLimit = 4 << 20

    private struct Open: Equatable, Sendable {
        var packets: [UInt8] = []
        var payload: [UInt8] = []
        var counter: UInt8 = 0
        var followsLoss = false
        var hasIndicator = false
        var isStuffed = false
        /// Bytes of `payload` at which the PES packet ends; nil if it is unbounded, or its header is incomplete.
        var size: Int?
    }

    let pid: UInt16
    let content: Content
    /// Whether units of this stream are compared, and cut at.
    let isAnchor: Bool
    private var open: Open?
    private var counter = ContinuityCounter()
    private var lastPayload: [UInt8] = []
    private var hasLoss = false
    private var scrambling = ScramblingMark()

    init(pid: UInt16, content: Content, isAnchor: Bool) {
        self.pid = pid
        self.content = content
        self.isAnchor = isAnchor
    }

    mutating func append(
        _ packet: TransportPacket, of bytes: [UInt8], at offset: Int, counts: inout Counts
    ) -> [StreamUnit] {
        guard !packet.payload.isEmpty else { return [] }
        let payload = bytes[packet.payload]
        if packet.continuityCounter == counter.last, lastPayload.elementsEqual(payload) { return [] }
        let isLoss = !packet.hasDiscontinuityIndicator && counter.last != nil && !counter.isFollowed(by: packet)
        if isLoss { counts.losses += 1 }
        counter.record(packet)
        // Its storage stays.
        lastPayload.removeAll(keepingCapacity: true)
        lastPayload += payload
        hasLoss = hasLoss || isLoss
        var units: [StreamUnit] = []
        if packet.startsUnit || content == .sections {
            if let unit = takeOpen() { units.append(unit) }
            open = Open(followsLoss: hasLoss)
            hasLoss = false
        }
        guard open != nil else { return units }
        add(bytes, at: offset, payload, packet, counts: &counts)
        if isComplete, let unit = takeOpen() { units.append(unit) }
        return units
    }

    /// Whether the payload of `packet` is clear. CRC_32 tells that of a section, to whoever reads it.
    mutating func isClear(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        content == .sections || scrambling.isClear(packet, of: bytes)
    }

    mutating func recordLoss(_ packet: TransportPacket) {
        hasLoss = true
        counter.record(packet)
    }

    /// Ends the open unit.
    /// - Parameter isEnd: whether nothing tells that it is whole, because the connection ended. Then it is returned only if
    ///   its last packet is stuffed, as that of a whole one is.
    mutating func close(isEnd: Bool) -> StreamUnit? {
        defer {
            (open, lastPayload, hasLoss) = (nil, [], false)
            counter.restart()
        }
        guard let open, open.size == nil, !isEnd || open.isStuffed, content != .sections else { return nil }
        return takeOpen()
    }

    private var isComplete: Bool {
        guard let open else { return false }
        return content == .sections || open.size.map { open.payload.count >= $0 } ?? false
    }

    private mutating func add(
        _ bytes: [UInt8], at offset: Int, _ payload: ArraySlice<UInt8>, _ packet: TransportPacket, counts: inout Counts
    ) {
        // Moved out, so that its arrays are not copied.
        guard var unit = open.take() else { return }
        guard unit.packets.count < Self.byteLimit else {
            counts.oversized += 1
            return
        }
        if hasLoss {
            unit.counter &+= 1
            hasLoss = false
        }
        let start = unit.packets.count
        unit.packets += bytes[offset..<offset + PacketStride.packetSize]
        // Without transport_scrambling_control, which is wrong if it is set.
        unit.packets[start + 3] = unit.packets[start + 3] & 0x30 | unit.counter & 15
        unit.counter &+= 1
        unit.isStuffed = packet.isStuffed
        unit.hasIndicator = unit.hasIndicator || Self.hasRandomAccessIndicator(bytes, at: offset)
        unit.payload += payload
        if !content.isVideo, unit.size == nil, start < 3 * PacketStride.packetSize,
            case .header(let header) = PESHeader.read(unit.payload[...])
        {
            unit.size = header.payloadSize.map { max(0, $0) + header.size }
        }
        open = unit
    }

    private mutating func takeOpen() -> StreamUnit? {
        guard let unit = open.take() else { return nil }
        var header: PESHeader?
        if content != .sections, case .header(let read) = PESHeader.read(unit.payload[...]) { header = read }
        if content != .sections, header == nil { return nil }
        let mediaStart = min(header?.size ?? 0, unit.payload.count)
        StepCounter.add(unit.packets.count / PacketStride.packetSize)
        return StreamUnit(
            pid: pid, packets: unit.packets, time: header?.dts?.wire,
            digest: isAnchor ? Self.digest(of: unit.payload[mediaStart...]) : 0,
            isRandomAccess: isAnchor && isRandomAccess(unit, from: mediaStart),
            followsLoss: unit.followsLoss)
    }

    /// The length of a frame and its first and last bytes tell it from every other one of the same time.
    private static func digest(of media: ArraySlice<UInt8>) -> UInt64 {
        let ends = media.prefix(1024) + media.suffix(64)
        return ContentHash.digest(of: ends) ^ UInt64(media.count) &* 0x9E37_79B9_7F4A_7C15
    }

    private static func hasRandomAccessIndicator(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes[offset + 3] & 0x20 != 0 && bytes[offset + 4] > 0 && bytes[offset + 5] & 0x40 != 0
    }

    private func isRandomAccess(_ unit: Open, from mediaStart: Int) -> Bool {
        switch content {
        case .video(let streamType):
            RandomAccessSearch(streamType: streamType)?.isFound(in: unit.payload, from: mediaStart) ?? unit.hasIndicator
        case .audio, .data, .sections: true
        }
    }
}

/// Finds out by its start codes whether decoding can begin with a picture.
private struct RandomAccessSearch {
    private enum Verdict { case found, absent, undecided }

    private let verdict: (UInt8) -> Verdict

    /// nil for a stream_type whose start codes are not known.
    init?(streamType: UInt8) {
        switch streamType {
        case 0x01, 0x02:
            verdict = { [0xB3, 0xB8].contains($0) ? .found : (0x01...0xAF).contains($0) ? .absent : .undecided }
        case 0x1B:
            verdict = { [5, 7].contains($0 & 0x1F) ? .found : (1...4).contains($0 & 0x1F) ? .absent : .undecided }
        case 0x24:
            verdict = {
                (16...21).contains($0 >> 1) || (32...33).contains($0 >> 1)
                    ? .found : $0 >> 1 < 16 ? .absent : .undecided
            }
        default: return nil
        }
    }

    func isFound(in bytes: [UInt8], from start: Int) -> Bool {
        var position = start
        while let code = AnnexB.nextStartCode(bytes, from: position, to: bytes.count), code + 3 < bytes.count {
            switch verdict(bytes[code + 3]) {
            case .found: return true
            case .absent: return false
            case .undecided: position = code + 3
            }
        }
        return false
    }
}
