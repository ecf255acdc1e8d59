import Glibc

/// The identity of a file and of its content, as far as the file system tells.
struct FileVersion: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64
    private let byteCount: Int64
    private let modified: [Int]

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        byteCount = Int64(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }
}
