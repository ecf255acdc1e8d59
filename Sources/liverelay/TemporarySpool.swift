import Foundation
import Glibc
import LiveRing

/// A directory for the ring of one process, which removes it at its end. What is left of such as were killed the next one
/// removes: whoever lives holds a lock on his.
final class TemporarySpool: Sendable {
    private static let prefix = "liverelay-"
    /// A process that begins at the same moment may take a directory for left over that has no lock yet.
    private static let attempts = 4

    let path: String
    /// Directories of processes that are no more.
    let removedLeftovers: Int
    private let lock: DirectoryLock

    /// - Throws: `.cannotSpool`.
    init(in parent: URL) throws(RelayError) {
        removedLeftovers = Self.removeLeftovers(in: parent)
        var code = EEXIST
        for _ in 0..<Self.attempts {
            let path = parent.appending(path: Self.prefix + UUID().uuidString).path
            guard unsafe mkdir(path, 0o755) == 0 else {
                code = errno
                continue
            }
            guard let lock = DirectoryLock(path) else { continue }
            (self.path, self.lock) = (path, lock)
            return
        }
        throw RelayError(.system(.createDirectory, path: parent.path, code: code))
    }

    /// What is left when it cannot be removed is named by its own name, and nobody else's.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    private static func removeLeftovers(in parent: URL) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.count { name in
            guard name.hasPrefix(prefix), UUID(uuidString: String(name.dropFirst(prefix.count))) != nil else {
                return false
            }
            let path = parent.appending(path: name).path
            guard let lock = DirectoryLock(path), !DVRRing.isInUse(path) else { return false }
            // Held meanwhile: nobody begins in it.
            return withExtendedLifetime(lock) { (try? FileManager.default.removeItem(atPath: path)) != nil }
        }
    }
}

/// The lock on a directory of ours, given up with its last owner or its process.
private final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// nil when another process holds it, and for what is no directory, or no longer there, or another user's.
    init?(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        var (held, found) = (stat(), stat())
        let isOurs = unsafe fstat(descriptor, &held) == 0 && held.st_uid == geteuid()
        let isLocked = isOurs && flock(descriptor, LOCK_EX | LOCK_NB) == 0
        guard isLocked, unsafe lstat(path, &found) == 0, found.st_ino == held.st_ino, found.st_dev == held.st_dev else {
            return nil
        }
    }

    deinit { close(descriptor) }
}
