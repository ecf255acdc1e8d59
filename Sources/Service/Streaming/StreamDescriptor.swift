import CFileSystem
import Dispatch
import Glibc
import Media
import Synchronization

/// An open descriptor that a stream is written to. Its reader may be slow, or gone.
///
/// The descriptor may be shared with other processes, so it is not made non-blocking. A write never blocks: it is asked
/// not to, or, if the system cannot do that, at most as much is written at once as a writable pipe accepts.
package final class StreamDescriptor: Sendable {
    enum Failure: Error, Equatable, Sendable {
        /// The reader closed the pipe.
        case closed
        case system(code: Int32)
        case canceled
    }

    /// The kind of file that a descriptor is open on, which decides how fast the stream is written.
    package enum Kind: Equatable, Sendable {
        /// A pipe, a FIFO or a socket: somebody reads it as it comes.
        case pipe
        case terminal
        /// A regular file, or a device.
        case file
    }

    /// The bytes of whole packets that a writable pipe accepts at once (PIPE_BUF, 4,096 bytes).
    private static let writeSize = 4096 / PacketStride.packetSize * PacketStride.packetSize
    /// Milliseconds between two checks whether the write was canceled.
    private static let pollInterval: Int32 = 100

    package let name: String
    package let kind: Kind
    private let descriptor: Int32
    private let isOwned: Bool
    private let queue = DispatchQueue(label: "stream")
    private let isCanceled = Atomic(false)
    /// Whether single writes can be asked not to wait, as for pipes since Linux 6.4.
    private let canDeclineToWait = Atomic(true)

    /// - Parameter isOwned: whether the descriptor is closed at the end.
    /// - Throws: `.system` if the descriptor is not open.
    init(_ descriptor: Int32, name: String, isOwned: Bool) throws(Failure) {
        kind = try Kind(of: descriptor)
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
    }

    deinit { if isOwned { close(descriptor) } }

    /// Whether nobody can read written data any more.
    var isReaderGone: Bool {
        guard kind == .pipe else { return false }
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
    }

    /// Writes all bytes. Canceling the task ends a write that waits for the reader.
    func write(_ bytes: ArraySlice<UInt8>) async throws(Failure) {
        let failure: Failure? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in continuation.resume(returning: writeNow(bytes)) }
            }
        } onCancel: {
            isCanceled.store(true, ordering: .relaxed)
        }
        if let failure { throw failure }
    }

    private func writeNow(_ bytes: ArraySlice<UInt8>) -> Failure? {
        var rest = bytes
        while !rest.isEmpty {
            if isCanceled.load(ordering: .relaxed) { return .canceled }
            if kind != .file, let count = writeWithoutWaiting(rest), count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            if let failure = waitUntilWritable() { return failure }
            if kind != .file, canDeclineToWait.load(ordering: .relaxed) { continue }
            // A write to a file waits only for the disk.
            let size = kind == .file ? rest.count : Self.writeSize
            let count = unsafe rest.prefix(size).withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                return Failure(code: errno)
            }
        }
        return nil
    }

    /// Writes what the pipe accepts now.
    /// - Returns: the number of bytes; nil if the pipe accepts nothing, or if that cannot be told without waiting.
    private func writeWithoutWaiting(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard canDeclineToWait.load(ordering: .relaxed) else { return nil }
        let count = unsafe bytes.withUnsafeBytes { bytes in
            let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            var vector = unsafe iovec(iov_base: base, iov_len: bytes.count)
            return unsafe pwritev2(descriptor, &vector, 1, -1, liverelay_write_at_once)
        }
        if count >= 0 { return count }
        // Any other error comes again from a write that waits.
        if errno != EAGAIN, errno != EINTR { canDeclineToWait.store(false, ordering: .relaxed) }
        return nil
    }

    private func waitUntilWritable() -> Failure? {
        while !isCanceled.load(ordering: .relaxed) {
            if kind == .file { return nil }
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let count = unsafe poll(&request, 1, Self.pollInterval)
            if count > 0 { return nil }
            if count < 0, errno != EINTR { return Failure(code: errno) }
        }
        return .canceled
    }
}

extension StreamDescriptor.Failure {
    fileprivate init(code: Int32) { self = code == EPIPE ? .closed : .system(code: code) }
}

extension StreamDescriptor.Kind {
    fileprivate init(of descriptor: Int32) throws(StreamDescriptor.Failure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(code: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFIFO, S_IFSOCK: self = .pipe
        default: self = isatty(descriptor) == 1 ? .terminal : .file
        }
    }
}
