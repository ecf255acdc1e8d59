import Media
import Support

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

    /// The content of the PES packets, which decides how faults are treated.
    enum Content: Sendable {
        /// Payload after the end of a PES packet belongs to it: a length of 65,536 or more wraps in 16 bits.
        case video
        /// Payload without a PES header is kept: several complete frames may be in it.
        case audio
        case metadata
    }

    private(set) var state = State.idle
    let content: Content
    var buffer = ElementaryBuffer()
    /// Payload of the last transport packet after the end of the PES packet; video only.
    private var surplus: [UInt8] = []
    private var counter = ContinuityCounter()
    /// The bytes at the end of `buffer` that are the payload of the last transport packet in this segment, by which a
    /// duplicate is recognized; 0: `lastPayload` has a copy of it.
    private var lastPayloadSize = 0
    /// Empty before any packet.
    private var lastPayload: [UInt8] = []
    private var lastWasStuffed = false
    /// Whether the last packet was a duplicate. A second duplicate would be a gap of a full round of the counter.
    private var wasDuplicate = false
    /// How the first payload of this segment relates to the preceding segment; nil before any payload.
    private(set) var segmentStart: SegmentStart?

    init(_ content: Content) { self.content = content }

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

    /// Ends a segment, after which the bytes beyond the last PES packet are decided.
    mutating func endSegment(counts: inout Counts<DemuxCount>) { endSurplus(counts: &counts) }

    /// Begins a segment. The continuity counter is checked across the segment boundary only if a PES packet is still
    /// open.
    mutating func beginSegment() {
        if isPacketComplete { counter.restart() }
        lastPayloadSize = 0
        lastPayload.removeAll(keepingCapacity: true)
        wasDuplicate = false
        segmentStart = nil
    }

    /// Whether the continuity counter of `packet` follows that of the last packet. A packet with a wrong sync byte must
    /// meet this.
    func expects(_ packet: TransportPacket) -> Bool { counter.isFollowed(by: packet) }

    /// Records a packet of this PID with unusable payload.
    mutating func recordLoss(_ packet: TransportPacket) {
        counter.record(packet)
        if case .payload = state { buffer.recordLoss() }
    }

    mutating func append(_ packet: TransportPacket, of bytes: [UInt8], counts: inout Counts<DemuxCount>) {
        guard !packet.payload.isEmpty else { return }
        if isDuplicate(packet, of: bytes) {
            counts[.duplicatePackets] += 1
            wasDuplicate = true
            return
        }
        let followsLast = expects(packet)
        let isContinuous = counter.last == nil || packet.hasDiscontinuityIndicator || followsLast
        checkContinuity(packet, isContinuous: isContinuous, counts: &counts)
        counter.record(packet)
        wasDuplicate = false
        let size = buffer.bytes.count
        if packet.startsUnit {
            if isPacketUnfinished { endUnfinished(isContinuous: followsLast, counts: &counts) }
            endSurplus(counts: &counts)
            readHeader(bytes[packet.payload])
        } else {
            appendPayload(packet.payload, of: bytes, counts: &counts)
        }
        recordPayload(packet, of: bytes, appendedAfter: size)
        lastWasStuffed = packet.isStuffed
    }

    /// Records the payload of the last packet, of which no copy is needed if it alone was appended to `buffer`.
    /// - Parameter size: the size of `buffer` before the packet.
    @inline(__always)
    private mutating func recordPayload(_ packet: TransportPacket, of bytes: [UInt8], appendedAfter size: Int) {
        let count = packet.payload.count
        lastPayloadSize = !packet.startsUnit && buffer.bytes.count - size == count ? count : 0
        guard lastPayloadSize == 0 else { return }
        lastPayload.removeAll(keepingCapacity: true)
        lastPayload.append(packet.payload, of: bytes)
    }

    /// Whether `packet` is the last packet of this segment once more.
    func isDuplicate(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        guard packet.continuityCounter == counter.last, !wasDuplicate else { return false }
        let last = lastPayloadSize > 0 ? buffer.bytes.suffix(lastPayloadSize) : lastPayload[...]
        return last.elementsEqual(bytes[packet.payload])
    }

    /// Checks continuity at the segment boundary and inside the segment.
    private mutating func checkContinuity(
        _ packet: TransportPacket, isContinuous: Bool, counts: inout Counts<DemuxCount>
    ) {
        let isFirst = segmentStart == nil
        if isFirst { segmentStart = packet.startsUnit ? .newPacket : isContinuous ? .continuation : .discontinuous }
        if isFirst, packet.startsUnit { return }  // the preceding segment ended with its PES packet
        guard !isContinuous else { return }
        counts[.transportErrors] += 1
        guard case .payload = state else { return }
        if !isPacketComplete {
            buffer.recordLoss()
        } else if !packet.startsUnit {
            endSurplus(counts: &counts)
            buffer.recordLoss(isBetweenPackets: true)
            state = .payload(remaining: nil)
        }
    }

    /// Appends the payload of a transport packet that begins no PES packet.
    private mutating func appendPayload(_ payload: Range<Int>, of bytes: [UInt8], counts: inout Counts<DemuxCount>) {
        switch state {
        case .payload(nil): buffer.append(payload, of: bytes)
        case .payload(let remaining?) where remaining >= payload.count:
            buffer.append(payload, of: bytes)
            state = .payload(remaining: remaining - payload.count)
        case .payload(0) where content == .video: appendPastEnd(bytes[payload], counts: &counts)
        case .payload(let remaining?): appendBounded(bytes[payload], remaining: remaining)
        case .idle: keepPayloadWithoutHeader(bytes[payload])
        case .header(let partial):
            StepCounter.add(partial.count)
            readHeader(partial + bytes[payload])
        }
    }

    private mutating func keepPayloadWithoutHeader(_ payload: ArraySlice<UInt8>) {
        guard content == .audio else { return }
        state = .payload(remaining: nil)
        buffer.bytes.append(contentsOf: payload)
    }

    private mutating func appendBounded(_ payload: ArraySlice<UInt8>, remaining: Int) {
        let accepted = payload.prefix(remaining)
        buffer.bytes.append(contentsOf: accepted)
        state = .payload(remaining: remaining - accepted.count)
        if content == .video { surplus = Array(payload.dropFirst(accepted.count)) }
    }

    private mutating func readHeader(_ payload: ArraySlice<UInt8>) {
        switch PESHeader.read(payload) {
        case .needsMore: state = .header(partial: Array(payload))
        case .header(let header) where content == .video || (header.payloadSize ?? 0) >= 0:
            buffer.startPacket(pts: header.pts, dts: header.dts)
            let body = payload.dropFirst(header.size)
            state = .payload(remaining: nil)
            guard let size = header.payloadSize else { return buffer.bytes.append(contentsOf: body) }
            appendBounded(body, remaining: max(0, size))
        case .header, .malformed:
            if case .payload = state { buffer.recordLoss() }
            state = .idle
            keepPayloadWithoutHeader(payload)
        }
    }
}

