/// The state of a journal file: `ring.m3u8`, or the journal of a subtitle rendition.
///
/// A journal file is written as a whole or extended by one record. A record is written completely or not at all, except
/// that a kill or a power loss can leave an incomplete last record. An incomplete record in the middle could not be
/// recognized, so nothing is appended after a failed append. The file is stale then, and the next record rewrites it.
struct JournalFile: Sendable {
    let name: String
    /// The number of records in the file, including those no longer needed; nil if the file is stale.
    private var records: Int?
    /// Whether the head has EXT-X-INDEPENDENT-SEGMENTS.
    private var declaresIndependentSegments = false
    /// Whether the content of the file is no longer true.
    private var isOutdated = false
    /// The file that is being written in parts to replace this one.
    private var replacement: JournalReplacement?

    /// Continues the file from which `journal` was read.
    /// - Parameter isOutdated: whether the ring's entries differ, because entries whose files are lost are gaps.
    init(continuing journal: RingJournal, isOutdated: Bool) {
        name = SpoolName.journal
        self.isOutdated = isOutdated
        records = journal.entries.count
        declaresIndependentSegments = journal.declaresIndependentSegments
    }

    /// A stale file: no record is appended to an existing file of this name.
    init(_ name: String) { self.name = name }

    var isStale: Bool { records == nil }

    /// Whether the file says all that is to be written into it.
    var isCurrent: Bool { records != nil && !isOutdated && replacement == nil }

    /// Whether most records are no longer needed, or the file is stale.
    func needsCompaction(entryCount: Int) -> Bool { records.map { $0 > 2 * entryCount + 64 } ?? true }

    /// Makes the file stale, because its content is wrong or nothing may follow it.
    mutating func invalidate() { records = nil }

    /// Lets the file be replaced while records are appended to it.
    mutating func outdate() { isOutdated = true }

    /// Writes a part of a replacement, if this file is out of date or most of its records are not needed, and puts the
    /// replacement in place when it is complete. After an error the replacement is begun again.
    mutating func continueReplacing(
        with index: RingIndex, in spool: borrowing SpoolDirectory, checkpoint: inout CheckpointFile
    ) throws(RingError) {
        if replacement == nil {
            let isWrong = declaresIndependentSegments && index.dependentEntries > 0
            guard isOutdated || isWrong || needsCompaction(entryCount: index.entries.count) else { return }
            isOutdated = false
        }
        var current = replacement ?? JournalReplacement()
        // If the head changes now, another replacement will write it.
        let isOutdated = isOutdated
        (replacement, self.isOutdated) = (nil, true)
        do throws(RingError) {
            if try current.writePart(index, in: spool) {
                try current.finish(&checkpoint, in: spool)
                (records, declaresIndependentSegments) = (current.records, current.declaresIndependentSegments)
            } else {
                replacement = current
            }
            self.isOutdated = isOutdated
        } catch {
            JournalReplacement.removeParts(in: spool)
            throw error
        }
    }

    /// Replaces the file by `parts` of text, which contain `count` records. After an error the file is unchanged.
    mutating func rewrite(
        _ parts: some Sequence<String>, records count: Int, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        try spool.write(name, parts: parts.lazy.map { [Array($0.utf8)[...]] })
        records = count
    }

    /// Replaces the journal of a ring as a whole. The next publishes write its checkpoint anew.
    mutating func rewrite(
        _ journal: RingJournal, in spool: borrowing SpoolDirectory, checkpoint: inout CheckpointFile
    ) throws(RingError) {
        checkpoint.remove(in: spool)
        if replacement != nil { JournalReplacement.removeParts(in: spool) }
        (isOutdated, replacement) = (false, nil)
        try rewrite(journal.parts, records: journal.entries.count, in: spool)
        declaresIndependentSegments = journal.declaresIndependentSegments
    }

    /// Appends a record to a file that is not stale. After an error the file is stale.
    mutating func append(_ record: String, in spool: borrowing SpoolDirectory) throws(RingError) {
        let count = records
        records = nil
        try spool.append(Array(record.utf8), to: name)
        records = count.map { $0 + 1 }
    }
}

/// A new journal of a ring, and its checkpoint, which are written in parts beside the old ones.
///
/// Writing the journal of a week takes seconds, which no publish may wait for. Therefore each publish writes one part,
/// and appends its record to the old files as well: a kill at any time leaves two files that a restart can read.
/// Entries keep their indices, so no entry has to be held meanwhile.
struct JournalReplacement {
    static let entriesPerPart = 1024

    /// The index after the last entry that was written; nil at the beginning of the file.
    private var end: Int?
    /// The index after the last block in the new checkpoint; nil at its beginning.
    private var checkpointEnd: Int?
    private(set) var records = 0
    private(set) var declaresIndependentSegments = false

    /// Writes the next part.
    /// - Returns: whether all entries are written. After an error the replacement must be begun again.
    mutating func writePart(_ index: RingIndex, in spool: borrowing SpoolDirectory) throws(RingError) -> Bool {
        let entries = index.entries
        let isFirst = end == nil
        let start = max(end ?? entries.startIndex, entries.startIndex)
        let part = entries[start..<min(start + Self.entriesPerPart, entries.endIndex)]
        var text = part.map(RingJournal.record).joined()
        if isFirst {
            let journal = RingJournal(index, hasEnded: false)
            declaresIndependentSegments = journal.declaresIndependentSegments
            text = journal.head + text
        }
        try spool.writePart(of: SpoolName.journal, [Array(text.utf8)[...]], isFirst: isFirst)
        end = part.endIndex
        records += part.count
        checkpointEnd = try CheckpointFile.writePart(entries, from: checkpointEnd, to: part.endIndex, in: spool)
        return part.endIndex == entries.endIndex
    }

    /// Puts the new files in place: the journal first, which contains the records of either checkpoint.
    func finish(_ checkpoint: inout CheckpointFile, in spool: borrowing SpoolDirectory) throws(RingError) {
        try spool.finishPart(of: SpoolName.journal)
        guard let checkpointEnd else { return checkpoint.remove(in: spool) }
        checkpoint.finishPart(upTo: checkpointEnd, in: spool)
    }

    static func removeParts(in spool: borrowing SpoolDirectory) {
        spool.removePart(of: SpoolName.journal)
        spool.removePart(of: SpoolName.checkpoint)
    }
}
