/// EXT-X-KEY with a METHOD other than NONE (RFC 8216 §4.3.2.4).
package struct SegmentKey: Hashable, Sendable {
    package enum Method: Hashable, Sendable {
        case aes128
        case sampleAES
        /// SAMPLE-AES-CTR, or a method that no section of the draft names, as written.
        case other(String)
    }

    package static let identityFormat = "identity"

    package var method: Method
    /// The URI as written, not resolved.
    package var uri: String
    /// The IV, 16 bytes, big endian; nil if the media sequence number is the IV (§5.2).
    package var initializationVector: [UInt8]?
    /// KEYFORMAT, "identity" if the attribute is absent.
    package var keyFormat = SegmentKey.identityFormat

    package init(
        method: Method, uri: String, initializationVector: [UInt8]? = nil,
        keyFormat: String = SegmentKey.identityFormat
    ) {
        self.method = method
        self.uri = uri
        self.initializationVector = initializationVector
        self.keyFormat = keyFormat
    }

    /// The vector of CBC mode (§5.2) for a segment: the IV or, without one, the media sequence number in 16 bytes.
    package func vector(for mediaSequence: UInt64) -> [UInt8] {
        if let initializationVector { return initializationVector }
        return (0..<16).map { $0 < 8 ? 0 : UInt8(truncatingIfNeeded: mediaSequence >> (120 - 8 * $0)) }
    }
}

extension SegmentKey.Method {
    init?(text: String) {
        switch text {
        case "NONE": return nil
        case "AES-128": self = .aes128
        case "SAMPLE-AES": self = .sampleAES
        default: self = .other(text)
        }
    }

    package var text: String {
        switch self {
        case .aes128: "AES-128"
        case .sampleAES: "SAMPLE-AES"
        case .other(let text): text
        }
    }
}

/// The first of several keys, none of which can be used (RFC 8216 §4.3.2.4).
package struct UnsupportedKey: Error, Equatable, Sendable {
    package let method: SegmentKey.Method
    package let keyFormat: String
}

extension [SegmentKey] {
    /// The key to decrypt with; nil if nothing is encrypted.
    ///
    /// A segment may be offered under several key formats. One key with AES-128 and the identity format is enough. Any
    /// other combination is refused, because it could be decrypted only in part.
    package func usableKey() throws(UnsupportedKey) -> SegmentKey? {
        guard aes128 == nil, let first else { return aes128 }
        throw UnsupportedKey(method: first.method, keyFormat: first.keyFormat)
    }

    package var aes128: SegmentKey? { first { $0.method == .aes128 && $0.keyFormat == SegmentKey.identityFormat } }

    /// The keys in effect after `key`, which replaces the key with the same KEYFORMAT.
    func applying(_ key: SegmentKey) -> [SegmentKey] {
        var keys = self
        if let index = keys.firstIndex(where: { $0.keyFormat == key.keyFormat }) {
            keys[index] = key
        } else {
            keys.append(key)
        }
        return keys
    }
}
