import Glibc

/// An open file that is read by byte ranges and closed with its last owner.
///
/// The file knows whether it has changed since it was opened, and then returns no bytes.
package final class LocalFile: Sendable {
    /// The properties that tell one version of a file from the next.
    ///
    /// Timestamps of a file system advance in steps of some milliseconds: two writes within one step may be
    /// indistinguishable.
    private struct Identity: Equatable, Sendable {
        let device: dev_t
        let inode: ino_t
        let byteCount: off_t
        let modifiedSeconds: Int
        let modifiedNanoseconds: Int

        init(_ status: stat) {
            (device, inode, byteCount) = (status.st_dev, status.st_ino, status.st_size)
            (modifiedSeconds, modifiedNanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    package let path: String
    /// The file's size when it was opened.
    package let byteCount: UInt64
    private let identity: Identity
    private let descriptor: Int32

    package init(_ path: String) throws(LocalFileError) {
        self.path = path
        // O_NONBLOCK: opening a pipe that has no writer would wait for one.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw LocalFileError(.system(errno), path: path) }
        var status = stat()
        let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isFile, let byteCount = UInt64(exactly: status.st_size) else {
            close(descriptor)
            throw LocalFileError(.notAFile, path: path)
        }
        self.byteCount = byteCount
        identity = Identity(status)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether the path leads to another file, or this file was overwritten. Removing the name alone changes nothing.
    package var hasChanged: Bool {
        var status = stat()
        let isReplaced = unsafe stat(path, &status) == 0 && Identity(status) != identity
        return isReplaced || !isUnmodified
    }

    private var isUnmodified: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && Identity(status) == identity
    }

    /// Reads byte ranges inside the file, one after the other.
    /// - Throws: `.changed` if the file was modified, since the bytes may then mix two versions.
    package func read(_ ranges: [Range<UInt64>]) throws(LocalFileError) -> [UInt8] {
        var failure: LocalFileError.Reason?
        let expected = ranges.reduce(0) { $0 + $1.count }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: expected) { buffer, filled in
            for range in ranges where failure == nil {
                let part = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled..<filled + range.count])
                failure = unsafe fill(UnsafeMutableRawBufferPointer(part), from: range.lowerBound)
                filled += failure == nil ? range.count : 0
            }
        }
        if let failure { throw LocalFileError(failure, path: path) }
        guard isUnmodified else { throw LocalFileError(.changed, path: path) }
        return bytes
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) -> LocalFileError.Reason? {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + filled)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return .system(errno) }
            if count == 0 { return .changed }
            filled += count
        }
        return nil
    }
}

package struct LocalFileError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// errno of the system call that failed.
        case system(Int32)
        /// The path names a directory, a pipe or a device.
        case notAFile
        /// The file was overwritten or truncated while it was read.
        case changed
    }

    package let reason: Reason
    package let path: String

    package init(_ reason: Reason, path: String) {
        self.reason = reason
        self.path = path
    }
}
