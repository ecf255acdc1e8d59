/// EXT-X-KEY with a METHOD other than NONE (RFC 8216 §4.3.2.4).
package struct SegmentKey: Hashable, Sendable {
    package enum Method: Hashable, Sendable {
        case aes128
        case sampleAES
        /// SAMPLE-AES-CTR or a method no section of the draft names, as written.
        case other(String)
    }

    package static let identityFormat = "identity"

    package var method: Method
    /// As written, not resolved.
    package var uri: String
    /// 16 bytes, big endian; nil means that the media sequence number is the IV (§5.2).
    package var initializationVector: [UInt8]?
    /// KEYFORMAT, "identity" when absent.
    package var keyFormat: String
    package var keyFormatVersions: String?

    package init(
        method: Method, uri: String, initializationVector: [UInt8]? = nil,
        keyFormat: String = SegmentKey.identityFormat, keyFormatVersions: String? = nil
    ) {
        self.method = method
        self.uri = uri
        self.initializationVector = initializationVector
        self.keyFormat = keyFormat
        self.keyFormatVersions = keyFormatVersions
    }
}
