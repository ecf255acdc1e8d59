package import Playlist

/// Decryption of fetched segments and EXT-X-MAP sections (RFC 8216 §4.3.2.4, §5.2).
package enum SegmentDecryptor {
    /// Decrypts a segment or an EXT-X-MAP section.
    /// - Parameters:
    ///   - body: a whole segment, byte range or EXT-X-MAP section, as fetched.
    ///   - segmentKey: the key in force, with AES-128 and the identity format: segments under other keys are not fetched.
    ///     nil: `body` is clear.
    ///   - key: the bytes fetched from the URI of that key, unchecked.
    ///   - keyURL: the absolute URL of that key, for error messages.
    ///   - mediaSequence: the IV if the key has none. For an EXT-X-MAP section, which should have an explicit IV
    ///     (§4.3.2.5), the number of the segment that uses the section.
    /// - Returns: the clear bytes; `body` itself, without a copy, if there is nothing to decrypt.
    package static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey?, key: [UInt8]?, keyURL: String?, mediaSequence: UInt64
    ) throws(DecryptError) -> [UInt8] {
        guard let segmentKey else { return body }
        do throws(DecryptError.Reason) {
            return try decrypt(body, under: segmentKey, key: key, mediaSequence: mediaSequence)
        } catch {
            throw DecryptError(error, mediaSequence: mediaSequence, keyURL: keyURL)
        }
    }

    private static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey, key: [UInt8]?, mediaSequence: UInt64
    ) throws(DecryptError.Reason) -> [UInt8] {
        guard let key else { throw .missingKey }
        guard key.count == AES128CBC.keyByteCount else { throw .wrongKeySize(key.count) }
        guard let vector = InitializationVector(for: segmentKey, mediaSequence: mediaSequence) else {
            throw .wrongInitializationVectorSize(segmentKey.initializationVector?.count ?? 0)
        }
        guard !body.isEmpty, body.count.isMultiple(of: AES128CBC.blockByteCount) else {
            throw .notBlockAligned(body.count)
        }
        return try AES128CBC(key: key, initializationVector: vector).decrypt(body)
    }
}

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
