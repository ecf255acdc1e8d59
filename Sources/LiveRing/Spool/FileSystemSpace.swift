import Glibc

/// The room of a file system.
package struct FileSystemSpace: Equatable, Sendable {
    /// Bytes that this process may still write.
    package let freeBytes: UInt64
    /// Those, and the bytes in use. What only the superuser may use is part of neither.
    package let byteCount: UInt64

    /// nil: the file system does not say.
    init?(at path: String) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        let blockSize = UInt64(status.f_frsize)
        freeBytes = UInt64(status.f_bavail) * blockSize
        byteCount = freeBytes + UInt64(status.f_blocks - min(status.f_bfree, status.f_blocks)) * blockSize
    }
}
