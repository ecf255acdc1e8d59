package import Support

/// A secret that opens the API or channels to the requests that carry it.
///
/// No log, status, event or error message contains its text: only its digest is stored.
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
    /// Random, made at the start of the process. Without the key, a digest reveals nothing about its text.
    private static let key: [UInt8] = (0..<64).map { _ in .random(in: .min ... .max) }

    /// The digest of the text that a request gives as its token; nil if it cannot be computed.
    package init?(of text: String) {
        guard let bytes = SHA256.digest(of: Self.key + Array(text.utf8)) else { return nil }
        self.init(bytes: bytes)
    }
}

/// The `Authorization` field (RFC 9110 §11.6.2).
package enum AuthorizationField {
    /// The token of a Bearer credential (RFC 6750 §2.1); nil for another scheme, or without a field.
    package static func bearerToken(_ field: String?) -> Secret? {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer" else {
            return nil
        }
        return Secret(String(field[field.index(after: space)...].trimmingBlanks))
    }
}

// MARK: - Files

extension AccessToken {
    /// The most tokens in a file.
    private static let countLimit = 10_000

    /// Reads a file of tokens, one per line.
    package static func read(fileAt path: String) throws(RelayError) -> [AccessToken] {
        let file = SecretFile(path, of: "token")
        var tokens: [AccessToken] = []
        for (line, word) in try file.words() {
            guard let token = AccessToken(word.value) else {
                throw file.error("has no token in line \(line)", advice: "A token is \(description)")
            }
            tokens.append(token)
        }
        guard !tokens.isEmpty else { throw file.error("has no token", advice: "Write one a line") }
        guard tokens.count <= countLimit else {
            throw file.error("has more than \(countLimit) tokens", advice: "Give several viewers one token")
        }
        return tokens
    }

    /// The form of a token, in words.
    package static let description = "\(lengths.lowerBound) to \(lengths.upperBound) visible ASCII characters"
}