/// Video whose PES_packet_length is wrong. An encoder that writes a length above 65,535 writes its low 16 bits.
extension PESAssembler {
    /// Ends a PES packet before its length is reached. If no transport packet is missing, the length of video is wrong.
    /// - Parameter isContinuous: whether the continuity counter of the next packet follows.
    private mutating func endUnfinished(isContinuous: Bool, counts: inout Counts<DemuxCount>) {
        guard content == .video, isContinuous else { return buffer.recordLoss() }
        counts[.wrongPacketLengths] += 1
    }

    /// Appends payload that continues a PES packet past its length. Bytes of 0xFF alone are stuffing.
    private mutating func appendPastEnd(_ payload: ArraySlice<UInt8>, counts: inout Counts<DemuxCount>) {
        guard !payload.allSatisfy({ $0 == 0xFF }) else { return }
        counts[.wrongPacketLengths] += 1
        buffer.bytes += surplus
        surplus = []
        state = .payload(remaining: nil)
        buffer.bytes.append(contentsOf: payload)
    }

    /// Decides the bytes after the end of a PES packet that no further payload followed. They may be the end of its last
    /// access unit, which counts as damaged. Constant bytes are stuffing.
    private mutating func endSurplus(counts: inout Counts<DemuxCount>) {
        guard !surplus.isEmpty else { return }
        defer { surplus = [] }
        guard surplus.contains(where: { $0 != surplus[0] }) else { return }
        counts[.wrongPacketLengths] += 1
        buffer.bytes += surplus
        buffer.recordLoss()
    }
}
