/// The initialization vector of CBC mode (RFC 8216 §5.2).
package struct InitializationVector: Hashable, Sendable {
    package static let byteCount = 16

    /// 16 bytes.
    package let bytes: [UInt8]

    /// The vector of an IV attribute; nil if `bytes` are not 16 bytes.
    package init?(explicit bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The vector of a segment without an IV attribute: its media sequence number, big endian.
    package init(mediaSequence: UInt64) {
        let low = (0..<8).map { UInt8(truncatingIfNeeded: mediaSequence >> (56 - 8 * $0)) }
        bytes = [UInt8](repeating: 0, count: 8) + low
    }

    /// The vector of a segment under `key`; nil if the IV attribute is not 16 bytes.
    package init?(for key: SegmentKey, mediaSequence: UInt64) {
        if let explicit = key.initializationVector {
            self.init(explicit: explicit)
        } else {
            self.init(mediaSequence: mediaSequence)
        }
    }
}
