package import Playlist

/// Fetched bytes and the key that stood at its URI in, clear bytes out (RFC 8216 §4.3.2.4, §5.2).
package enum SegmentDecryptor {
    /// - Parameters:
    ///   - body: a whole segment, byte range or EXT-X-MAP section, as fetched.
    ///   - keys: `MediaSegment.keys` or `MediaInitialization.keys`; of several key formats one that is AES-128 and
    ///     identity is enough. Empty is clear.
    ///   - key: what stood at that key's URI, unchecked.
    ///   - keyURL: absolute address of that key, for messages.
    ///   - mediaSequence: the IV when the key has none, so of an EXT-X-MAP the number of the segment it is used with; the
    ///     standard asks for an explicit IV there (§4.3.2.5).
    /// - Returns: the clear bytes; `body` itself, not copied, when there is nothing to decrypt.
    package static func decrypt(
        _ body: [UInt8], keys: [SegmentKey], key: [UInt8]?, keyURL: String?, mediaSequence: UInt64
    ) throws(DecryptError) -> [UInt8] {
        do throws(UnlocatedError) {
            guard let usable = try usableKey(among: keys) else { return body }
            return try decrypt(body, under: usable, key: key, mediaSequence: mediaSequence)
        } catch {
            throw DecryptError(error.reason, mediaSequence: mediaSequence, keyURL: keyURL)
        }
    }

    /// What is wrong, before it is said where.
    private struct UnlocatedError: Error {
        let reason: DecryptError.Reason
    }

    private static func usableKey(among keys: [SegmentKey]) throws(UnlocatedError) -> SegmentKey? {
        let usable = keys.first { $0.method == .aes128 && $0.keyFormat == SegmentKey.identityFormat }
        guard usable == nil, let first = keys.first else { return usable }
        switch first.method {
        case .aes128: throw UnlocatedError(reason: .unsupportedKeyFormat(first.keyFormat))
        case .sampleAES: throw UnlocatedError(reason: .unsupportedMethod("SAMPLE-AES"))
        case .other(let name): throw UnlocatedError(reason: .unsupportedMethod(name))
        }
    }

    private static func decrypt(
        _ body: [UInt8], under segmentKey: SegmentKey, key: [UInt8]?, mediaSequence: UInt64
    ) throws(UnlocatedError) -> [UInt8] {
        guard let key else { throw UnlocatedError(reason: .missingKey) }
        guard key.count == AES128CBC.keyByteCount else { throw UnlocatedError(reason: .wrongKeySize(key.count)) }
        guard let vector = InitializationVector(for: segmentKey, mediaSequence: mediaSequence) else {
            let count = segmentKey.initializationVector?.count ?? 0
            throw UnlocatedError(reason: .wrongInitializationVectorSize(count))
        }
        guard !body.isEmpty, body.count.isMultiple(of: AES128CBC.blockByteCount) else {
            throw UnlocatedError(reason: .notBlockAligned(body.count))
        }
        do throws(AES128CBC.CipherError) {
            return try AES128CBC(key: key, initializationVector: vector).decrypt(body)
        } catch {
            switch error {
            case .badPadding: throw UnlocatedError(reason: .badPadding)
            case .library(let code): throw UnlocatedError(reason: .library(code: code))
            }
        }
    }
}
