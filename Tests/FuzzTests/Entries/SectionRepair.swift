@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Gives the sections of a transport stream the CRC_32 that their bytes have (ISO/IEC 13818-1 §2.4.4).
enum SectionRepair {
    /// Sections that begin and end in one packet; the others keep what they have.
    static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard let sync = PacketSync(bytes) else { return bytes }
        for run in sync.blocks {
            for index in 0..<run.count {
                let packet = TransportPacket(bytes, at: run[index])
                if packet.startsUnit, let section = section(in: packet, of: bytes) { seal(section, of: &bytes) }
            }
        }
        return bytes
    }

    /// From table_id to CRC_32.
    private static func section(in packet: TransportPacket, of bytes: [UInt8]) -> Range<Int>? {
        guard !packet.payload.isEmpty else { return nil }
        let start = packet.payload.lowerBound + 1 + Int(bytes[packet.payload.lowerBound])
        guard start + 3 < packet.payload.upperBound, [0x00, 0x02, SpliceInfoSection.tableID].contains(bytes[start])
        else { return nil }
        let end = start + 3 + (Int(bytes[start + 1] & 0x0F) << 8 | Int(bytes[start + 2]))
        return end - start > 7 && end <= packet.payload.upperBound ? start..<end : nil
    }

    /// - Parameter section: more than four bytes, of which the last four are written.
    static func seal(_ section: Range<Int>, of bytes: inout [UInt8]) {
        let value = SectionCRC.value(bytes[section.dropLast(4)])
        for (offset, shift) in zip(section.suffix(4), [24, 16, 8, 0] as [UInt32]) {
            bytes[offset] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
