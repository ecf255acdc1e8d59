/// What can be read of a journal that a bad disk, a power loss or somebody's editor has damaged: the records before the
/// first that cannot be read. A last record that is torn, as a kill leaves it, is no damage.
struct JournalSalvage {
    /// nil when nothing had been written.
    let journal: Journal?
    let isDamaged: Bool

    /// Refuses what has no head of ours: it may be somebody else's.
    init(_ bytes: [UInt8], path: String) throws(RingError) {
        do throws(RingError) {
            journal = try Journal.read(bytes, path: path)
            // After a power loss there may be zeros where text was.
            isDamaged = bytes.contains(0) || journal?.isHeadWrong ?? false
        } catch {
            guard let readable = Self.readable(bytes, path: path) else { throw error }
            journal = readable
            isDamaged = true
        }
    }

    /// The longest beginning of whole records that reads; nil when not even the head does.
    private static func readable(_ bytes: [UInt8], path: String) -> Journal? {
        let ends = recordEnds(bytes)
        // What damages one beginning damages every longer one.
        var (good, bad) = (-1, ends.count)
        var found: Journal?
        while bad - good > 1 {
            let middle = (good + bad) / 2
            if let journal = try? Journal.read(Array(bytes[..<ends[middle]]), path: path) {
                (good, found) = (middle, journal)
            } else {
                bad = middle
            }
        }
        return found
    }

    /// Behind the head's last line, and behind each line that is no tag.
    private static func recordEnds(_ bytes: [UInt8]) -> [Int] {
        let head = Array(Journal.formatTag.utf8)
        var ends: [Int] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            let isOfHead = ends.isEmpty && line.starts(with: head)
            if isOfHead || !ends.isEmpty && line.first != UInt8(ascii: "#") { ends.append(line.endIndex + 1) }
        }
        return ends.filter { $0 <= bytes.count }
    }
}
