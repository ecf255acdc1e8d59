import Foundation
import Glibc
package import Support

/// A file of secrets, one per line, which must not be readable for everybody. Blank lines and lines that begin with `#`
/// are comments.
package struct SecretFile: Sendable {
    /// The most bytes of a file.
    private static let byteLimit = 1 << 20

    private let path: String
    private let kind: String

    /// - Parameter kind: the kind of secret in messages, such as `token`.
    package init(_ path: String, of kind: String) { (self.path, self.kind) = (path, kind) }

    /// The secrets with the numbers of their lines, which count from 1.
    package func words() throws(RelayError) -> [(line: Int, word: Secret)] {
        try text().split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated()
            .compactMap { index, line in
                let word = line.trimmingCharacters(in: .whitespaces)
                return word.isEmpty || word.hasPrefix("#") ? nil : (index + 1, Secret(word))
            }
    }

    package func error(_ fault: String, advice: String) -> RelayError {
        RelayError(.badCredentials, "The \(kind) file \(path) \(fault)", advice: advice)
    }

    private func text() throws(RelayError) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
        guard status.st_mode & S_IROTH == 0 else {
            throw error("can be read by everybody", advice: "Let only its owner read it: chmod 600")
        }
        let data: Data
        do { data = try file.read(upToCount: Self.byteLimit + 1) ?? Data() } catch { throw unreadable(EIO) }
        guard data.count <= Self.byteLimit, let text = String(data: data, encoding: .utf8) else {
            throw error("is no text of at most 1 MiB", advice: "Write one \(kind) a line")
        }
        return text
    }

    private func unreadable(_ code: Int32) -> RelayError {
        error("cannot be read: \(unsafe String(cString: strerror(code)))", advice: "Check its name and permissions")
    }
}
