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

    /// - Returns: The sections that this packet completes, from table_id to CRC_32, not checked.
    mutating func append(_ packet: TransportPacket, of bytes: [UInt8]) -> [[UInt8]] {
        guard !packet.payload.isEmpty else { return [] }
        let isNext = counter.map(packet.follows) ?? true
        if packet.continuityCounter == counter, isOpen { return [] }  // duplicate
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
