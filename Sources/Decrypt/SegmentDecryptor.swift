package import Playlist
import Support

/// Decryption of fetched segments and EXT-X-MAP sections (RFC 8216 §4.3.2.4, §5.2).
///
/// Neither the key in force nor the padding is trusted: the decrypted text decides. Some packagers write no padding, or
/// list a key before segments that they leave clear.
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
    ///   - content: recognizes the clear text.
    /// - Returns: the clear bytes; `body` itself, without a copy, if there is nothing to decrypt.
    package static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey?, key: [UInt8]?, keyURL: String?, mediaSequence: UInt64,
        content: ClearContent = .unknown
    ) throws(DecryptError) -> [UInt8] {
        guard let segmentKey, !content.isWhole(body) else { return body }
        do throws(DecryptError.Reason) {
            return try decrypt(body, under: segmentKey, key: key, mediaSequence: mediaSequence, content)
        } catch {
            throw DecryptError(reason: error, mediaSequence: mediaSequence, keyURL: keyURL)
        }
    }

    private static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey, key: [UInt8]?, mediaSequence: UInt64, _ content: ClearContent
    ) throws(DecryptError.Reason) -> [UInt8] {
        guard let key else { throw .missingKey }
        guard key.count == AES128CBC.keyByteCount else { throw .wrongKeySize(key.count) }
        let vector = segmentKey.vector(for: mediaSequence)
        guard vector.count == AES128CBC.blockByteCount else { throw .wrongInitializationVectorSize(vector.count) }
        let rest = body.count % AES128CBC.blockByteCount
        guard body.count > rest else { throw .notBlockAligned(body.count) }
        var text = try AES128CBC(key: key, vector: vector).decrypt(body.dropLast(rest))
        if rest == 0, let padding = paddingSize(of: text) {
            if !content.isWhole(text) { text.removeLast(padding) }
            return text
        }
        // A truncated body has no padding either.
        guard content.isContent(text) else {
            guard !StepCounter.isTaskCanceled() else { throw .canceled }
            throw rest == 0 ? .badPadding : .notBlockAligned(body.count)
        }
        return text
    }

    /// The size of the PKCS #7 padding at the end, 1 to 16 bytes (RFC 5652 §6.3); nil if the padding is invalid.
    private static func paddingSize(of text: [UInt8]) -> Int? {
        guard let last = text.last, (1...AES128CBC.blockByteCount).contains(Int(last)) else { return nil }
        return text.suffix(Int(last)).allSatisfy { $0 == last } ? Int(last) : nil
    }
}

/// Recognizes clear text by its bytes.
package struct ClearContent: Sendable {
    /// Whether the bytes begin with the content; other bytes may follow.
    let isContent: @Sendable ([UInt8]) -> Bool
    /// Whether the bytes are the content and nothing else. Padding at their end would then be a part of the content.
    let isWhole: @Sendable ([UInt8]) -> Bool

    /// Recognizes nothing: the padding alone proves the key.
    package static let unknown = ClearContent(isContent: { _ in false }, isWhole: { _ in false })

    package init(
        isContent: @escaping @Sendable ([UInt8]) -> Bool, isWhole: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.isContent = isContent
        self.isWhole = isWhole
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
        /// The size of the body in bytes: not a multiple of 16, or 0. The content of its whole blocks is not
        /// recognized.
        case notBlockAligned(Int)
        /// The clear text does not end in PKCS #7 padding, and is not recognized: the key is wrong.
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
