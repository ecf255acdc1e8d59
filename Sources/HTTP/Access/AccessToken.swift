import Foundation
import Glibc
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
    /// The most bytes of a token file, and the most tokens in it.
    private static let limits = (bytes: 1 << 20, tokens: 10_000)

    /// Reads a file of tokens, one per line. The file must not be readable for everybody. Blank lines and lines that
    /// begin with `#` are comments.
    package static func read(fileAt path: String) throws(RelayError) -> [AccessToken] {
        let lines = try text(of: path).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var tokens: [AccessToken] = []
        for (index, line) in lines.enumerated() {
            let word = line.trimmingCharacters(in: .whitespaces)
            if word.isEmpty || word.hasPrefix("#") { continue }
            guard let token = AccessToken(word) else {
                throw error(path, "has no token in line \(index + 1)", "A token is \(description)")
            }
            tokens.append(token)
        }
        guard !tokens.isEmpty else { throw error(path, "has no token", "Write one a line") }
        guard tokens.count <= limits.tokens else {
            throw error(path, "has more than \(limits.tokens) tokens", "Give several viewers one token")
        }
        return tokens
    }

    private static func text(of path: String) throws(RelayError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
        guard status.st_mode & S_IROTH == 0 else {
            throw error(path, "can be read by everybody", "Let only its owner read it: chmod 600")
        }
        let data: Data
        do { data = try file.read(upToCount: limits.bytes + 1) ?? Data() } catch { throw unreadable(path, EIO) }
        guard data.count <= limits.bytes, let text = String(data: data, encoding: .utf8) else {
            throw error(path, "is no text of at most 1 MiB", "Write one token a line")
        }
        return text
    }

    private static func unreadable(_ path: String, _ code: Int32) -> RelayError {
        error(path, "cannot be read: \(unsafe String(cString: strerror(code)))", "Check its name and permissions")
    }

    private static func error(_ path: String, _ fault: String, _ advice: String) -> RelayError {
        RelayError(.badCredentials, "The token file \(path) \(fault)", advice: advice)
    }

    /// The form of a token, in words.
    package static let description = "\(lengths.lowerBound) to \(lengths.upperBound) visible ASCII characters"
}
