/// A new journal of a ring, and its checkpoint, which are written in parts beside the old ones.
///
/// Writing the journal of a week takes seconds, for which no publish may wait. So each publish writes one part, and the old
/// files get its record as well: a kill at any time leaves two files that a restart reads. Entries keep their indices, so that
/// nothing has to be held meanwhile.
struct JournalReplacement {
    /// The entries of one part.
    static let entriesPerPart = 1024

    /// The index after the last entry that was written; nil at the beginning of the file.
    private var end: Int?
    /// The index after the last block in the new checkpoint; nil at its beginning.
    private var checkpointEnd: Int?
    private(set) var records = 0
    private(set) var declaresIndependentSegments = false

    /// Writes the next part.
    /// - Returns: whether all entries are written. After an error the files have to be begun again.
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
        try spool.writePart(of: SpoolName.journal, [Array(text.utf8)[...]], isFirst: isFirst, leaving: 0)
        end = part.endIndex
        records += part.count
        checkpointEnd = try CheckpointFile.writePart(entries, from: checkpointEnd, to: part.endIndex, in: spool)
        return part.endIndex == entries.endIndex
    }

    /// Puts the new files in the place of the old ones: the journal first, which has the records of either checkpoint.
    func finish(_ checkpoint: inout CheckpointFile, in spool: borrowing SpoolDirectory) throws(RingError) {
        try spool.finishPart(of: SpoolName.journal)
        guard let checkpointEnd else { return checkpoint.remove(in: spool) }
        checkpoint.finishPart(upTo: checkpointEnd, in: spool)
    }

    /// Removes what was written.
    static func removeParts(in spool: borrowing SpoolDirectory) {
        spool.removePart(of: SpoolName.journal)
        spool.removePart(of: SpoolName.checkpoint)
    }
}
