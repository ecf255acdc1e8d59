/// Reads big-endian fields from the front of a box's body.
package struct BoxFields {
    private let bytes: ArraySlice<UInt8>
    /// Index of the next byte.
    package private(set) var index: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    package var truncated: MediaError { MediaError(.truncated, offset: index, section: BoxReader.section) }

    package mutating func u8() throws(MediaError) -> UInt8 {
        guard index < bytes.endIndex else { throw truncated }
        defer { index += 1 }
        return bytes[index]
    }

    package mutating func u16() throws(MediaError) -> UInt16 { try UInt16(u8()) << 8 | UInt16(u8()) }

    package mutating func u32() throws(MediaError) -> UInt32 { try UInt32(u16()) << 16 | UInt32(u16()) }

    package mutating func u64() throws(MediaError) -> UInt64 { try UInt64(u32()) << 32 | UInt64(u32()) }

    /// Reads the next `count` bytes.
    package mutating func bytes(_ count: Int) throws(MediaError) -> ArraySlice<UInt8> {
        let start = index
        try skip(count)
        return bytes[start..<index]
    }

    /// The unread bytes.
    package var rest: ArraySlice<UInt8> { bytes[index...] }

    package mutating func skip(_ count: Int) throws(MediaError) {
        guard bytes.endIndex - index >= count else { throw truncated }
        index += count
    }

    /// Reads version and flags of a full box.
    package mutating func versionAndFlags() throws(MediaError) -> (version: UInt8, flags: UInt32) {
        let word = try u32()
        return (UInt8(word >> 24), word & 0xFF_FFFF)
    }
}
