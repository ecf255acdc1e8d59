import Glibc

/// An open file, read by ranges and closed with its last owner. It knows whether it is still what it was when it was
/// opened, and gives no bytes that are not.
final class SlateFile: Sendable {
    /// What tells a file from another that takes its place, and from itself written over. A clock of files stands still
    /// for some milliseconds: what is written twice in them may look the same.
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

    let path: String
    /// When it was opened.
    let byteCount: UInt64
    private let identity: Identity
    private let descriptor: Int32

    init(_ path: String) throws(RelayError) {
        self.path = path
        // A pipe that nobody writes would be waited for.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw RelayError(slate: path, .system(errno)) }
        var status = stat()
        let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isFile, let byteCount = UInt64(exactly: status.st_size) else {
            close(descriptor)
            throw RelayError(slate: path, .notAFile)
        }
        self.byteCount = byteCount
        identity = Identity(status)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Another file has its place, or it was written over. One whose name is gone is what it was.
    var hasChanged: Bool {
        var status = stat()
        let isElsewhere = unsafe stat(path, &status) == 0 && Identity(status) != identity
        return isElsewhere || !isUnmodified
    }

    private var isUnmodified: Bool {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && Identity(status) == identity
    }

    /// - Parameter ranges: inside the file.
    /// - Returns: their bytes, one behind the other.
    /// - Throws: `.badSlate`, also where the file is not what was opened any more: its bytes may be of both.
    func read(_ ranges: [Range<UInt64>]) throws(RelayError) -> [UInt8] {
        var failure: SlateError?
        let expected = ranges.reduce(0) { $0 + $1.count }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: expected) { buffer, filled in
            for range in ranges where failure == nil {
                let part = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled..<filled + range.count])
                failure = unsafe fill(UnsafeMutableRawBufferPointer(part), from: range.lowerBound)
                filled += failure == nil ? range.count : 0
            }
        }
        if let failure { throw RelayError(slate: path, failure) }
        guard isUnmodified else { throw RelayError(slate: path, .changed) }
        return bytes
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) -> SlateError? {
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
