import CCrypto

/// SHA-256 of texts after a key (FIPS 180-4).
///
/// Without the key, a digest says nothing about its text. Digests are compared, never shown.
package enum KeyedDigest {
    /// The digest, of 32 bytes; nil if libcrypto fails.
    /// - Parameter key: random bytes that only this process has.
    package static func digest(of text: String, key: [UInt8]) -> [UInt8]? {
        let message = key + Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let status = unsafe EVP_Digest(message, message.count, &digest, &count, EVP_sha256(), nil)
        return status == 1 && count == 32 ? digest : nil
    }
}
