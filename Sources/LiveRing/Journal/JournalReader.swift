/// Reads the journal of a spool directory, and the checkpoint beside it.
enum JournalReader {
    /// The number of bytes within which the head of a long journal ends.
    private static let longestHead = 1 << 18
    /// The sizes of the ends of a journal, in bytes, that are searched for the records after the checkpoint.
    private static let tailSizes = [1 << 20, 1 << 24]

    /// - Returns: the journal, the version of its file, and the place after its last complete record; nil if no journal
    ///   exists, or no part of it was written.
    static func read(
        in directory: String
    ) throws(RingError) -> (journal: RingJournal, version: FileVersion, end: Int)? {
        let path = "\(directory)/\(SpoolName.journal)"
        let file: FileDescriptor
        do throws(RingError) {
            file = try FileDescriptor(path)
        } catch .system(.open, _, code: FileDescriptor.doesNotExist) {
            return nil
        }
        let version = try file.version()
        if let checkpoint = try? CheckpointFile.read(FileDescriptor("\(directory)/\(SpoolName.checkpoint)")),
            let journal = try records(of: file, after: checkpoint)
        {
            return (journal.journal, version, journal.end)
        }
        let bytes = try file.bytes(in: 0..<file.byteCount())
        return try RingJournal.read(bytes, path: path).map { ($0, version, bytes.count - $0.incompleteBytes) }
    }

    /// The journal with the blocks of its checkpoint; nil if the journal does not contain their records.
    private static func records(
        of file: borrowing FileDescriptor, after checkpoint: CheckpointFile.Content
    ) throws(RingError) -> (journal: RingJournal, end: Int)? {
        guard let last = checkpoint.blocks.last?[EntryBlock.size - 1] else { return nil }
        let byteCount = try file.byteCount()
        let start = try file.bytes(in: 0..<min(longestHead, byteCount))
        let headEnd = Array("\n\(RingJournal.lastHeadLine)\n".utf8)
        guard let head = start.firstRange(of: headEnd)?.upperBound else { return nil }
        // A record ends with the name of its segment.
        let name = Array("\n\(last.segment.name)\n".utf8)
        for size in tailSizes {
            let tail = try file.bytes(in: max(head, byteCount - size)..<byteCount)
            guard let end = tail.lastRange(of: name)?.upperBound else { continue }
            let records = Array(start[..<head]) + tail[end...]
            guard var journal = try RingJournal.read(records, path: file.path, after: checkpoint.blocks) else {
                return nil
            }
            if !checkpoint.isWhole { journal.checkpointEnd = nil }
            return (journal, max(head, byteCount - size) + tail.count - journal.incompleteBytes)
        }
        return nil
    }
}

extension [UInt8] {
    /// The first place of `pattern`, which is not empty.
    fileprivate func firstRange(of pattern: [UInt8]) -> Range<Int>? {
        indices.lazy.map { $0..<$0 + pattern.count }.first { has(pattern, at: $0) }
    }

    /// The last place of `pattern`, which is not empty.
    fileprivate func lastRange(of pattern: [UInt8]) -> Range<Int>? {
        indices.reversed().lazy.map { $0..<$0 + pattern.count }.first { has(pattern, at: $0) }
    }

    private func has(_ pattern: [UInt8], at range: Range<Int>) -> Bool {
        range.upperBound <= count && self[range.lowerBound] == pattern[0] && self[range].elementsEqual(pattern)
    }
}
