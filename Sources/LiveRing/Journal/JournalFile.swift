/// What is known of a journal's file: `ring.m3u8`, or that of a subtitle rendition. It is written whole, or becomes a
/// record longer.
///
/// A record is in it whole or not at all, except after a kill or a power loss: then the last one may be torn. Half a
/// record in the middle could never be told from a whole one, so nothing is appended behind one that failed: the journal
/// is stale then, and the next record comes with the whole of it.
struct JournalFile: Sendable {
    let name: String
    /// In the file, those that are no longer needed included; nil when the file is stale.
    private var records: Int?
    /// Its head has EXT-X-INDEPENDENT-SEGMENTS.
    private(set) var declaresIndependentSegments = false

    /// Stale: whatever stands in the spool under that name, nothing is appended to it.
    init(_ name: String) { self.name = name }

    var isStale: Bool { records == nil }

    /// Whether it is mostly about what is gone.
    func needsCompaction(entryCount needed: Int) -> Bool { records.map { $0 > 2 * needed + 64 } ?? true }

    /// What stands in the file is not true any more, or nothing may stand behind it.
    mutating func invalidate() { records = nil }

    /// Puts `text`, which has so many records, in place of what is there. After an error that stays as it is.
    mutating func rewrite(_ text: String, records count: Int, in spool: borrowing SpoolDirectory) throws(RingError) {
        try spool.write(name, [Array(text.utf8)[...]], leaving: 0)
        records = count
    }

    mutating func rewrite(_ journal: RingJournal, in spool: borrowing SpoolDirectory) throws(RingError) {
        try rewrite(journal.text, records: journal.entries.count, in: spool)
        declaresIndependentSegments = journal.declaresIndependentSegments
    }

    /// Puts a record at the end of a journal that is not stale.
    mutating func append(_ record: String, in spool: borrowing SpoolDirectory) throws(RingError) {
        let count = records
        records = nil
        try spool.append(record, to: name)
        records = count.map { $0 + 1 }
    }
}
