/// SHA-256 of texts after a key.
///
/// Without the key, a digest says nothing about its text. Digests are compared, never shown.
package enum KeyedDigest {
    /// The digest, of 32 bytes; nil if libcrypto fails.
    /// - Parameter key: random bytes that only this process has.
    package static func digest(of text: String, key: [UInt8]) -> [UInt8]? {
        SHA256.digest(of: key + Array(text.utf8))
    }
}
