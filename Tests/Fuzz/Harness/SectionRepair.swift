@testable import Demux
@testable import Media

/// Corrects the CRC_32 of the sections in a transport stream (ISO/IEC 13818-1 §2.4.4).
enum SectionRepair {
    /// Corrects the sections that begin and end in one packet.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard let sync = try? PacketSync(bytes) else { return bytes }
        for block in sync.blocks {
            for index in 0..<block.count {
                let packet = TransportPacket(bytes, at: block[index])
                if packet.startsUnit, let section = section(in: packet, of: bytes) { seal(section, of: &bytes) }
            }
        }
        return bytes
    }

    /// Range of a section, from table_id to CRC_32.
    private static func section(in packet: TransportPacket, of bytes: [UInt8]) -> Range<Int>? {
        guard !packet.payload.isEmpty else { return nil }
        let start = packet.payload.lowerBound + 1 + Int(bytes[packet.payload.lowerBound])
        guard start + 3 < packet.payload.upperBound, [0x00, 0x02, SpliceInfoSection.tableID].contains(bytes[start])
        else { return nil }
        let end = start + 3 + (Int(bytes[start + 1] & 0x0F) << 8 | Int(bytes[start + 2]))
        return end - start > 7 && end <= packet.payload.upperBound ? start..<end : nil
    }

    /// Writes the CRC_32 of a section.
    /// - Parameter section: range of more than four bytes, the last four of which are written.
    static func seal(_ section: Range<Int>, of bytes: inout [UInt8]) {
        let value = SectionCRC.value(bytes[section.dropLast(4)])
        for (offset, shift) in zip(section.suffix(4), [24, 16, 8, 0] as [UInt32]) {
            bytes[offset] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
