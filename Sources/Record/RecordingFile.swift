import Glibc
package import LiveRing
import Synchronization

/// The files of a recording that is open: the transport stream, its playlist, and its journal.
///
/// Every method waits for the disk. A segment is written at once, then added to the playlist, then to the journal.
/// However the process ends, the files are complete up to the journal's last segment, and playable up to the playlist's
/// last segment.
package final class RecordingFile: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        case system(code: Int32, path: String)
        /// Less space than the reserve would be free.
        case full
        /// Another process writes the recording.
        case inUse(path: String)
        /// A later version of the program wrote the file.
        case laterFormat(path: String)
        /// The list of recordings belongs to the next process.
        case closed
    }

    let journalPath: String
    package let mediaPath: String
    private let media: Descriptor
    private let playlist: Descriptor
    /// The name of the transport stream in its folder.
    private let name: String
    private let journalFile: Descriptor
    private let state: Mutex<RecordingJournal>
    private let fileSystem: FileSystem

    package var journal: RecordingJournal { state.withLock { $0 } }

    /// Begins a recording, or continues one.
    /// - Parameters:
    ///   - journal: the journal of a new recording, or as it was read.
    ///   - targetDuration: the channel's target duration in seconds.
    package init(
        _ journal: RecordingJournal, at journalPath: String, on fileSystem: FileSystem = .system,
        targetDuration: Int = 1
    ) throws(Failure) {
        (self.journalPath, self.fileSystem) = (journalPath, fileSystem)
        mediaPath = journal.plan.path + ".ts"
        name = String(mediaPath.split(separator: "/").last ?? "")
        try Self.makeDirectory(of: mediaPath)
        try Self.makeDirectory(of: journalPath)
        journalFile = try Descriptor(journalPath, O_RDWR | O_CREAT | O_APPEND)
        guard flock(journalFile.raw, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: journalPath) }
        let isNew = journal.readByteCount == 0
        do throws(Failure) {
            // A new recording must not take an existing file. A continued recording opens its own.
            media = try Descriptor(mediaPath, O_RDWR | O_APPEND | (isNew ? O_CREAT | O_EXCL : 0))
        } catch {
            if isNew { Self.forget(journalPath) }
            throw error
        }
        var journal = journal
        let known = journal.byteCount
        journal.truncate(to: try media.byteCount())
        // Removes what the end of the process left incomplete.
        try media.truncate(to: journal.byteCount)
        if journal.readByteCount > 0, journal.byteCount == known {
            try journalFile.truncate(to: journal.readByteCount)
        } else {
            try journalFile.truncate(to: 0)
            try journalFile.write(Array(journal.text.utf8)[...])
        }
        let playlistPath = Self.playlistPath(journal.plan)
        let written = try? Self.content(of: playlistPath)
        let text = RecordingPlaylist.text(journal, of: name, targetDuration: targetDuration, after: written)
        if text != written { try Self.replace(playlistPath, with: text) }
        playlist = try Descriptor(playlistPath, O_WRONLY | O_APPEND)
        state = Mutex(journal)
    }

    private static func playlistPath(_ plan: RecordingPlan) -> String { plan.path + ".m3u8" }

    private static func content(of path: String) throws(Failure) -> [UInt8] {
        let file = try Descriptor(path, O_RDONLY)
        return try file.read(0..<file.byteCount())
    }

    /// Reads the journal of a recording that an earlier process left; nil if none exists.
    package static func journal(at path: String) -> RecordingJournal? {
        let bytes = try? content(of: path)
        return bytes.flatMap { RecordingJournal(text: String(decoding: $0, as: UTF8.self)) }
    }

    /// Appends a segment. After an error the files are as before.
    func append(
        _ bytes: [[UInt8]], isDiscontinuous: Bool = false, as segment: (_ end: Int) -> RecordedSegment
    ) throws(Failure) {
        let start = journal.byteCount
        let listed = try playlist.byteCount()
        let chunk = bytes.count == 1 ? bytes[0] : Array(bytes.joined())
        try requireSpace(UInt64(chunk.count))
        do throws(Failure) {
            try media.write(chunk[...])
            let segment = segment(start + chunk.count)
            try playlist.write(
                RecordingPlaylist.lines(segment, from: start, of: name, isDiscontinuous: isDiscontinuous)[...])
            try record([.segment(segment)])
        } catch {
            try? playlist.truncate(to: listed)
            try? media.truncate(to: start)
            throw error
        }
    }

    /// Records that nothing is appended any more. A process that reads the journal before the recording has its last form
    /// must not continue it.
    package func close() throws(Failure) { if !journal.isClosed { try record([.closed]) } }

    func record(_ lines: [RecordingJournal.Line]) throws(Failure) {
        guard !lines.isEmpty else { return }
        let size = try journalFile.byteCount()
        do throws(Failure) { try journalFile.write(Array(lines.map { $0.text + "\n" }.joined().utf8)[...]) } catch {
            try? journalFile.truncate(to: size)
            throw error
        }
        state.withLock { journal in
            for line in lines { journal.record(line) }
        }
    }

    func requireSpace(_ byteCount: UInt64) throws(Failure) {
        guard let space = fileSystem.space(mediaPath) else { return }
        guard space.freeBytes >= space.reserve + byteCount else { throw .full }
    }

    func read(_ range: Range<Int>) throws(Failure) -> [UInt8] { try media.read(range) }

    /// Ends the playlist if the transport stream stays; otherwise removes the playlist.
    func finishPlaylist(staysAsItIs: Bool) {
        if staysAsItIs {
            try? playlist.write(RecordingPlaylist.end[...])
        } else {
            _ = unsafe unlink(Self.playlistPath(journal.plan))
        }
    }

    /// Removes the journal after the recording got its last form.
    package func forget() { Self.forget(journalPath) }

    package static func forget(_ journalPath: String) { _ = unsafe unlink(journalPath) }

    /// Removes a recording without media.
    package func remove() {
        guard journal.byteCount == 0 else { return }
        _ = unsafe unlink(mediaPath)
        finishPlaylist(staysAsItIs: false)
        forget()
    }

    package static func hasMedia(_ journal: RecordingJournal) -> Bool {
        unsafe access(journal.plan.path + ".ts", F_OK) == 0
    }

    /// A path at which no file of a recording exists: `path`, or `path` with a number after it.
    package static func freePath(_ path: String) -> String {
        let candidates = [path] + (2...9999).lazy.map { "\(path)-\($0)" }
        return candidates.first { base in
            RecordingRetention.suffixes.allSatisfy { unsafe access("\(base).\($0)", F_OK) != 0 }
        } ?? path
    }

    /// Writes a small file atomically: however the process ends, the file has either the old or the new content.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let part = path + ".part"
        let descriptor = try Descriptor(part, O_WRONLY | O_CREAT | O_TRUNC)
        try descriptor.write(bytes[...])
        guard fsync(descriptor.raw) == 0, unsafe rename(part, path) == 0 else {
            throw .system(code: errno, path: path)
        }
    }

    /// Checks that recordings can be written in a directory now: it is made if it does not exist.
    package static func check(directory: String, on fileSystem: FileSystem = .system) throws(Failure) {
        try makeDirectory(of: directory + "/.")
        guard unsafe access(directory + "/.", W_OK) == 0 else { throw .system(code: errno, path: directory) }
        if let space = fileSystem.space(directory), space.freeBytes < space.reserve { throw .full }
    }

    package static func makeDirectory(of path: String) throws(Failure) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        for count in parts.indices.map({ $0 + 1 }) {
            let directory = parts[..<count].joined(separator: "/")
            guard !directory.isEmpty, unsafe mkdir(directory, 0o755) != 0, errno != EEXIST else { continue }
            throw .system(code: errno, path: directory)
        }
    }
}

