import Glibc
import NIOCore

/// The files of one response body on their way to one client: one open at a time, handed to sendfile in slices.
///
/// Files are opened on the event loop: open, fstat and close of a file that was written minutes ago take
/// less than 10 µs together, a few percent of what sending 2 MB takes; that is not worth a second pool of threads.
struct FileTransmission: ~Copyable {
    /// Why an announced file cannot be sent, or not to its end.
    enum Failure: Error, Equatable {
        /// It has been removed since the response was made.
        case missing
        /// It is shorter than announced, or no regular file.
        case changed
        /// open or fstat failed; EMFILE is the likely one.
        case system(errno: Int32)
    }

    /// Large enough to cost nothing, small enough that a client at 70 kbit/s still finishes one within the idle time.
    static let sliceByteCount = 512 * 1024

    private var waiting: ArraySlice<ConditionalResponse.FileSlice>
    private var current: OpenFile

    /// Opens the first file, so that its absence can still become a status.
    /// - Parameter slices: at least one.
    init(_ slices: [ConditionalResponse.FileSlice]) throws(Failure) {
        guard let first = slices.first else { throw .missing }
        let opened = try OpenFile.open(first)
        waiting = slices.dropFirst()
        current = opened
    }

    /// The next region to send, valid until the next call; nil after the last.
    mutating func next() throws(Failure) -> FileRegion? {
        if current.isSent {
            guard let slice = waiting.popFirst() else { return nil }
            current = try OpenFile.open(slice)
        }
        return try current.next(atMost: Self.sliceByteCount)
    }
}

/// One open file and what of it is still to be sent.
private struct OpenFile: ~Copyable {
    private let handle: NIOFileHandle
    private let descriptor: CInt
    private let byteCount: Int
    private var unsent: Range<Int>

    static func open(_ slice: ConditionalResponse.FileSlice) throws(FileTransmission.Failure) -> OpenFile {
        // O_NONBLOCK: whatever else lies under the name, a FIFO above all, must not hold the event loop.
        let descriptor = unsafe Glibc.open(slice.file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw errno == ENOENT ? .missing : .system(errno: errno) }
        let file = OpenFile(owning: descriptor, slice)
        try file.checkLength()
        return file
    }

    private init(owning descriptor: CInt, _ slice: ConditionalResponse.FileSlice) {
        self.descriptor = descriptor
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        byteCount = slice.file.byteCount
        unsent = slice.bytes
    }

    deinit {
        // The only failure is EBADF: nobody else has closed what we own.
        try? handle.close()
    }

    var isSent: Bool { unsent.isEmpty }

    mutating func next(atMost limit: Int) throws(FileTransmission.Failure) -> FileRegion {
        // sendfile past the end of a file returns 0 for ever, so the length is asked for before every slice.
        try checkLength()
        let slice = unsent.prefix(limit)
        unsent.removeFirst(slice.count)
        return FileRegion(fileHandle: handle, readerIndex: slice.lowerBound, endIndex: slice.upperBound)
    }

    private func checkLength() throws(FileTransmission.Failure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) >= byteCount else { throw .changed }
    }
}
