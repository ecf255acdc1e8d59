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
            throw DecryptError(reason: error, mediaSequence: mediaSequence, keyURL: keyURL)
        }
    }

    private static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey, key: [UInt8]?, mediaSequence: UInt64
    ) throws(DecryptError.Reason) -> [UInt8] {
        guard let key else { throw .missingKey }
        guard key.count == AES128CBC.keyByteCount else { throw .wrongKeySize(key.count) }
        let vector = segmentKey.vector(for: mediaSequence)
        guard vector.count == AES128CBC.blockByteCount else { throw .wrongInitializationVectorSize(vector.count) }
        guard !body.isEmpty, body.count.isMultiple(of: AES128CBC.blockByteCount) else {
            throw .notBlockAligned(body.count)
        }
        return try AES128CBC(key: key, vector: vector).decrypt(body)
    }
}

/// The reason why a segment or an EXT-X-MAP section could not be decrypted. No part of its clear text is returned.
package struct DecryptError: Error, Equatable, Sendable {
    package enum Reason: Error, Equatable, Sendable {
        case missingKey
        /// The size of the key in bytes. AES-128 needs 16.
        case wrongKeySize(Int)
        /// The size of the IV in bytes, other than 16.
        case wrongInitializationVectorSize(Int)
        /// The size of the body in bytes: not a multiple of 16, or 0. Padding adds at least one byte.
        case notBlockAligned(Int)
        /// The clear text does not end in PKCS #7 padding: the key or the IV is wrong, or the end is damaged.
        case badPadding
        /// OpenSSL failed; `code` is the first code of its error queue, 0 if the queue was empty.
        case library(code: UInt)
        case canceled
    }

    package let reason: Reason
    /// The media sequence number of the segment, or of the segment that uses the EXT-X-MAP section.
    package let mediaSequence: UInt64
    /// The absolute URL of the key; nil if no key was requested.
    package let keyURL: String?
}
