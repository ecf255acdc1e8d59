import Support
import Synchronization

/// A body as one gzip member, compressed when the first client asks for it.
package final class LazyGzip: Equatable, Sendable {
    private enum State {
        case pending
        /// nil if zlib cannot allocate its state.
        case finished([UInt8]?)
    }

    private let bytes: [UInt8]
    private let state = Mutex(State.pending)

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The compressed body; nil if it cannot be compressed. The first call compresses, and others wait for it.
    package var member: [UInt8]? {
        state.withLock { state in
            if case .finished(let member) = state { return member }
            let member = Gzip.compress(bytes)
            state = .finished(member)
            return member
        }
    }

    /// Whether `member` takes no time.
    package var isFinished: Bool {
        state.withLockIfAvailable { if case .finished = $0 { true } else { false } } ?? false
    }

    package static func == (left: LazyGzip, right: LazyGzip) -> Bool { left.bytes == right.bytes }
}
