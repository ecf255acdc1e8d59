import Synchronization

/// Counts the bytes that are held for clients. Each body counts once, until its last reference is released.
package final class ByteBudget: Sendable {
    /// In bytes. Callers compare it with `heldBytes`; `hold` itself refuses nothing.
    package let limit: Int
    private let held = Mutex(0)

    package init(limit: Int) { self.limit = limit }

    package var heldBytes: Int { held.withLock { $0 } }

    /// Counts `bytes` until the last reference to the result is gone.
    package func hold(_ bytes: [UInt8]) -> HeldBytes {
        held.withLock { $0 += bytes.count }
        return HeldBytes(bytes, in: self)
    }

    fileprivate func release(_ byteCount: Int) { held.withLock { $0 -= byteCount } }
}

/// A body in memory that any number of clients are sent, counted once.
package final class HeldBytes: Sendable, Equatable {
    package let bytes: [UInt8]
    private let budget: ByteBudget

    fileprivate init(_ bytes: [UInt8], in budget: ByteBudget) { (self.bytes, self.budget) = (bytes, budget) }

    deinit { budget.release(bytes.count) }

    package static func == (left: HeldBytes, right: HeldBytes) -> Bool { left === right }
}
