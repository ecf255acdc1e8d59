/// FNV-1a, the hash in names and dumps. The hash is not cryptographic: its input comes from our own writers.
package enum ContentHash {
    /// Returns 32 lower-case hexadecimal digits.
    ///
    /// 128 bits, because an init section is served forever under this name: at 64 bits two of a channel's many ads
    /// would collide far sooner.
    package static func hexName(of bytes: [UInt8]) -> String {
        let prime: UInt128 = 1 << 88 | 0x13B
        let hash = bytes.reduce(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d as UInt128) { ($0 ^ UInt128($1)) &* prime }
        return HexDigits.digits(hash, count: 32)
    }

    /// Returns 16 lower-case hexadecimal digits, for a line in a dump.
    package static func hexDigest(of bytes: ArraySlice<UInt8>) -> String {
        HexDigits.digits(digest(of: bytes), count: 16)
    }

    package static func digest(of bytes: ArraySlice<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}
