import Glibc

/// An open file that closes when its owner is destroyed. Errors name the path.
@safe struct FileDescriptor: ~Copyable {
    /// The number of chunks given to one `writev`; the kernel accepts at most 1024 (IOV_MAX).
    private static let chunksPerWrite = 256

    /// The error of a file that does not exist.
    static let doesNotExist = ENOENT

    private let raw: Int32
    let path: String

    /// - Parameter flags: the flags of open(2); O_CLOEXEC is added. A new file is readable by every user.
    init(_ path: String, flags: Int32 = O_RDONLY) throws(RingError) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system(.open, path: path, code: errno) }
        raw = descriptor
        self.path = path
    }

    deinit { close(raw) }

    /// - Returns: false if another open file holds the lock.
    func lockExclusively() throws(RingError) -> Bool {
        if flock(raw, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw .system(.lock, path: path, code: errno)
    }

    /// Ends the lock even if another process has the open file: a child process that was just forked has it until it
    /// runs its program.
    func unlock() { _ = flock(raw, LOCK_UN) }

    func identity() throws(RingError) -> FileIdentity { FileIdentity(try status()) }

    func byteCount() throws(RingError) -> Int { Int(try status().st_size) }

    func version() throws(RingError) -> FileVersion { FileVersion(try status()) }

    private func status() throws(RingError) -> stat {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw .system(.read, path: path, code: errno) }
        return status
    }

    /// Reads the bytes from the current position to the end.
    func readToEnd() throws(RingError) -> [UInt8] { try nextBytes(byteCount()) }

    /// Reads the bytes of a range; fewer if the file ends early.
    func bytes(in range: Range<Int>) throws(RingError) -> [UInt8] {
        guard lseek(raw, range.lowerBound, SEEK_SET) >= 0 else { throw .system(.read, path: path, code: errno) }
        return try nextBytes(range.count)
    }

    private func nextBytes(_ count: Int) throws(RingError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            failure = unsafe fill(buffer, &filled)
        }
        guard failure == 0 else { throw .system(.read, path: path, code: failure) }
        return bytes
    }

    /// Reads the bytes from the current position to the end into the beginning of `bytes`, which is enlarged if
    /// necessary.
    /// - Returns: the number of bytes.
    func readToEnd(into bytes: inout [UInt8]) throws(RingError) -> Int {
        let expected = try byteCount()
        if bytes.count < expected { bytes = [UInt8](repeating: 0, count: expected + expected / 8) }
        var (failure, filled): (Int32, Int) = (0, 0)
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            failure = unsafe fill(UnsafeMutableBufferPointer(rebasing: buffer.prefix(expected)), &filled)
        }
        guard failure == 0 else { throw .system(.read, path: path, code: failure) }
        return filled
    }

    /// - Returns: errno, or 0 if the buffer is full or the file has ended.
    private func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>, _ filled: inout Int) -> Int32 {
        while filled < buffer.count {
            let count = unsafe read(raw, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count < 0 ? errno : 0 }
            filled += count
        }
        return 0
    }

    /// Writes the chunks in order, without copying them.
    func write(_ chunks: [ArraySlice<UInt8>]) throws(RingError) {
        for start in stride(from: 0, to: chunks.count, by: Self.chunksPerWrite) {
            let batch = chunks[start..<min(start + Self.chunksPerWrite, chunks.count)]
            var vectors: [iovec] = unsafe []
            let code = unsafe gatherWrite(batch, into: &vectors)
            guard code == 0 else { throw .system(.write, path: path, code: code) }
        }
    }

    /// Pins the memory of the chunks in nested calls, then writes.
    /// - Returns: errno, or 0 if all bytes are written.
    private func gatherWrite(_ chunks: ArraySlice<ArraySlice<UInt8>>, into vectors: inout [iovec]) -> Int32 {
        guard let chunk = chunks.first else { return unsafe writeAll(&vectors) }
        return unsafe chunk.withUnsafeBytes { bytes in
            if unsafe !bytes.isEmpty {
                let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                unsafe vectors.append(iovec(iov_base: base, iov_len: bytes.count))
            }
            return unsafe gatherWrite(chunks.dropFirst(), into: &vectors)
        }
    }

    private func writeAll(_ vectors: inout [iovec]) -> Int32 {
        while unsafe !vectors.isEmpty {
            let written = unsafe writev(raw, vectors, Int32(vectors.count))
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return written < 0 ? errno : EIO }
            unsafe advance(&vectors, by: written)
        }
        return 0
    }

    private func advance(_ vectors: inout [iovec], by count: Int) {
        var remaining = count
        while remaining > 0, let first = unsafe vectors.first {
            if unsafe remaining < first.iov_len {
                unsafe vectors[0].iov_base = first.iov_base.advanced(by: remaining)
                unsafe vectors[0].iov_len -= remaining
                return
            }
            unsafe remaining -= first.iov_len
            unsafe vectors.removeFirst()
        }
    }
}

/// Identifies an existing file.
struct FileIdentity: Equatable, Sendable {
    private let device: dev_t
    private let inode: ino_t

    init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    /// nil if no file is at the path.
    init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// Identifies a file and its content, as far as the file system tells.
struct FileVersion: Equatable, Sendable {
    let identity: FileIdentity
    /// The size, and when the content changed.
    private let numbers: [Int]

    init(_ status: stat) {
        identity = FileIdentity(status)
        numbers = [status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    /// nil if no file is at the path.
    init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
