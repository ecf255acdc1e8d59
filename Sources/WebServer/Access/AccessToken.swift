package import Support

/// A secret that opens the API or channels to the requests that carry it.
///
/// Its text is in no log, status, event or error message: only its digest is stored.
package struct AccessToken: Equatable, Sendable {
    let digest: TokenDigest

    static let lengths = 16...1024

    /// - Parameter text: 16 to 1024 visible ASCII characters.
    package init?(_ text: String) {
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard Self.lengths.contains(text.utf8.count), isVisible, let digest = TokenDigest(of: text) else { return nil }
        self.digest = digest
    }

    /// Whether an Authorization field carries the token.
    package func isCarried(by field: String?) -> Bool {
        AuthorizationField.bearerToken(field).flatMap { TokenDigest(of: $0.value) } == digest
    }
}

extension TokenDigest {
    /// Made at the start of the process. Without the key, a digest says nothing about its text.
    private static let key: [UInt8] = (0..<64).map { _ in .random(in: .min ... .max) }

    /// The digest of whatever a request gives as its token; nil if it cannot be computed.
    package init?(of text: String) {
        guard let bytes = SHA256.digest(of: Self.key + Array(text.utf8)) else { return nil }
        self.init(bytes: bytes)
    }
}

/// The `Authorization` field (RFC 9110 §11.6.2).
package enum AuthorizationField {
    /// The token of a Bearer credential (RFC 6750 §2.1); nil for another scheme, and without a field.
    package static func bearerToken(_ field: String?) -> Secret? {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else {
            return nil
        }
        return Secret(String(field[field.index(after: space)...].trimmingBlanks))
    }
}
