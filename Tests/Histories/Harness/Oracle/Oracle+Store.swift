import PlaylistRules

// MARK: - The archive in an object store: what was published, once

extension Oracle {
    mutating func judgeArchive() {
        guard let archived = record.archived else { return }
        var last: UInt64?
        let byNumber = Dictionary(archived.map { ($0.number, $0.bytes) }) { first, _ in first }
        for number in archived.map(\.number) {
            if let last, number <= last {
                find(.archive, at: record.lastTime, "segment \(number) follows \(last)")
            }
            last = number
        }
        for segment in record.segments where !segment.text.isGap {
            // Readers list gaps for segments that left the spool before they were put.
            guard let bytes = byNumber[segment.number] ?? nil else {
                if !limits.mayLoseFiles { find(.archive, in: segment, "is not in the archive") }
                continue
            }
            if bytes != record.files[segment.text.uri] { find(.archive, in: segment, "has other bytes in the archive") }
        }
    }
}

extension Limits {
    /// Whether files may leave the spool before they are put: the rewind is short, or a full disk has shortened it
    /// (docs/spool.md).
    var mayLoseFiles: Bool { history.has(.shortRewind) || history.has(.fullDisk) }
}
