import Media

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
    let keepsPayloadWithoutHeader: Bool
    var buffer = ElementaryBuffer()
    private var counter: UInt8?
    private var lastPayload: Range<Int>?
    private var lastWasStuffed = false
    /// The last packet was sent twice; a third time would be a gap of a whole round of the counter.
    private var wasDuplicate = false
    /// How this segment's first payload met what the segment before left; nil before any.
    private(set) var segmentStart: PESStart?

    enum PESStart: Equatable, Sendable { case newPacket, continuation, discontinuous }

    init(keepsHeadless: Bool) { self.keepsPayloadWithoutHeader = keepsHeadless }

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
    var isPacketUnfinished: Bool {
        if case .payload(let remaining?) = state { return remaining > 0 }
        return false
    }

    /// Only a PES packet that is still open lets a counter be expected over the border of a segment.
    mutating func beginSegment() {
        if isPacketComplete { counter = nil }
        lastPayload = nil
        wasDuplicate = false
        segmentStart = nil
    }

    /// The counter says that this packet follows the last one; a packet whose sync byte was hit must show this.
    func expects(_ packet: TransportPacket) -> Bool {
        counter.map { ($0 &+ 1) & 15 == packet.continuityCounter } ?? false
    }

    /// A packet of this PID came whose content cannot be used.
    mutating func recordLoss(_ packet: TransportPacket) {
        counter = packet.continuityCounter
        if case .payload = state { buffer.recordLoss() }
    }

    mutating func append(_ packet: TransportPacket, of bytes: [UInt8], counts: inout DemuxCounts) {
        guard !packet.payload.isEmpty else { return }
        if isDuplicate(packet, of: bytes) {
            counts.duplicatePackets += 1
            wasDuplicate = true
            return
        }
        let isContinuous = counter == nil || packet.hasDiscontinuityIndicator || expects(packet)
        checkContinuity(packet, isContinuous: isContinuous, counts: &counts)
        counter = packet.continuityCounter
        lastPayload = packet.payload
        wasDuplicate = false
        if packet.startsUnit {
            begin(bytes[packet.payload])
        } else {
            appendPayload(bytes[packet.payload])
        }
        lastWasStuffed = packet.isStuffed
    }

    private func isDuplicate(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        guard packet.continuityCounter == counter, let lastPayload, !wasDuplicate else { return false }
        return bytes[lastPayload] == bytes[packet.payload]
    }

    /// Judges the border of the segment, or a gap of the counter.
    private mutating func checkContinuity(_ packet: TransportPacket, isContinuous: Bool, counts: inout DemuxCounts) {
        let isFirst = segmentStart == nil
        if isFirst { segmentStart = packet.startsUnit ? .newPacket : isContinuous ? .continuation : .discontinuous }
        if isFirst, packet.startsUnit { return }  // the segment before ended with its PES packet
        guard !isContinuous else { return }
        counts.transportErrors += 1
        guard case .payload = state else { return }
        if !isPacketComplete {
            buffer.recordLoss()
        } else if !packet.startsUnit {
            buffer.recordLoss(isBetweenPackets: true)
            state = .payload(remaining: nil)
        }
    }

    private mutating func begin(_ payload: ArraySlice<UInt8>) {
        if isPacketUnfinished { buffer.recordLoss() }
        readHeader(payload)
    }

    private mutating func appendPayload(_ payload: ArraySlice<UInt8>) {
        switch state {
        case .idle:
            guard keepsPayloadWithoutHeader else { break }
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
            if case .payload = state { buffer.recordLoss() }
            state = .idle
            if keepsPayloadWithoutHeader { appendPayload(payload) }
        case .header(let header):
            buffer.startPacket(pts: header.pts, dts: header.dts)
            state = .payload(remaining: header.payloadSize)
            appendPayload(payload.dropFirst(header.size))
        }
    }
}
