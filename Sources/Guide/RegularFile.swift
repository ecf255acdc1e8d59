package import Foundation
import Glibc

/// A regular file that is open for reading. Directories, devices and pipes are refused, because reading them may never
/// end.
package struct RegularFile {
    package enum Failure: Error, Equatable {
        case system(errno: Int32)
        case notRegular

        /// Words that follow "it cannot be read: ".
        package var message: String {
            switch self {
            case .system(let code): unsafe String(cString: strerror(code))
            case .notRegular: "it is no regular file"
            }
        }
    }

    private let handle: FileHandle
    let byteCount: Int
    /// Changes whenever the file is written.
    let version: String

    /// Opens a file without waiting.
    package init(_ path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno: errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        byteCount = status.st_size
        version = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)-\(status.st_size)"
    }

    /// The next bytes, `limit` at most; empty at the end.
    package func read(limit: Int) throws(Failure) -> Data {
        do { return try handle.read(upToCount: limit) ?? Data() } catch {
            let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue ?? errno
            throw .system(errno: code)
        }
    }
}
