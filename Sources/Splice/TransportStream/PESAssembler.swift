/// Takes the payload of one PID out of its transport packets: continuity, PES headers, what is missing where
/// (ISO/IEC 13818-1 §2.4.3.3, §2.4.3.7).
struct PESAssembler: Sendable {
    enum State: Equatable, Sendable {
        /// No PES packet has begun; what comes belongs to nobody, or to a packet whose header was lost.
        case idle
        /// A PES header that did not fit into its first transport packet.
        case header(gathered: [UInt8])
        /// Inside a PES packet; `remaining` bytes are still due, nil when it is unbounded.
        case payload(remaining: Int?)
    }

    private(set) var state = State.idle
    /// What comes without a header is kept as well: several frames may lie in it.
    let keepsHeadless: Bool
    var buffer = ElementaryBuffer()
    private var counter: UInt8?
    private var lastPayload: Range<Int>?
    private var lastWasStuffed = false
    /// The last packet was sent twice; a third time would be a gap of a whole round of the counter.
    private var wasRepeated = false
    /// How this segment's first payload met what the segment before left; nil before any.
    private(set) var entry: Entry?

    enum Entry: Equatable, Sendable { case newPacket, continuation, broken }

    init(keepsHeadless: Bool) { self.keepsHeadless = keepsHeadless }

    /// The open PES packet is whole: its length is reached, or its last transport packet was filled up.
    var isPacketComplete: Bool {
        switch state {
        case .idle: true
        case .header: false
        case .payload(nil): lastWasStuffed
        case .payload(let remaining?): remaining == 0
        }
    }

    /// A bounded PES packet that is not at its end.
    var isPacketDue: Bool {
        if case .payload(let remaining?) = state { return remaining > 0 }
        return false
    }

    /// Only a PES packet that is still open lets a counter be expected over the border of a segment.
    mutating func beginSegment() {
        if isPacketComplete { counter = nil }
        lastPayload = nil
        wasRepeated = false
        entry = nil
    }

    /// The counter says that this packet follows the last one; a packet whose sync byte was hit must show this.
    func expects(_ packet: TransportPacket) -> Bool {
        counter.map { ($0 &+ 1) & 15 == packet.continuityCounter } ?? false
    }

    /// A packet of this PID came whose content cannot be used.
    mutating func lose(_ packet: TransportPacket) {
        counter = packet.continuityCounter
        if case .payload = state { buffer.noteFault() }
    }

    mutating func take(_ packet: TransportPacket, of bytes: [UInt8], counts: inout DemuxCounts) {
        guard !packet.payload.isEmpty else { return }
        if isRepetition(packet, of: bytes) {
            counts.duplicatePackets += 1
            wasRepeated = true
            return
        }
        let isContinuous = counter == nil || packet.announcesDiscontinuity || expects(packet)
        meet(packet, isContinuous: isContinuous, counts: &counts)
        counter = packet.continuityCounter
        lastPayload = packet.payload
        wasRepeated = false
        if packet.startsUnit {
            begin(bytes[packet.payload])
        } else {
            append(bytes[packet.payload])
        }
        lastWasStuffed = packet.isStuffed
    }

    private func isRepetition(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        guard packet.continuityCounter == counter, let lastPayload, !wasRepeated else { return false }
        return bytes[lastPayload] == bytes[packet.payload]
    }

    /// Judges the border of the segment, or a gap of the counter.
    private mutating func meet(_ packet: TransportPacket, isContinuous: Bool, counts: inout DemuxCounts) {
        let isFirst = entry == nil
        if isFirst { entry = packet.startsUnit ? .newPacket : isContinuous ? .continuation : .broken }
        if isFirst, packet.startsUnit { return }  // the segment before ended with its PES packet
        guard !isContinuous else { return }
        counts.transportErrors += 1
        guard case .payload = state else { return }
        if !isPacketComplete {
            buffer.noteFault()
        } else if !packet.startsUnit {
            buffer.noteFault(isBetweenPackets: true)
            state = .payload(remaining: nil)
        }
    }

    private mutating func begin(_ payload: ArraySlice<UInt8>) {
        if isPacketDue { buffer.noteFault() }
        readHeader(payload)
    }

    private mutating func append(_ payload: ArraySlice<UInt8>) {
        switch state {
        case .idle:
            guard keepsHeadless else { break }
            state = .payload(remaining: nil)
            buffer.bytes.append(contentsOf: payload)
        case .header(let gathered): readHeader(gathered + payload)
        case .payload(nil): buffer.bytes.append(contentsOf: payload)
        case .payload(let remaining?):
            let part = payload.prefix(remaining)
            buffer.bytes.append(contentsOf: part)
            state = .payload(remaining: remaining - part.count)
        }
    }

    private mutating func readHeader(_ payload: ArraySlice<UInt8>) {
        switch PESHeader.read(payload) {
        case .needsMore: state = .header(gathered: Array(payload))
        case .malformed:
            if case .payload = state { buffer.noteFault() }
            state = .idle
            if keepsHeadless { append(payload) }
        case .header(let header):
            buffer.startPacket(pts: header.pts, dts: header.dts)
            state = .payload(remaining: header.payloadSize)
            append(payload.dropFirst(header.size))
        }
    }
}
