import Foundation
import Glibc
package import Support

/// A file of tokens, one a line, which not everybody may read.
package struct TokenFile: Equatable, Sendable {
    let path: String

    package init(path: String) {
        self.path = path
    }

    /// Bytes of a file, and tokens in it.
    private static let limits = (bytes: 1 << 20, tokens: 10_000)

    /// Reads the tokens. Blank lines and those that begin with `#` are comments.
    package func read() throws(RelayError) -> [AccessToken] {
        let lines = try text().split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var tokens: [AccessToken] = []
        for (index, line) in lines.enumerated() {
            let word = line.trimmingCharacters(in: .whitespaces)
            if word.isEmpty || word.hasPrefix("#") { continue }
            guard let token = AccessToken(word) else {
                throw error("has no token in line \(index + 1)", "A token is \(AccessToken.description)")
            }
            tokens.append(token)
        }
        guard !tokens.isEmpty else { throw error("has no token", "Write one a line") }
        guard tokens.count <= Self.limits.tokens else {
            throw error("has more than \(Self.limits.tokens) tokens", "Give several viewers one token")
        }
        return tokens
    }

    private func text() throws(RelayError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        guard status.st_mode & S_IROTH == 0 else {
            throw error("can be read by everybody", "Let only its owner read it: chmod 600")
        }
        let data: Data
        do { data = try file.read(upToCount: Self.limits.bytes + 1) ?? Data() } catch { throw unreadable(EIO) }
        guard data.count <= Self.limits.bytes, let text = String(data: data, encoding: .utf8) else {
            throw error("is no text of at most 1 MiB", "Write one token a line")
        }
        return text
    }

    private func unreadable(_ code: Int32) -> RelayError {
        error("cannot be read: \(unsafe String(cString: strerror(code)))", "Check its name and permissions")
    }

    private func error(_ fault: String, _ advice: String) -> RelayError {
        RelayError(.badCredentials, "The token file \(path) \(fault)", advice: advice)
    }
}

extension AccessToken {
    /// The form of a token, in words.
    package static let description = "\(lengths.lowerBound) to \(lengths.upperBound) visible ASCII characters"
}
