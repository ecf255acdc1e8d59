import Support

/// FNV-1a, the hash in names and dumps. The hash is not cryptographic: its input comes from our own writers.
package enum ContentHash {
    /// Returns 32 lower-case hexadecimal digits.
    ///
    /// 128 bits, because an init section is served forever under this name: at 64 bits two of a channel's many ads
    /// would collide far sooner.
    package static func hexName(of bytes: [UInt8]) -> String {
        let prime: UInt128 = 1 << 88 | 0x13B
        let hash = bytes.reduce(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d as UInt128) { ($0 ^ UInt128($1)) &* prime }
        return Hexadecimal.encode((0..<16).map { UInt8(truncatingIfNeeded: hash >> UInt128(120 - 8 * $0)) })
    }

    /// The hash of 64 bits.
    package static func digest(of bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

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

    /// The CRC_32 that belongs at the end of `section`, big-endian.
    package static func bytes(of section: [UInt8]) -> [UInt8] {
        let crc = value(section[...])
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * $0)) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index) << 24) { crc, _ in crc & 1 << 31 == 0 ? crc << 1 : crc << 1 ^ 0x04C1_1DB7 }
    }
}
