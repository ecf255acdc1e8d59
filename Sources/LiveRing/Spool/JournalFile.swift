import Glibc

/// `ring.m3u8`, or the journal of a subtitle rendition, open at its end. A record is in it whole or not at all, except after a kill or a power loss: then
/// the last one may be torn.
struct JournalFile: ~Copyable {
    private let file: FileDescriptor
    private var byteCount: Int

    /// Opens the journal that stands in the spool.
    init(_ name: String = SpoolName.journal, in spool: borrowing SpoolDirectory) throws(RingError) {
        let file = try FileDescriptor(spool.path(of: name), flags: O_WRONLY | O_APPEND)
        byteCount = try file.byteCount()
        self.file = file
    }

    mutating func append(_ text: String) throws(RingError) {
        let record = Array(text.utf8)
        do throws(RingError) {
            try file.write([record[...]])
            byteCount += record.count
        } catch {
            // Half a record in the middle of the file could never be told from a whole one.
            try file.truncate(to: byteCount)
            throw error
        }
    }
}
