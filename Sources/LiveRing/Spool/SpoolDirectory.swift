import Glibc

/// The directory of one ring, held by one process. A file appears in it whole or not at all: it is written under
/// another name and renamed.
///
/// Nothing is forced to the disk (`fsync`): what a killed process wrote is in the page cache and safe. After a power
/// loss the newest files may be missing or short, which recovery finds by their size.
struct SpoolDirectory: ~Copyable {
    let path: String
    private var lock: FileDescriptor
    /// Bytes free on the file system, nil when it does not say; a parameter so that a test can fill a disk.
    private let freeBytes: @Sendable () -> UInt64?
    private let fault: WriteFault?

    /// How a disk fails that a test made up: given a file's name and how many bytes it shall get, how many it takes and
    /// the errno then; nil when it takes them all.
    typealias WriteFault = @Sendable (_ name: String, _ byteCount: Int) -> (taken: Int, code: Int32)?

    /// Creates the directory, not its parents, and locks it.
    init(_ path: String, freeBytes: (@Sendable () -> UInt64?)? = nil, fault: WriteFault? = nil) throws(RingError) {
        lock = try Self.acquireLock(at: path)
        self.path = path
        self.freeBytes = freeBytes ?? { Self.freeBytes(at: path) }
        self.fault = fault
    }

    /// The same directory for another ring of this process, under the same lock.
    init(sharing other: borrowing SpoolDirectory) throws(RingError) {
        path = other.path
        lock = try FileDescriptor(duplicating: other.lock)
        freeBytes = other.freeBytes
        fault = other.fault
    }

    private static func acquireLock(at path: String) throws(RingError) -> FileDescriptor {
        if unsafe mkdir(path, 0o755) != 0, errno != EEXIST {
            throw .system(.createDirectory, path: path, code: errno)
        }
        let lock = try FileDescriptor("\(path)/\(SpoolName.lock)", flags: O_RDWR | O_CREAT)
        guard try lock.lockExclusively() else { throw .spoolInUse(directory: path) }
        return lock
    }

    /// Makes sure that nobody else may write what is written next: a directory that was removed or replaced under us has
    /// another lock, or none. It is made again if need be.
    /// - Returns: sizes of the ring's files in it by name, if it had to be taken anew; nil when it is the same as before.
    mutating func reacquireLock() throws(RingError) -> [String: Int]? {
        if lock.isAtItsPath { return nil }
        let taken = try Self.acquireLock(at: path)
        let files = try files()
        lock = taken
        return files
    }

    /// Whether somebody holds the directory, or may.
    static func isLocked(_ path: String) -> Bool {
        do throws(RingError) {
            return try !FileDescriptor("\(path)/\(SpoolName.lock)", flags: O_RDWR).lockExclusively()
        } catch .system(.open, _, code: ENOENT) {
            return false
        } catch { return true }
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// - Parameters: `pieces`: the file's bytes, in order; `reserve`: bytes of the file system to leave free.
    func write(_ name: String, _ pieces: [ArraySlice<UInt8>], leaving reserve: UInt64) throws(RingError) {
        let needed = reserve + UInt64(pieces.reduce(0) { $0 + $1.count })
        if let available = freeBytes(), available < needed {
            throw .diskFull(directory: path, available: available, needed: needed)
        }
        let unfinished = path(of: name + SpoolName.partSuffix)
        do throws(RingError) {
            try writeChunks(pieces, to: FileDescriptor(unfinished, flags: O_WRONLY | O_CREAT | O_TRUNC), as: name)
            try rename(unfinished, to: path(of: name))
        } catch {
            unsafe unlink(unfinished)
            throw asDiskFull(error, needed: needed)
        }
    }

    /// Makes a file that is there longer. After an error it may have got a part of it.
    func append(_ text: String, to name: String) throws(RingError) {
        let bytes = Array(text.utf8)
        do throws(RingError) {
            try writeChunks([bytes[...]], to: FileDescriptor(path(of: name), flags: O_WRONLY | O_APPEND), as: name)
        } catch {
            throw asDiskFull(error, needed: UInt64(bytes.count))
        }
    }

    /// Gives a file one more name, in place of whatever had it; it takes no room. Where the file system has no such thing
    /// it has one name still.
    func link(_ name: String, as other: String) {
        unsafe unlink(path(of: other))
        _ = unsafe Glibc.link(path(of: name), path(of: other))
    }

    private func writeChunks(
        _ pieces: [ArraySlice<UInt8>], to file: borrowing FileDescriptor, as name: String
    ) throws(RingError) {
        guard let (taken, code) = fault?(name, pieces.reduce(0) { $0 + $1.count }) else {
            return try file.write(pieces)
        }
        try file.write([Array(pieces.joined().prefix(taken))[...]])
        throw .system(.write, path: file.path, code: code)
    }

    /// Of a file in a directory that need not be ours yet; nil when it cannot be read.
    static func bytes(at path: String) -> [UInt8]? {
        try? FileDescriptor(path, flags: O_RDONLY).readToEnd()
    }

    /// - Returns: nil when there is no such file.
    func read(_ name: String) throws(RingError) -> [UInt8]? {
        do throws(RingError) {
            return try FileDescriptor(path(of: name), flags: O_RDONLY).readToEnd()
        } catch .system(.open, _, code: ENOENT) {
            return nil
        }
    }

    /// Removes a file; one that is not there is as good as removed.
    func remove(_ name: String) throws(RingError) {
        guard unsafe unlink(path(of: name)) != 0, errno != ENOENT else { return }
        throw .system(.remove, path: path(of: name), code: errno)
    }

    /// Sizes of the regular files that can only have come from a ring, by name; nobody else's files.
    func files() throws(RingError) -> [String: Int] {
        guard let directory = unsafe opendir(path) else { throw .system(.list, path: path, code: errno) }
        defer { unsafe closedir(directory) }
        var files: [String: Int] = [:]
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard SpoolName.isRingFile(name), let size = Self.byteCount(ofRegularFile: path(of: name)) else { continue }
            files[name] = size
        }
        return files
    }

    /// A failed write for want of room, whatever the system calls it, is a full disk.
    private func asDiskFull(_ error: RingError, needed: UInt64) -> RingError {
        guard case .system(_, _, let code) = error, code == ENOSPC || code == EDQUOT else { return error }
        return .diskFull(directory: path, available: freeBytes() ?? 0, needed: needed)
    }

    private func rename(_ old: String, to new: String) throws(RingError) {
        guard unsafe Glibc.rename(old, new) == 0 else { throw .system(.rename, path: new, code: errno) }
    }

    private static func byteCount(ofRegularFile path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }

    private static func freeBytes(at path: String) -> UInt64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
