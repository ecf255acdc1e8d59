import Dispatch
import Glibc
import Synchronization

/// An open descriptor that a stream is written to, whose reader may be slow, or gone.
///
/// The descriptor may be shared with other processes, so it is not made non-blocking. A write never blocks, because no
/// more is written at once than a pipe accepts when it is writable.
final class StreamDescriptor: Sendable {
    enum Failure: Error, Equatable, Sendable {
        /// The reader closed the pipe.
        case closed
        case system(code: Int32)
        case canceled
    }

    /// Whole packets in what a writable pipe accepts at once (PIPE_BUF, 4,096 bytes).
    private static let writeSize = 4096 / 188 * 188
    /// Milliseconds between two looks whether the write was canceled.
    private static let pollInterval: Int32 = 100

    let name: String
    private let descriptor: Int32
    private let isOwned: Bool
    private let queue = DispatchQueue(label: "stream")
    private let isCanceled = Atomic(false)
    private let writtenByte = Atomic(false)

    /// Whether any byte was accepted.
    var hasWritten: Bool { writtenByte.load(ordering: .relaxed) }

    /// - Parameter isOwned: whether the descriptor is closed at the end.
    init(_ descriptor: Int32, name: String, isOwned: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.isOwned = isOwned
    }

    deinit { if isOwned { close(descriptor) } }

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
            if let failure = waitUntilWritable() { return failure }
            let count = unsafe rest.prefix(Self.writeSize).withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
                if count > 0 { writtenByte.store(true, ordering: .relaxed) }
            } else if errno != EINTR, errno != EAGAIN {
                return Failure(code: errno)
            }
        }
        return nil
    }

    private func waitUntilWritable() -> Failure? {
        while !isCanceled.load(ordering: .relaxed) {
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
