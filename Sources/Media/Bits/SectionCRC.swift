/// CRC_32 of a PSI section (ISO/IEC 13818-1 Annex A): polynomial 0x04C11DB7, all ones at the start, not inverted.
package enum SectionCRC {
    /// A section with its CRC_32 at the end sums to 0.
    package static func isIntact(_ section: [UInt8]) -> Bool { value(section[...]) == 0 }

    package static func value(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(UInt32.max) { crc, byte in
            crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 24) ^ byte)]
        }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { crc, _ in crc & 1 << 31 == 0 ? crc << 1 : crc << 1 ^ 0x04C1_1DB7 }
    }
}
