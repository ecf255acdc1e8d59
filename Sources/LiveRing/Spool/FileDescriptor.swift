import Glibc

/// An open file, closed with its owner. Errors name the path.
@safe struct FileDescriptor: ~Copyable {
    /// Pieces given to one `writev`; the kernel takes 1024 at most (IOV_MAX).
    private static let chunksPerWrite = 64

    private let raw: Int32
    let path: String

    /// - Parameter flags: of open(2); O_CLOEXEC is added. A file that is created is readable by all.
    init(_ path: String, flags: Int32) throws(RingError) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system(.open, path: path, code: errno) }
        raw = descriptor
        self.path = path
    }

    /// The same open file once more: a lock that it holds is held until both are closed.
    init(duplicating other: borrowing FileDescriptor) throws(RingError) {
        let descriptor = fcntl(other.raw, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system(.open, path: other.path, code: errno) }
        raw = descriptor
        path = other.path
    }

    deinit { close(raw) }

    /// - Returns: false when another open file holds the lock.
    func lockExclusively() throws(RingError) -> Bool {
        if flock(raw, LOCK_EX | LOCK_NB) == 0 { return true }
        if errno == EWOULDBLOCK { return false }
        throw .system(.lock, path: path, code: errno)
    }

    /// The name that it was opened by still leads to it.
    var isAtItsPath: Bool {
        var (held, found) = (stat(), stat())
        guard unsafe fstat(raw, &held) == 0, unsafe stat(path, &found) == 0 else { return false }
        return held.st_ino == found.st_ino && held.st_dev == found.st_dev
    }

    func byteCount() throws(RingError) -> Int {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw .system(.read, path: path, code: errno) }
        return Int(status.st_size)
    }

    /// Everything from the current position to the end.
    func readToEnd() throws(RingError) -> [UInt8] {
        let expected = try byteCount()
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: expected) { buffer, filled in
            while filled < expected {
                let count = unsafe read(raw, buffer.baseAddress?.advanced(by: filled), expected - filled)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                if count <= 0 { break }
                filled += count
            }
        }
        guard failure == 0 else { throw .system(.read, path: path, code: failure) }
        return bytes
    }

    /// Writes all pieces one behind the other, from where they lie.
    func write(_ pieces: [ArraySlice<UInt8>]) throws(RingError) {
        for start in stride(from: 0, to: pieces.count, by: Self.chunksPerWrite) {
            let batch = pieces[start..<min(start + Self.chunksPerWrite, pieces.count)]
            var vectors: [iovec] = unsafe []
            let code = unsafe gatherWrite(batch, into: &vectors)
            guard code == 0 else { throw .system(.write, path: path, code: code) }
        }
    }

    /// Holds the pieces' memory one inside the other, then writes.
    /// - Returns: errno, 0 when everything is written.
    private func gatherWrite(_ pieces: ArraySlice<ArraySlice<UInt8>>, into vectors: inout [iovec]) -> Int32 {
        guard let piece = pieces.first else { return unsafe writeAll(&vectors) }
        return unsafe piece.withUnsafeBytes { bytes in
            if unsafe !bytes.isEmpty {
                let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                unsafe vectors.append(iovec(iov_base: base, iov_len: bytes.count))
            }
            return unsafe gatherWrite(pieces.dropFirst(), into: &vectors)
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
        var left = count
        while left > 0, let first = unsafe vectors.first {
            if unsafe left < first.iov_len {
                unsafe vectors[0].iov_base = first.iov_base.advanced(by: left)
                unsafe vectors[0].iov_len -= left
                return
            }
            unsafe left -= first.iov_len
            unsafe vectors.removeFirst()
        }
    }
}
