import Glibc

/// A request whose body goes into a file, because the body may be too large for memory.
package struct Download: Sendable {
    package let file: DownloadFile
    /// Further fields of the request, such as conditions.
    package let fields: [FetchAnswer.Header]
    package let limits: CurlConfiguration.Limits

    package init(to file: DownloadFile, fields: [FetchAnswer.Header] = [], limits: CurlConfiguration.Limits) {
        self.file = file
        self.fields = fields
        self.limits = limits
    }
}

/// A new file that a transfer writes to.
package final class DownloadFile: Sendable {
    package let path: String
    private let descriptor: Int32

    /// Creates the file, or empties it.
    /// - Returns: nil if that fails; `errno` says why.
    package init?(path: String) {
        self.path = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns false if the bytes could not be written.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var stored = 0
        while stored < bytes.count {
            let rest = unsafe bytes.baseAddress.map { unsafe $0 + stored }
            let count = unsafe write(descriptor, rest, bytes.count - stored)
            guard count > 0 else { return false }
            stored += count
        }
        return true
    }

    func clear() {
        _ = ftruncate(descriptor, 0)
        _ = lseek(descriptor, 0, SEEK_SET)
    }
}
