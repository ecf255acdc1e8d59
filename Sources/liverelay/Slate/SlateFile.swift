import Glibc

/// An open file, read by ranges and closed with its last owner. That it is replaced meanwhile does no harm; that it is cut
/// short is found out.
final class SlateFile: Sendable {
    let path: String
    /// When it was opened.
    let byteCount: UInt64
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
            throw RelayError(slate: path, .noFile)
        }
        self.byteCount = byteCount
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// - Parameter ranges: inside the file.
    /// - Returns: their bytes, one behind the other.
    func read(_ ranges: [Range<UInt64>]) throws(RelayError) -> [UInt8] {
        var failure: SlateTrouble?
        let expected = ranges.reduce(0) { $0 + $1.count }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: expected) { buffer, filled in
            for range in ranges where failure == nil {
                let part = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled..<filled + range.count])
                failure = unsafe fill(UnsafeMutableRawBufferPointer(part), from: range.lowerBound)
                filled += failure == nil ? range.count : 0
            }
        }
        if let failure { throw RelayError(slate: path, failure) }
        return bytes
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) -> SlateTrouble? {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset) + filled)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return .system(errno) }
            if count == 0 { return .shortened }
            filled += count
        }
        return nil
    }
}
