/// The space of a file system.
package struct FileSystemSpace: Equatable, Sendable {
    /// The most bytes that stay free on a large file system, for its other users.
    package static let largestReserve: UInt64 = 1 << 30
    private static let reservedParts: UInt64 = 10

    /// Bytes that this process may still write.
    package let freeBytes: UInt64
    /// Free bytes and bytes in use. Neither counts blocks that are reserved for the superuser.
    package let byteCount: UInt64

    package init(freeBytes: UInt64, byteCount: UInt64) { (self.freeBytes, self.byteCount) = (freeBytes, byteCount) }

    /// The bytes that media kept for long must leave free: rewinds, archives, recordings.
    ///
    /// A tenth of the file system, at most `largestReserve`. Media for viewers at the live edge may use them.
    package var reserve: UInt64 { min(Self.largestReserve, byteCount / Self.reservedParts) }
}

/// Removed bytes that the file system may not count as free yet.
struct RemovedBytes: Equatable, Sendable {
    /// The number of publishes after which the bytes count as free, whatever the file system reports.
    private static let publishes = 8

    private var byteCount: UInt64 = 0
    private var freeBefore: UInt64 = 0
    private var publishesLeft = 0

    /// - Parameter freeBefore: the free bytes before the removal.
    mutating func record(_ byteCount: UInt64, freeBefore: UInt64) {
        (self.byteCount, self.freeBefore, publishesLeft) = (byteCount, freeBefore, Self.publishes)
    }

    /// The removed bytes that `free` does not include yet. Called once with each publish.
    mutating func pending(with free: UInt64) -> UInt64 {
        guard publishesLeft > 0 else { return 0 }
        publishesLeft -= 1
        let counted = free - min(free, freeBefore)
        return byteCount - min(byteCount, counted)
    }
}
