import Media

/// Extracts the elementary stream of one PID from its transport packets: continuity, PES headers and losses (ISO/IEC
/// 13818-1 §2.4.3.3, §2.4.3.7).
struct PESAssembler: Sendable {
    enum State: Equatable, Sendable {
        /// No PES packet has begun; payload belongs to a PES packet whose header is missing.
        case idle
        /// An incomplete PES header, because it did not fit into its first transport packet.
        case header(partial: [UInt8])
        /// Inside a PES packet. `remaining`: bytes still to come, nil if it is unbounded.
        case payload(remaining: Int?)
    }

    private(set) var state = State.idle
    /// Whether payload without a PES header is kept: several complete frames may be in it.
    let keepsPayloadWithoutHeader: Bool
    var buffer = ElementaryBuffer()
    private var counter: UInt8?
    private var lastPayload: Range<Int>?
    private var lastWasStuffed = false
    /// Whether the last packet was a duplicate. A second duplicate would be a gap of a full round of the counter.
    private var wasDuplicate = false
    /// How the first payload of this segment relates to the preceding segment; nil before any payload.
    private(set) var segmentStart: SegmentStart?

    init(keepsPayloadWithoutHeader: Bool) { self.keepsPayloadWithoutHeader = keepsPayloadWithoutHeader }

    /// Whether the open PES packet is complete: its length is reached, or its last transport packet has stuffing.
    var isPacketComplete: Bool {
        switch state {
        case .idle: true
        case .header: false
        case .payload(nil): lastWasStuffed
        case .payload(let remaining?): remaining == 0
        }
    }

    /// Whether a bounded PES packet is incomplete.
    var isPacketUnfinished: Bool {
        if case .payload(let remaining?) = state { return remaining > 0 }
        return false
    }

    /// Begins a segment. The continuity counter is checked across the segment boundary only if a PES packet is still
    /// open.
    mutating func beginSegment() {
        if isPacketComplete { counter = nil }
        lastPayload = nil
        wasDuplicate = false
        segmentStart = nil
    }

    /// Whether the continuity counter of `packet` follows that of the last packet. A packet with a wrong sync byte must
    /// meet this.
    func expects(_ packet: TransportPacket) -> Bool {
        counter.map(packet.follows) ?? false
    }

    /// Records a packet of this PID with unusable payload.
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

    /// Checks continuity at the segment boundary and inside the segment.
    private mutating func checkContinuity(_ packet: TransportPacket, isContinuous: Bool, counts: inout DemuxCounts) {
        let isFirst = segmentStart == nil
        if isFirst { segmentStart = packet.startsUnit ? .newPacket : isContinuous ? .continuation : .discontinuous }
        if isFirst, packet.startsUnit { return }  // the preceding segment ended with its PES packet
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
        case .header(let partial): readHeader(partial + payload)
        case .payload(nil): buffer.bytes.append(contentsOf: payload)
        case .payload(let remaining?):
            let accepted = payload.prefix(remaining)
            buffer.bytes.append(contentsOf: accepted)
            state = .payload(remaining: remaining - accepted.count)
        }
    }

    private mutating func readHeader(_ payload: ArraySlice<UInt8>) {
        switch PESHeader.read(payload) {
        case .needsMore: state = .header(partial: Array(payload))
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
