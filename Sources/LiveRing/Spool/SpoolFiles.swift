/// The ring's files in a spool directory.
///
/// The directory of a week has more than half a million of them. Their names are read at once, and the size of a file only
/// when it is asked for.
struct SpoolFiles: Sendable {
    /// The fingerprints in the names of segments, by number.
    private var segments: [UInt64: UInt32] = [:]
    /// The names of the other files.
    private var others: Set<String> = []
    private let byteCount: @Sendable (String) -> Int?

    /// - Parameter byteCount: returns the size of the regular file with a name; nil if there is none.
    init(byteCount: @escaping @Sendable (String) -> Int?) { self.byteCount = byteCount }

    /// Adds a file, unless others than a ring may have written it.
    mutating func insert(_ name: String) {
        if let segment = SpoolName.numberAndFingerprint(ofSegment: name.utf8) {
            // Of two files with one number, the first that was found stands here.
            guard let first = segments.updateValue(segment.fingerprint, forKey: segment.number) else { return }
            segments[segment.number] = first
        }
        if SpoolName.isRingFile(name) { others.insert(name) }
    }

    /// Whether there is a file called `name`, whatever its size.
    func contains(_ name: String) -> Bool {
        guard let segment = SpoolName.numberAndFingerprint(ofSegment: name.utf8),
            segments[segment.number] == segment.fingerprint
        else { return others.contains(name) }
        return true
    }

    /// Whether a file is there with all of its bytes.
    func isWhole(_ file: SpoolFile) -> Bool { contains(file.name) && byteCount(file.name) == file.byteCount }

    /// Whether a file is there, and with all of its bytes if it is recent.
    func isThere(_ file: SpoolFile, isRecent: Bool) -> Bool { isRecent ? isWhole(file) : contains(file.name) }

    /// The highest number of a segment; nil if there is none.
    var highestMediaSequence: UInt64? {
        let odd = others.lazy.compactMap { SpoolName.mediaSequence(ofSegment: $0) }.max()
        return [segments.keys.max(), odd].compactMap(\.self).max()
    }

    /// The numbers of the subtitle renditions that have a journal.
    var subtitleJournals: [Int] { others.compactMap { SpoolName.rendition(ofSubtitleJournal: $0) }.sorted() }

    /// The names of the files that are not needed.
    /// - Parameters:
    ///   - isSegmentNeeded: whether a segment with a number and a fingerprint in its name is needed.
    ///   - isNeeded: whether another file is.
    func unneeded(_ isSegmentNeeded: (UInt64, UInt32) -> Bool, _ isNeeded: (String) -> Bool) -> [String] {
        segments.filter { !isSegmentNeeded($0, $1) }.map { SpoolName.segment(mediaSequence: $0, fingerprint: $1) }
            + others.filter { !isNeeded($0) }
    }
}

extension SpoolFiles: ExpressibleByDictionaryLiteral {
    /// Files with sizes that are known.
    init(_ sizes: [String: Int]) {
        self.init { sizes[$0] }
        for name in sizes.keys { insert(name) }
    }

    init(dictionaryLiteral elements: (String, Int)...) { self.init(Dictionary(uniqueKeysWithValues: elements)) }
}
