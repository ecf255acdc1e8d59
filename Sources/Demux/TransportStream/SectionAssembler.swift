import Media

/// Gathers the PSI sections of one PID from transport packets (ISO/IEC 13818-1 §2.4.4).
struct SectionAssembler: Sendable {
    /// section_length has 12 bits and its two highest are 0 in PAT and PMT; private sections go up to 4096.
    private static let largestSection = 4096

    private var pending: [UInt8] = []
    private var isOpen = false
    private var counter: UInt8?

    /// - Returns: the whole sections this packet completes, from table_id to CRC_32, unchecked.
    mutating func append(_ packet: TransportPacket, of bytes: [UInt8]) -> [[UInt8]] {
        guard !packet.payload.isEmpty else { return [] }
        let isNext = counter.map { ($0 &+ 1) & 15 == packet.continuityCounter } ?? true
        if packet.continuityCounter == counter, isOpen { return [] }  // sent twice
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

    /// A segment's end: a section is not continued in the next segment unless its counter fits.
    mutating func drop() {
        pending.removeAll(keepingCapacity: true)
        isOpen = false
    }

    private mutating func completed() -> [[UInt8]] {
        var sections: [[UInt8]] = []
        while isOpen, pending.count >= 3 {
            guard pending[0] != 0xFF else {  // stuffing up to the packet's end
                drop()
                break
            }
            let size = 3 + (Int(pending[1] & 0x0F) << 8 | Int(pending[2]))
            guard size <= Self.largestSection else {
                drop()
                break
            }
            guard pending.count >= size else { break }
            sections.append(Array(pending[..<size]))
            pending.removeFirst(size)
        }
        return sections
    }
}
