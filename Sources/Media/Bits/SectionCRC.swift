import Support

/// The CRC_32 of a PSI section (ISO/IEC 13818-1 Annex A): polynomial 0x04C11DB7, initial value of all ones, not
/// inverted.
package enum SectionCRC {
    /// Whether the CRC_32 at the end of a section is correct: the whole section then sums to 0.
    package static func isIntact(_ section: [UInt8]) -> Bool { value(section[...]) == 0 }

    package static func value(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        StepCounter.add(bytes.count)
        return bytes.reduce(UInt32.max) { crc, byte in
            crc << 8 ^ table[Int(UInt8(truncatingIfNeeded: crc >> 24) ^ byte)]
        }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { crc, _ in crc & 1 << 31 == 0 ? crc << 1 : crc << 1 ^ 0x04C1_1DB7 }
    }
}
