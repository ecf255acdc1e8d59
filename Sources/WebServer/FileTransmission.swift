import Glibc
import HTTP
import NIOCore

/// An open file that is sent to one client in slices: by sendfile, or read where the connection is encrypted.
///
/// Files are opened on the event loop: open, fstat and close of a recently written file take less than 10 µs together, a
/// few percent of the time to send 2 MB. That does not justify a second thread pool.
struct FileTransmission: ~Copyable {
    /// Why an announced file cannot be sent completely.
    enum Failure: Error, Equatable {
        /// The file was removed after the response was made.
        case missing
        /// The file is shorter than announced, or not a regular file.
        case changed
        /// open or fstat failed, most likely with EMFILE.
        case system(errno: Int32)
    }

    /// Large enough for a negligible cost per slice; a client at 70 kbit/s still receives one within the idle time.
    static let sliceByteCount = 512 * 1024

    /// Bytes of one read. Each stream of an HTTP/2 connection holds one at most.
    static let readByteCount = 64 * 1024

    private let handle: NIOFileHandle
    private let descriptor: CInt
    private let byteCount: Int
    private var unsent: Range<Int>

    /// Opens the file before the head is sent, so that a missing file can still change the status.
    static func open(_ slice: ConditionalResponse.FileSlice) throws(Failure) -> FileTransmission {
        // O_NONBLOCK: a FIFO or device of that name must not block the event loop.
        let descriptor = unsafe Glibc.open(slice.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing : .system(errno: errno) }
        let file = FileTransmission(owning: descriptor, slice)
        try file.checkLength()
        return file
    }

    private init(owning descriptor: CInt, _ slice: ConditionalResponse.FileSlice) {
        self.descriptor = descriptor
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        byteCount = slice.fileByteCount
        unsent = slice.bytes
    }

    deinit {
        // close can only fail with EBADF, and nothing else closes this descriptor.
        try? handle.close()
    }

    /// The next region to send, valid until the next call; nil after the last one.
    mutating func next() throws(Failure) -> FileRegion? {
        if unsent.isEmpty { return nil }
        // sendfile past the end of a file returns 0 forever, so the length is checked before every slice.
        try checkLength()
        let slice = unsent.prefix(Self.sliceByteCount)
        unsent.removeFirst(slice.count)
        return FileRegion(fileHandle: handle, readerIndex: slice.lowerBound, endIndex: slice.upperBound)
    }

    /// The next bytes to send; nil after the last ones.
    mutating func read(_ allocator: ByteBufferAllocator) throws(Failure) -> ByteBuffer? {
        if unsent.isEmpty { return nil }
        try checkLength()
        let slice = unsent.prefix(Self.readByteCount)
        var buffer = allocator.buffer(capacity: slice.count)
        let count = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: slice.count) { space in
            max(0, unsafe pread(descriptor, space.baseAddress, slice.count, off_t(slice.lowerBound)))
        }
        guard count > 0 else { throw .changed }
        unsent.removeFirst(count)
        return buffer
    }

    private func checkLength() throws(Failure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) >= byteCount else { throw .changed }
    }
}
