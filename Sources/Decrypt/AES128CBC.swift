import CCrypto
import Support

/// An OpenSSL context that decrypts one message: AES-128 in CBC mode (RFC 8216 §4.3.2.4).
///
/// Only this file uses libcrypto.
@safe
struct AES128CBC: ~Copyable {
    static let keyByteCount = 16
    static let blockByteCount = 16

    /// The bytes decrypted between two checks for cancellation. They take 3 ms without AES instructions.
    static let chunkByteCount = 1 << 20

    private let context: OpaquePointer

    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - vector: the initialization vector, 16 bytes.
    init(key: [UInt8], vector: [UInt8]) throws(DecryptError.Reason) {
        precondition(key.count == Self.keyByteCount && vector.count == Self.blockByteCount)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .library(code: drainErrorQueue()) }
        let cipher = unsafe EVP_aes_128_cbc()
        guard unsafe EVP_DecryptInit_ex2(context, cipher, key, vector, nil) == 1 else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw .library(code: drainErrorQueue())
        }
        // The caller checks the padding: text without valid padding may still be correct.
        _ = unsafe EVP_CIPHER_CTX_set_padding(context, 0)
        unsafe self.context = context
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Decrypts a message. Throws `.library` or `.canceled`.
    /// - Parameter body: the whole message: a multiple of 16 bytes.
    /// - Returns: the clear text with its padding, as long as `body`.
    consuming func decrypt(_ body: ArraySlice<UInt8>) throws(DecryptError.Reason) -> [UInt8] {
        var failure: DecryptError.Reason?
        let clear = unsafe [UInt8](unsafeUninitializedCapacity: body.count + Self.blockByteCount) { output, count in
            unsafe body.withUnsafeBufferPointer { input in
                do throws(DecryptError.Reason) {
                    unsafe count = try update(input, into: output)
                } catch {
                    failure = error
                    count = 0
                }
            }
        }
        if let failure { throw failure }
        return clear
    }

    /// - Returns: the number of bytes written.
    private func update(
        _ input: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(DecryptError.Reason) -> Int {
        guard let source = input.baseAddress, let target = output.baseAddress else { return 0 }
        var read = 0
        var written = 0
        while read < input.count {
            guard !StepCounter.isTaskCanceled() else { throw .canceled }
            let chunk = min(input.count - read, Self.chunkByteCount)
            var chunkWritten: Int32 = 0
            let code = unsafe EVP_DecryptUpdate(context, target + written, &chunkWritten, source + read, Int32(chunk))
            guard code == 1 else { throw .library(code: drainErrorQueue()) }
            StepCounter.add(chunk)
            read += chunk
            written += Int(chunkWritten)
        }
        return written
    }
}

/// Empties the error queue of this thread and returns its first code, 0 if it was empty. A remaining code would show up
/// in a later, unrelated call.
private func drainErrorQueue() -> UInt {
    defer { ERR_clear_error() }
    return ERR_get_error()
}
