package import Playlist

/// Decryption of fetched segments and EXT-X-MAP sections (RFC 8216 §4.3.2.4, §5.2).
package enum SegmentDecryptor {
    /// Decrypts a segment or an EXT-X-MAP section.
    /// - Parameters:
    ///   - body: a whole segment, byte range or EXT-X-MAP section, as fetched.
    ///   - keys: `MediaSegment.keys` or `MediaInitialization.keys`. One key with AES-128 and the identity format is
    ///     enough. Without keys `body` is clear.
    ///   - key: the bytes fetched from the URI of that key, unchecked.
    ///   - keyURL: the absolute URL of that key, for error messages.
    ///   - mediaSequence: the IV if the key has none. For an EXT-X-MAP section, which should have an explicit IV
    ///     (§4.3.2.5), the number of the segment that uses the section.
    /// - Returns: the clear bytes; `body` itself, without a copy, if there is nothing to decrypt.
    package static func decrypt(
        _ body: [UInt8], keys: [SegmentKey], key: [UInt8]?, keyURL: String?, mediaSequence: UInt64
    ) throws(DecryptError) -> [UInt8] {
        do throws(DecryptError.Reason) {
            guard let usable = try usableKey(among: keys) else { return body }
            return try decrypt(body, under: usable, key: key, mediaSequence: mediaSequence)
        } catch {
            throw DecryptError(error, mediaSequence: mediaSequence, keyURL: keyURL)
        }
    }

    /// The first key that can be used; nil without keys.
    private static func usableKey(among keys: [SegmentKey]) throws(DecryptError.Reason) -> SegmentKey? {
        let usable = keys.first { $0.method == .aes128 && $0.keyFormat == SegmentKey.identityFormat }
        guard usable == nil, let first = keys.first else { return usable }
        switch first.method {
        case .aes128: throw .unsupportedKeyFormat(first.keyFormat)
        case .sampleAES: throw .unsupportedMethod("SAMPLE-AES")
        case .other(let name): throw .unsupportedMethod(name)
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
