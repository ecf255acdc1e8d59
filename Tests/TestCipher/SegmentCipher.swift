import CCrypto

/// Encrypts with AES-128-CBC and PKCS #7 padding (RFC 8216 §4.3.2.4).
package enum SegmentCipher {
    /// Returns key number `number`.
    package static func key(_ number: Int) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7) }
    }

    /// Returns the IV of segment `number`, for EXT-X-KEY.
    package static func vector(_ number: Int) -> [UInt8] {
        (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }
    }

    /// Encrypts `body`; empty on errors of libcrypto.
    package static func encrypt(_ body: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { return [] }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        return unsafe [UInt8](unsafeUninitializedCapacity: body.count + 16) { output, count in
            var (written, last) = (Int32(0), Int32(0))
            guard let start = output.baseAddress,
                unsafe EVP_EncryptInit_ex2(context, EVP_aes_128_cbc(), key, vector, nil) == 1,
                unsafe EVP_EncryptUpdate(context, start, &written, body, Int32(body.count)) == 1,
                unsafe EVP_EncryptFinal_ex(context, start + Int(written), &last) == 1
            else { return }
            count = Int(written + last)
        }
    }
}
