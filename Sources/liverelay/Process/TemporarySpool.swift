import Foundation
import Glibc
import LiveRing
import Support
import Synchronization

/// A directory for the ring of one process, which removes the directory at its end.
///
/// A running process holds a lock on its directory. The next process removes the directories of killed processes, which
/// hold no lock.
final class TemporarySpool: Sendable {
    private static let prefix = "liverelay-"
    /// A process that starts at the same moment may remove a directory before it is locked, so creation is retried.
    private static let attempts = 4

    let path: String
    /// Number of removed directories of killed processes.
    let removedCount: Int
    private let lock: DirectoryLock
    /// Whether this process removes the directory.
    private let isOwned: Mutex<Bool>

    /// The directory of another process, which removes it unless `setOwned` is called.
    /// - Parameter lock: descriptor of the directory, which holds its lock.
    init(of path: String, lock: Int32) {
        (self.path, self.lock, removedCount) = (path, DirectoryLock(holding: lock), 0)
        isOwned = Mutex(false)
    }

    /// Decides whether this process removes the directory.
    func setOwned(_ isOwned: Bool) {
        self.isOwned.withLock { $0 = isOwned }
        Self.open.withLock { paths in _ = isOwned ? paths.insert(path).inserted : paths.remove(path) != nil }
    }

    /// A descriptor that holds the lock of the directory.
    var lockDescriptor: Int32 { lock.descriptor }

    /// - Throws: `.cannotSpool`.
    init(in parent: URL) throws(RelayError) {
        removedCount = Self.removeUnlocked(in: parent)
        isOwned = Mutex(true)
        var code = EEXIST
        for _ in 0..<Self.attempts {
            let path = parent.appending(path: Self.prefix + UUID().uuidString).path
            guard unsafe mkdir(path, 0o700) == 0 else {
                code = errno
                continue
            }
            guard let lock = DirectoryLock(path) else { continue }
            (self.path, self.lock) = (path, lock)
            Self.open.withLock { _ = $0.insert(path) }
            return
        }
        throw RelayError(.system(.createDirectory, path: parent.path, code: code))
    }

    func remove() {
        guard isOwned.withLock({ $0 }) else { return }
        try? FileManager.default.removeItem(atPath: path)
        Self.open.withLock { _ = $0.remove(path) }
    }

    /// The directories of this process.
    private static let open = Mutex<Set<String>>([])

    /// Removes all directories of this process, right before it ends.
    static func removeAll() {
        for path in open.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    private static func removeUnlocked(in parent: URL) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.count { name in
            guard name.hasPrefix(prefix), UUID(uuidString: String(name.dropFirst(prefix.count))) != nil else {
                return false
            }
            let path = parent.appending(path: name).path
            guard let lock = DirectoryLock(path), !DVRRing.isInUse(path) else { return false }
            // Hold the lock meanwhile, so that no other process uses the directory.
            return withExtendedLifetime(lock) { (try? FileManager.default.removeItem(atPath: path)) != nil }
        }
    }
}

/// A lock on a directory of this user, released with its last owner or its process.
private final class DirectoryLock: Sendable {
    let descriptor: Int32

    /// - Parameter descriptor: holds the lock already.
    init(holding descriptor: Int32) { self.descriptor = descriptor }

    /// - Returns: nil if another process holds the lock, or if `path` is missing, no directory or another user's.
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

/// The directory of the ring's files: a given one that is kept, or a temporary one.
struct SpoolLocation {
    let path: String
    private let temporary: TemporarySpool?

    /// A temporary directory.
    /// - Parameter parent: path of the directory in which it is, created if it does not exist; nil: the system's.
    init(temporaryIn parent: String?) throws(RelayError) {
        let parent = try parent.map { path throws(RelayError) in URL(filePath: try SpoolLocation(path).path) }
        let temporary = try TemporarySpool(in: parent ?? FileManager.default.temporaryDirectory)
        (path, self.temporary) = (temporary.path, temporary)
    }

    /// Creates the directory if it does not exist, and checks that it is writable.
    /// - Parameter given: path of the directory; nil for a temporary one.
    init(_ given: String?) throws(RelayError) {
        guard let given else {
            self = try SpoolLocation(temporaryIn: nil)
            return
        }
        let files = FileManager.default
        let url = URL(filePath: given, directoryHint: .isDirectory)
        (path, temporary) = (url.path, nil)
        do {
            try files.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code ?? .EEXIST
            throw RelayError(.system(.createDirectory, path: path, code: code.rawValue))
        }
        guard files.isWritableFile(atPath: path) else {
            throw RelayError(
                .cannotSpool, "\(path) cannot be written", advice: "Give another --spool, or correct its permissions")
        }
    }

    /// The directory of another process.
    /// - Parameter lock: descriptor that holds the lock of a temporary directory; nil: the directory is kept.
    init(of path: String, lock: Int32?) {
        (self.path, temporary) = (path, lock.map { TemporarySpool(of: path, lock: $0) })
    }

    var isTemporary: Bool { temporary != nil }

    /// A descriptor that holds the lock of a temporary directory.
    var lockDescriptor: Int32? { temporary?.lockDescriptor }

    /// Decides whether this process removes a temporary directory.
    func setOwned(_ isOwned: Bool) { temporary?.setOwned(isOwned) }

    /// Number of temporary directories of killed processes that were removed.
    var removedCount: Int { temporary?.removedCount ?? 0 }

    func removeIfTemporary() { temporary?.remove() }
}
