import Glibc

/// The directory of one ring, locked by one process.
///
/// A file is written under another name and renamed, so a reader sees it complete or not at all. No file is flushed to
/// the disk with `fsync`: the page cache keeps what a killed process wrote. After a power loss the newest files may be
/// missing or short; recovery checks their sizes.
struct SpoolDirectory: ~Copyable {
    let path: String
    /// nil: the directory is only read.
    private var lock: SpoolLock?
    private let fileSystem: FileSystem

    /// Creates the directory, but not its parents, and locks it.
    init(_ path: String, on fileSystem: FileSystem = .system) throws(RingError) {
        lock = try Self.acquireLock(at: path)
        self.path = path
        self.fileSystem = fileSystem
    }

    /// A directory that another process writes.
    init(reading path: String) { (self.path, lock, fileSystem) = (path, nil, .system) }

    /// The same directory for another ring of this process, under the same lock.
    init(sharing other: borrowing SpoolDirectory) {
        path = other.path
        lock = other.lock
        fileSystem = other.fileSystem
    }

    private static func acquireLock(at path: String) throws(RingError) -> SpoolLock {
        if unsafe mkdir(path, 0o755) != 0, errno != EEXIST {
            throw .system(.createDirectory, path: path, code: errno)
        }
        return try SpoolLock(of: path)
    }

    /// Makes sure that no other process may write into the directory.
    ///
    /// A directory that was removed or replaced has another lock file or none. It is created and locked again.
    /// - Returns: the ring's files in the directory if it was locked again; nil if the lock is still valid.
    mutating func reacquireLock() throws(RingError) -> SpoolFiles? {
        guard let lock, !lock.isAtItsPath else { return nil }
        let newLock = try Self.acquireLock(at: path)
        let files = try files()
        self.lock = newLock
        return files
    }

    /// Ends the lock for all rings of this process in the directory, which must not write any more.
    func unlock() { lock?.unlock() }

