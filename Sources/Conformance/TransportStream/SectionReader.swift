/// Joins the sections of one PID (ISO/IEC 13818-1 §2.4.4).
struct SectionReader: Sendable {
    enum Output: Equatable {
        /// From table_id to CRC_32, not checked.
        case section([UInt8])
        /// The pointer_field leads out of the packet.
        case badPointer
    }

    private static let largest = 4096
    private var bytes: [UInt8] = []
    /// Whether `bytes` begin with a section's first byte.
    private var isAligned = false

    /// Drops the section that is incomplete, because a packet of it was lost.
    mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        isAligned = false
    }

    /// - Parameter start: index of the payload in the packet.
    mutating func append(_ packet: Span<UInt8>, from start: Int, startsUnit: Bool) -> [Output] {
        guard startsUnit else {
            guard isAligned else { return [] }
            append(packet, start..<packet.count)
            return completeSections()
        }
        let next = start + 1 + Int(packet[start])
        guard next <= packet.count else {
            reset()
            return [.badPointer]
        }
        var outputs: [Output] = []
        if isAligned {
            append(packet, (start + 1)..<next)
            outputs = completeSections()
        }
        reset()
        isAligned = true
        append(packet, next..<packet.count)
        return outputs + completeSections()
    }

    private mutating func append(_ packet: Span<UInt8>, _ range: Range<Int>) {
        for index in range { bytes.append(packet[index]) }
    }

    /// Removes the whole sections at the beginning of `bytes`.
    private mutating func completeSections() -> [Output] {
        var sections: [Output] = []
        var start = 0
        // A table_id of 0xFF is stuffing up to the end of the packet.
        while start + 3 <= bytes.count, bytes[start] != 0xFF {
            let length = 3 + Int(bytes[start + 1] & 0x0F) << 8 + Int(bytes[start + 2])
            guard start + length <= bytes.count, length <= Self.largest + 3 else { break }
            sections.append(.section(Array(bytes[start..<start + length])))
            start += length
        }
        if start < bytes.count, bytes[start] == 0xFF {
            reset()
        } else {
            bytes.removeSubrange(..<start)
        }
        return sections
    }
}
