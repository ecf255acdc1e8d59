import CCrypto

/// SHA-256 (FIPS 180-4), and HMAC of it (RFC 2104).
package enum SHA256 {
    private static let blockSize = 64

    /// The digest, of 32 bytes; nil if libcrypto fails.
    package static func digest(of bytes: [UInt8]) -> [UInt8]? {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let status = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
        return status == 1 && count == 32 ? digest : nil
    }

    /// The authentication code of a text, of 32 bytes; nil if libcrypto fails.
    package static func authenticationCode(of text: String, key: [UInt8]) -> [UInt8]? {
        guard let short = key.count > blockSize ? digest(of: key) : key else { return nil }
        let block = short + [UInt8](repeating: 0, count: blockSize - short.count)
        guard let inner = digest(of: block.map { $0 ^ 0x36 } + Array(text.utf8)) else { return nil }
        return digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
