/// The ring's files in a spool directory.
///
/// The directory of a week contains more than half a million files. Their names are read at once; the size of a file is
/// read only on request.
struct SpoolFiles: Sendable {
    /// The fingerprints in the names of segments, by media sequence number, in pages.
    private var segments: [UInt64: [UInt32?]] = [:]
    private static let pageSize: UInt64 = 256
    private var others: Set<String> = []
    private let byteCount: @Sendable (String) -> Int?

    /// - Parameter byteCount: returns the size of the regular file with a name; nil if no such file exists.
    init(byteCount: @escaping @Sendable (String) -> Int?) { self.byteCount = byteCount }

    /// Adds a file if only a ring can have written it.
    /// - Parameter name: in UTF-8.
    mutating func insert(_ name: some Sequence<UInt8>) {
        if let segment = SpoolName.numberAndFingerprint(ofSegment: name), insert(segment.number, segment.fingerprint) {
            return
        }
        let name = String(decoding: Array(name), as: UTF8.self)
        if SpoolName.isRingFile(name) { others.insert(name) }
    }

    /// - Returns: false if another file already has this number.
    private mutating func insert(_ number: UInt64, _ fingerprint: UInt32) -> Bool {
        let (page, position) = number.quotientAndRemainder(dividingBy: Self.pageSize)
        return { (fingerprints: inout [UInt32?]) in
            guard fingerprints[Int(position)] == nil else { return false }
            fingerprints[Int(position)] = fingerprint
            return true
        }(&segments[page, default: Array(repeating: nil, count: Int(Self.pageSize))])
    }

    /// Whether the segment with this number and fingerprint exists, whatever its size.
    func hasSegment(_ number: UInt64, fingerprint: UInt32) -> Bool {
        let (page, position) = number.quotientAndRemainder(dividingBy: Self.pageSize)
        return segments[page]?[Int(position)] == fingerprint
    }

    /// Whether a file called `name` exists, whatever its size.
    func contains(_ name: String) -> Bool {
        guard let segment = SpoolName.numberAndFingerprint(ofSegment: name.utf8),
            hasSegment(segment.number, fingerprint: segment.fingerprint)
        else { return others.contains(name) }
        return true
    }

    /// Whether a file exists with all of its bytes.
    func isWhole(_ file: SpoolFile) -> Bool { contains(file.name) && byteCount(file.name) == file.byteCount }

    /// Whether a file exists; a recent file must also be complete.
    func isThere(_ file: SpoolFile, isRecent: Bool) -> Bool { isRecent ? isWhole(file) : contains(file.name) }

    /// The highest number of a segment; nil without segments.
    var highestMediaSequence: UInt64? {
        let odd = others.lazy.compactMap { SpoolName.mediaSequence(ofSegment: $0) }.max()
        let last = segments.keys.max().flatMap { page in
            segments[page]?.lastIndex { $0 != nil }.map { page * Self.pageSize + UInt64($0) }
        }
        return [last, odd].compactMap(\.self).max()
    }

    /// The numbers of the subtitle renditions that have a journal.
    var subtitleJournals: [Int] { others.compactMap { SpoolName.rendition(ofSubtitleJournal: $0) }.sorted() }

    /// The names of the files that are not needed.
    /// - Parameters:
    ///   - forEachNeeded: calls its argument with the number and the fingerprint of each needed segment.
    ///   - isNeeded: whether any other file is needed.
    func unneeded(
        _ forEachNeeded: ((UInt64, UInt32) -> Void) -> Void, _ isNeeded: (String) -> Bool
    ) -> [String] {
        var rest = segments
        forEachNeeded { number, fingerprint in
            let (page, position) = number.quotientAndRemainder(dividingBy: Self.pageSize)
            if hasSegment(number, fingerprint: fingerprint) { rest[page]?[Int(position)] = nil }
        }
        let names = rest.flatMap { page, fingerprints in
            fingerprints.enumerated().compactMap { position, fingerprint in
                fingerprint.map {
                    SpoolName.segment(mediaSequence: page * Self.pageSize + UInt64(position), fingerprint: $0)
                }
            }
        }
        return names + others.filter { !isNeeded($0) }
    }
}

extension SpoolFiles: ExpressibleByDictionaryLiteral {
    /// Creates a list of files of known sizes, for tests.
    init(_ sizes: [String: Int]) {
        self.init { sizes[$0] }
        for name in sizes.keys { insert(name.utf8) }
    }

    init(dictionaryLiteral elements: (String, Int)...) { self.init(Dictionary(uniqueKeysWithValues: elements)) }
}
