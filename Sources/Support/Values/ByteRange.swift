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
}
