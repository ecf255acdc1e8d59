import Support

/// The text `length[@offset]` of a byte range (RFC 8216 §4.3.2.2).
struct ByteRangeText: Equatable {
    let length: UInt64
    let offset: UInt64?

    /// nil if `text` is malformed.
    init?(_ text: ArraySlice<UInt8>) {
        let at = text.firstIndex(of: ASCII.at)
        guard let length = Self.bytes(text[..<(at ?? text.endIndex)]) else { return nil }
        self.length = length
        guard let at else {
            self.offset = nil
            return
        }
        guard let offset = Self.bytes(text[(at + 1)...]) else { return nil }
        self.offset = offset
    }

    private static func bytes(_ digits: ArraySlice<UInt8>) -> UInt64? {
        PlaylistNumber.bytePosition.value(digits.trimmingWhiteSpace())
    }

    /// The range with its offset. Without a written offset the range follows `previous` in the same resource.
    ///
    /// nil if there is neither an offset nor a previous range, or if the end does not fit into 64 bits.
    func resolved(after previous: ByteRange?) -> ByteRange? {
        guard let offset = offset ?? previous.map({ $0.offset + $0.length }),
            !offset.addingReportingOverflow(length).overflow
        else { return nil }
        return ByteRange(offset: offset, length: length)
    }
}
