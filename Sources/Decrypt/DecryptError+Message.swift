import Support

extension DecryptError {
    package var message: String {
        let key = keyURL.map { " (key \($0.redacted))" } ?? ""
        switch reason {
        case .missingKey: return "the key is missing\(key)"
        case .wrongKeySize(let count): return "the key has \(count) bytes instead of 16\(key)"
        case .wrongInitializationVectorSize(let count): return "the IV has \(count) bytes instead of 16"
        case .notBlockAligned(let count): return "\(count) bytes are not whole AES blocks\(key)"
        case .badPadding: return "the padding is wrong, so the key is wrong too\(key)"
        case .library(let code): return "OpenSSL error \(code)"
        case .canceled: return "nobody waits for it any more"
        }
    }
}
