import Media
import Support

/// Assembles the PSI sections of one PID from transport packets (ISO/IEC 13818-1 §2.4.4).
struct SectionAssembler: Sendable {
    /// The largest section: section_length has 12 bits. Its two highest bits are 0 in a PAT or PMT; private sections
    /// may have up to 4096 bytes.
    private static let largestSection = 4096

    private var pending: [UInt8] = []
    private var isOpen = false
    private var counter: UInt8?
    /// Whether a packet of this segment was read: a duplicate is one of the packet before it, in the same segment.
    private var hasPacket = false

    /// - Returns: The sections that this packet completes, from table_id to CRC_32, not checked.
    mutating func append(_ packet: TransportPacket, of bytes: [UInt8]) -> [[UInt8]] {
        guard !packet.payload.isEmpty else { return [] }
        let isNext = counter.map(packet.follows) ?? true
        if packet.continuityCounter == counter, isOpen, hasPacket { return [] }  // duplicate
        hasPacket = true
        counter = packet.continuityCounter
        if !isNext { drop() }
        guard packet.startsUnit else {
            if isOpen { pending += bytes[packet.payload] }
            return completed()
        }
        let pointer = Int(bytes[packet.payload.lowerBound])
        let start = packet.payload.lowerBound + 1 + pointer
        guard start < packet.payload.upperBound else {
            drop()
            return []
        }
        if isOpen { pending += bytes[packet.payload.lowerBound + 1..<start] }
        let previous = completed()
        pending = Array(bytes[start..<packet.payload.upperBound])
        isOpen = true
        return previous + completed()
    }

    /// Begins a segment. The continuity counter is checked across the segment boundary only if a section is still open.
    mutating func beginSegment() {
        hasPacket = false
        if !isOpen { counter = nil }
    }

    /// Discards an incomplete section, at a gap or at the start of a segment.
    mutating func drop() {
        pending.removeAll(keepingCapacity: true)
        isOpen = false
    }

    private mutating func completed() -> [[UInt8]] {
        var sections: [[UInt8]] = []
        while isOpen, pending.count >= 3 {
            guard pending[0] != 0xFF else {  // stuffing up to the end of the packet
                drop()
                break
            }
            let size = 3 + (Int(pending[1] & 0x0F) << 8 | Int(pending[2]))
            guard size <= Self.largestSection else {
                drop()
                break
            }
            guard pending.count >= size else { break }
            StepCounter.add(pending.count)
            sections.append(Array(pending[..<size]))
            pending.removeFirst(size)
        }
        return sections
    }
}

extension SectionAssembler {
    /// Whether one of some transport packets completes a section whose CRC_32 is correct.
    /// - Parameter bytes: whole packets.
    static func hasIntactSection(_ bytes: [UInt8]) -> Bool {
        var assemblers: [UInt16: SectionAssembler] = [:]
        return stride(from: 0, to: bytes.count - PacketStride.packetSize + 1, by: PacketStride.packetSize).contains {
            let packet = TransportPacket(bytes, at: $0)
            return assemblers[packet.pid, default: SectionAssembler()].append(packet, of: bytes)
                .contains(where: SectionCRC.isIntact)
        }
    }
}
