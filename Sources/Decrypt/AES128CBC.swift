import CCrypto

/// Owner of an OpenSSL context that decrypts one message: AES-128 in CBC mode with PKCS #7 padding (RFC 8216 §4.3.2.4).
/// The only user of libcrypto.
@safe
struct AES128CBC: ~Copyable {
    static let keyByteCount = 16
    static let blockByteCount = 16

    enum CipherError: Error, Equatable {
        case badPadding
        /// What OpenSSL's error queue held, 0 if nothing.
        case library(code: UInt)
    }

    /// OpenSSL counts in 32 bits, and is fastest on large pieces.
    private static let chunkByteCount = 1 << 24

    private let context: OpaquePointer

    /// - Parameter key: 16 bytes.
    init(key: [UInt8], initializationVector: InitializationVector) throws(CipherError) {
        precondition(key.count == Self.keyByteCount)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .library(code: drainErrorQueue()) }
        let cipher = unsafe EVP_aes_128_cbc()
        guard unsafe EVP_DecryptInit_ex2(context, cipher, key, initializationVector.bytes, nil) == 1 else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw .library(code: drainErrorQueue())
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// - Parameter body: whole, at least one block, a multiple of 16 bytes.
    /// - Returns: without the padding; shorter than `body` by 1 to 16 bytes.
    consuming func decrypt(_ body: [UInt8]) throws(CipherError) -> [UInt8] {
        var failure: CipherError?
        let clear = unsafe [UInt8](unsafeUninitializedCapacity: body.count + Self.blockByteCount) { output, count in
            unsafe body.withUnsafeBufferPointer { input in
                do throws(CipherError) {
                    unsafe count = try update(input, into: output)
                    unsafe count += try finish(into: output, at: count)
                } catch {
                    failure = error
                    count = 0
                }
            }
        }
        if let failure { throw failure }
        return clear
    }

    /// - Returns: how many bytes were written; OpenSSL keeps the last block back.
    private func update(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CipherError) -> Int {
        guard let source = input.baseAddress, let target = output.baseAddress else { return 0 }
        var read = 0
        var written = 0
        while read < input.count {
            let piece = min(input.count - read, Self.chunkByteCount)
            var pieceWritten: Int32 = 0
            let code = unsafe EVP_DecryptUpdate(context, target + written, &pieceWritten, source + read, Int32(piece))
            guard code == 1 else { throw .library(code: drainErrorQueue()) }
            read += piece
            written += Int(pieceWritten)
        }
        return written
    }

    /// - Returns: how many bytes of the last block are not padding.
    private func finish(into output: UnsafeMutableBufferPointer<UInt8>, at written: Int) throws(CipherError) -> Int {
        guard let target = output.baseAddress else { return 0 }
        var rest: Int32 = 0
        guard unsafe EVP_DecryptFinal_ex(context, target + written, &rest) == 1 else {
            _ = drainErrorQueue()
            throw .badPadding
        }
        return Int(rest)
    }
}

/// The first code of this thread's error queue, which is emptied: a code left behind would be blamed on whoever asks next.
private func drainErrorQueue() -> UInt {
    defer { ERR_clear_error() }
    return ERR_get_error()
}
