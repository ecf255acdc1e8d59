/// The bytes `offset ..< offset + length` of a resource.
///
/// In a playlist it is EXT-X-BYTERANGE with its offset resolved (RFC 8216 §4.3.2.2).
package struct ByteRange: Hashable, Sendable {
    package var offset: UInt64
    package var length: UInt64

    package init(offset: UInt64, length: UInt64) {
        self.offset = offset
        self.length = length
    }

    package init(_ range: Range<UInt64>) {
        self.init(offset: range.lowerBound, length: range.upperBound - range.lowerBound)
    }

    /// The positions of the bytes; nil if they end above 2⁶⁴ − 1.
    package var range: Range<UInt64>? {
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? nil : offset..<end
    }
}
