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
    private(set) var declaresIndependentSegments = false

    /// The file from which `journal` was read.
    init(continuing journal: RingJournal) {
        name = SpoolName.journal
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

    /// Replaces the file by `parts` of text, which have `count` records. After an error the file is unchanged.
    mutating func rewrite(
        _ parts: some Sequence<String>, records count: Int, in spool: borrowing SpoolDirectory
    ) throws(RingError) {
        try spool.write(name, parts: parts.lazy.map { [Array($0.utf8)[...]] }, leaving: 0)
        records = count
    }

    /// Replaces the journal of a ring, and its checkpoint, which never goes before the journal.
    mutating func rewrite(
        _ journal: RingJournal, in spool: borrowing SpoolDirectory, checkpoint: inout CheckpointFile
    ) throws(RingError) {
        checkpoint.remove(in: spool)
        try rewrite(journal.parts, records: journal.entries.count, in: spool)
        declaresIndependentSegments = journal.declaresIndependentSegments
        checkpoint.rewrite(journal.entries, in: spool)
    }

    /// Appends a record to a file that is not stale. After an error the file is stale.
    mutating func append(_ record: String, in spool: borrowing SpoolDirectory) throws(RingError) {
        let count = records
        records = nil
        try spool.append(Array(record.utf8), to: name)
        records = count.map { $0 + 1 }
    }
}
