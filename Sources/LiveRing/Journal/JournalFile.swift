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
    /// Whether the file says what is not so any more.
    private var isOutdated = false
    /// The file that is to take the place of this one, as far as it is written.
    private var replacement: JournalReplacement?

    /// The file from which `journal` was read.
    /// - Parameter isOutdated: whether the ring has other entries: those whose files are lost are gaps.
    init(continuing journal: RingJournal, isOutdated: Bool) {
        name = SpoolName.journal
        self.isOutdated = isOutdated
        records = journal.entries.count
        declaresIndependentSegments = journal.declaresIndependentSegments
    }

    /// A stale file: no record is appended to what the spool has under this name.
    init(_ name: String) { self.name = name }

    var isStale: Bool { records == nil }

    /// Whether most records are no longer needed, or the file is stale.
    func needsCompaction(entryCount: Int) -> Bool { records.map { $0 > 2 * entryCount + 64 } ?? true }

    /// Makes the file stale, because its content is wrong or nothing may follow it.
    mutating func invalidate() { records = nil }

    /// Lets the file be replaced while records are appended to it.
    mutating func outdate() { isOutdated = true }

    /// Writes a part of the file that replaces this one, if this one is out of date or most of its records are not needed,
    /// and puts it in the place of this one when it is complete. After an error it is begun again.
    mutating func continueReplacing(
        with index: RingIndex, in spool: borrowing SpoolDirectory, checkpoint: inout CheckpointFile
    ) throws(RingError) {
        if replacement == nil {
            let isWrong = declaresIndependentSegments && index.dependentEntries > 0
            guard isOutdated || isWrong || needsCompaction(entryCount: index.entries.count) else { return }
            isOutdated = false
        }
        var current = replacement ?? JournalReplacement()
        // A head that changes now is written by another replacement.
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

    /// Replaces the file by `parts` of text, which have `count` records. After an error the file is unchanged.
    mutating func rewrite(
        _ parts: some Sequence<String>, records count: Int, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        try spool.write(name, parts: parts.lazy.map { [Array($0.utf8)[...]] }, leaving: 0)
        records = count
    }

    /// Replaces the journal of a ring as a whole. Its checkpoint is written anew after it, with the next publishes.
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