    /// Whether a process holds the lock of the directory, or the lock cannot be examined.
    static func isLocked(_ path: String) -> Bool {
        do throws(RingError) {
            return try !FileDescriptor("\(path)/\(SpoolName.lock)", flags: O_RDWR).lockExclusively()
        } catch .system(.open, _, code: ENOENT) {
            return false
        } catch { return true }
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    /// The media files that are not in the directory; nil if all are.
    var memory: SpoolMemory? { fileSystem.memory }

    /// The space of the directory's file system; nil if the system does not report it.
    var space: FileSystemSpace? { fileSystem.space(path) }

    /// Makes the file system count `removed` bytes as free, if it does not yet. This waits for the disk.
    func commit(_ removed: UInt64, freeBefore: UInt64) {
        if let space, space.freeBytes < freeBefore + removed / 2 { fileSystem.commit(path) }
    }

    /// Writes a file under another name and renames it when it is complete. After an error no file is left.
    /// - Parameter chunks: the bytes of the file, in order.
    func write(_ name: String, _ chunks: [ArraySlice<UInt8>]) throws(RingError) {
        try write(name, parts: CollectionOfOne(chunks))
    }

    /// Writes a media file of a segment, into memory if the ring has one reader. Older files may then have to leave memory
    /// for the directory.
    func write(media name: String, of mediaSequence: UInt64, _ chunks: [ArraySlice<UInt8>]) throws(RingError) {
        guard let memory else { return try write(name, chunks) }
        let file = SpoolMemory.File(name, of: mediaSequence, chunks)
        for older in memory.excess(for: file) {
            try write(older.name, older.chunks)
            memory.remove(older.name)
        }
        memory.insert(file)
    }

    /// Writes a file in several parts. Only one part is in memory at a time.
    func write(_ name: String, parts: some Sequence<[ArraySlice<UInt8>]>) throws(RingError) {
        var isFirst = true
        for chunks in parts {
            try writePart(of: name, chunks, isFirst: isFirst)
            isFirst = false
        }
        try finishPart(of: name)
    }

    /// Writes the first or the next part of a file under another name. After an error no part is left.
    func writePart(of name: String, _ chunks: [ArraySlice<UInt8>], isFirst: Bool) throws(RingError) {
        do throws(RingError) {
            let flags = isFirst ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY | O_APPEND
            try writeChunks(chunks, to: path(of: name + SpoolName.partSuffix), flags: flags, as: name)
        } catch {
            removePart(of: name)
            throw asDiskFull(error, needed: UInt64(chunks.reduce(0) { $0 + $1.count }))
        }
    }

    /// Gives a file that was written in parts its name. After an error no part is left.
    func finishPart(of name: String) throws(RingError) {
        let (part, whole) = (path(of: name + SpoolName.partSuffix), path(of: name))
        guard unsafe rename(part, whole) != 0 else { return }
        let error = RingError.system(.rename, path: whole, code: errno)
        removePart(of: name)
        throw asDiskFull(error, needed: 0)
    }

    func removePart(of name: String) { unsafe unlink(path(of: name + SpoolName.partSuffix)) }

    /// Appends to an existing file. After an error a part may have been written.
    func append(_ bytes: [UInt8], to name: String) throws(RingError) {
        do throws(RingError) {
            try writeChunks([bytes[...]], to: path(of: name), flags: O_WRONLY | O_APPEND, as: name)
        } catch {
            throw asDiskFull(error, needed: UInt64(bytes.count))
        }
    }

    /// Adds a hard link, replacing a file called `other`. Does nothing if the file system has no hard links.
    func link(_ name: String, as other: String) {
        unsafe unlink(path(of: other))
        _ = unsafe Glibc.link(path(of: name), path(of: other))
    }

    private func writeChunks(
        _ chunks: [ArraySlice<UInt8>], to path: String, flags: Int32, as name: String
    ) throws(RingError) {
        guard let (written, code) = fileSystem.fault?(name, chunks.reduce(0) { $0 + $1.count }) else {
            return try FileDescriptor(path, flags: flags).write(chunks)
        }
        // The file cannot be opened because no descriptor is free.
        if code == EMFILE || code == ENFILE { throw .system(.open, path: path, code: code) }
        try FileDescriptor(path, flags: flags).write([Array(chunks.joined().prefix(written))[...]])
        throw .system(.write, path: path, code: code)
    }

    func version(of name: String) -> FileVersion? { FileVersion(at: path(of: name)) }

    /// - Returns: the bytes of the file; nil if it does not exist.
    func read(_ name: String) throws(RingError) -> [UInt8]? {
        do throws(RingError) {
            return try FileDescriptor(path(of: name)).readToEnd()
        } catch .system(.open, _, code: ENOENT) {
            return nil
        }
    }

    /// Removes a file. A missing file is not an error.
    func remove(_ name: String) throws(RingError) {
        if memory?.remove(name) == true { return }
        guard unsafe unlink(path(of: name)) != 0, errno != ENOENT else { return }
        throw .system(.remove, path: path(of: name), code: errno)
    }

    /// The files with names that only a ring uses.
    func files() throws(RingError) -> SpoolFiles {
        guard let directory = unsafe opendir(path) else { throw .system(.list, path: path, code: errno) }
        defer { unsafe closedir(directory) }
        var files = SpoolFiles { [path, memory] in
            memory?[$0]?.byteCount ?? Self.byteCount(ofFileWithContent: "\(path)/\($0)")
        }
        for name in memory?.names ?? [] { files.insert(name.utf8) }
        while let entry = unsafe readdir(directory) {
            let type = unsafe Int(entry.pointee.d_type)
            guard type == Int(DT_REG) || type == Int(DT_UNKNOWN) else { continue }
            unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe files.insert(name.prefix { $0 != 0 })
            }
        }
        return files
    }

    /// `.diskFull` for a write that failed for lack of space or quota, otherwise `error`.
    private func asDiskFull(_ error: RingError, needed: UInt64) -> RingError {
        guard case .system(_, _, let code) = error, code == ENOSPC || code == EDQUOT else { return error }
        return .diskFull(directory: path, available: space?.freeBytes ?? 0, needed: needed)
    }

    /// The size of a regular file; nil if none has the name, or it begins with zeros: its size reached the disk, and its
    /// bytes did not. All files of a ring begin with a box or with text.
    private static func byteCount(ofFileWithContent path: String) -> Int? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let beginning = try? FileDescriptor(path).bytes(in: 0..<8)
        return beginning?.allSatisfy { $0 == 0 } == false ? Int(status.st_size) : nil
    }
}

/// The lock of a spool directory, shared by all rings of this process in the directory. It ends with the last of these
/// rings.
private final class SpoolLock: Sendable {
    private let file: FileDescriptor
    private let identity: FileIdentity

    init(of directory: String) throws(RingError) {
        file = try FileDescriptor("\(directory)/\(SpoolName.lock)", flags: O_RDWR | O_CREAT)
        identity = try file.identity()
        guard try file.lockExclusively() else { throw .spoolInUse(directory: directory) }
    }

    /// Whether the path of the lock still names its file.
    var isAtItsPath: Bool { FileIdentity(at: file.path) == identity }

    func unlock() { file.unlock() }

    deinit { file.unlock() }
}
