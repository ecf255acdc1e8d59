import CFileSystem
import Glibc

/// The file systems on which rings and recordings are.
package struct FileSystem: Sendable {
    /// Returns the space of the file system that contains a path; nil if the system does not report it.
    package let space: @Sendable (_ path: String) -> FileSystemSpace?
    /// Makes the file system of a directory count removed files as free. Some file systems do so only after a commit.
    let commit: @Sendable (_ path: String) -> Void
    /// A simulated disk error for tests; nil: none is simulated.
    let fault: WriteFault?
    /// Keeps the media files of rings that have one reader; nil: all files are in their directories.
    let memory: SpoolMemory?

    /// Given a file name and a number of bytes, the number of bytes written before the error and its errno; nil if the write
    /// succeeds.
    package typealias WriteFault = @Sendable (_ name: String, _ byteCount: Int) -> (written: Int, code: Int32)?

    package static let system = FileSystem()

    package init(
        space: @escaping @Sendable (String) -> FileSystemSpace? = { FileSystemSpace(at: $0) },
        commit: @escaping @Sendable (String) -> Void = { Self.sync($0) }, fault: WriteFault? = nil,
        memory: SpoolMemory? = nil
    ) {
        (self.space, self.commit, self.fault, self.memory) = (space, commit, fault, memory)
    }

    package static func sync(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        syncfs(descriptor)
    }
}

extension FileSystemSpace {
    /// nil if the system does not report the space.
    package init?(at path: String) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        let blockSize = UInt64(status.f_frsize)
        let free = UInt64(status.f_bavail) * blockSize
        let used = UInt64(status.f_blocks - min(status.f_bfree, status.f_blocks)) * blockSize
        self.init(freeBytes: free, byteCount: free + used)
    }
}