extension RecordingJournal {
    fileprivate var text: String {
        let lines =
            losses.map(Line.loss) + segments.map(Line.segment) + breaks.map(Line.adBreak) + (isClosed ? [.closed] : [])
        return head + lines.map { $0.text + "\n" }.joined()
    }
}

/// An open file that closes when its owner is gone.
package final class Descriptor: Sendable {
    package let raw: Int32
    private let path: String

    /// - Parameter flags: of open(2); O_CLOEXEC is added.
    package init(_ path: String, _ flags: Int32) throws(RecordingFile.Failure) {
        raw = unsafe open(path, flags | O_CLOEXEC, 0o644)
        self.path = path
        guard raw >= 0 else { throw .system(code: errno, path: path) }
    }

    deinit {
        guard raw >= 0 else { return }
        // A child process that was just forked has the file until it runs its program.
        _ = flock(raw, LOCK_UN)
        close(raw)
    }

    private var failure: RecordingFile.Failure {
        errno == ENOSPC || errno == EDQUOT ? .full : .system(code: errno, path: path)
    }

    func byteCount() throws(RecordingFile.Failure) -> Int {
        var status = stat()
        guard unsafe fstat(raw, &status) == 0 else { throw failure }
        return Int(status.st_size)
    }

    func truncate(to byteCount: Int) throws(RecordingFile.Failure) {
        guard ftruncate(raw, off_t(byteCount)) == 0 else { throw failure }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(RecordingFile.Failure) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(raw, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            rest = rest.dropFirst(count)
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(RecordingFile.Failure) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(raw, $0.baseAddress?.advanced(by: done), $0.count - done, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure }
            done += count
        }
    }

    func read(_ range: Range<Int>) throws(RecordingFile.Failure) -> [UInt8] {
        var (failed, done) = (false, 0)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
            while done < range.count {
                let count = unsafe pread(
                    raw, buffer.baseAddress?.advanced(by: done), range.count - done, off_t(range.lowerBound + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    failed = true
                    break
                }
                done += count
            }
            filled = done
        }
        if failed { throw .system(code: EIO, path: path) }
        return bytes
    }
}
