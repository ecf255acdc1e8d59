/// The ring's files in a spool directory.
///
/// The directory of a week contains more than half a million files. Their names are read at once; the size of a file is
/// read only on request.
struct SpoolFiles: Sendable {
    private var segments = SegmentNames()
    private var others: Set<String> = []
    private let byteCount: @Sendable (String) -> Int?

    /// - Parameter byteCount: returns the size of the regular file with a name; nil if no such file exists.
    init(byteCount: @escaping @Sendable (String) -> Int?) { self.byteCount = byteCount }

    /// Adds a file if only a ring can have written it.
    /// - Parameter name: in UTF-8.
    mutating func insert(_ name: some Sequence<UInt8>) {
        if let segment = SpoolName.numberAndFingerprint(ofSegment: name),
            segments.insert(segment.number, segment.fingerprint)
        {
            return
        }
        let name = String(decoding: Array(name), as: UTF8.self)
        if SpoolName.isRingFile(name) { others.insert(name) }
    }

    /// Whether the segment with this number and fingerprint exists, whatever its size.
    func hasSegment(_ number: UInt64, fingerprint: UInt32) -> Bool { segments[number] == fingerprint }

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
        return [segments.highest, odd].compactMap(\.self).max()
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
            rest.remove(number, fingerprint)
        }
        return rest.names + others.filter { !isNeeded($0) }
    }
}

/// The numbers and the fingerprints in the names of segments, in pages of near numbers.
private struct SegmentNames: Sendable {
    private static let pageSize: UInt64 = 1 << 12
    /// The most pages from the first number to the last.
    private static let mostPages = 1 << 16

    /// The fingerprints of the numbers of each page; empty if it has none.
    private var pages: [[UInt32?]] = []
    private var firstPage: UInt64 = 0

    /// - Returns: false if another name has this number, or the number is too far from the others.
    mutating func insert(_ number: UInt64, _ fingerprint: UInt32) -> Bool {
        let (page, position) = number.quotientAndRemainder(dividingBy: Self.pageSize)
        guard let index = makeIndex(ofPage: page), pages[index][Int(position)] == nil else { return false }
        pages[index][Int(position)] = fingerprint
        return true
    }

    private mutating func makeIndex(ofPage page: UInt64) -> Int? {
        if pages.isEmpty { firstPage = page }
        let (first, last) = (min(page, firstPage), max(page, firstPage + UInt64(pages.count)))
        guard last - first < Self.mostPages else { return nil }
        if page < firstPage {
            pages.insert(contentsOf: repeatElement([], count: Int(firstPage - page)), at: 0)
            firstPage = page
        }
        let index = Int(page - firstPage)
        while pages.count <= index { pages.append([]) }
        if pages[index].isEmpty { pages[index] = Array(repeating: nil, count: Int(Self.pageSize)) }
        return index
    }

    subscript(number: UInt64) -> UInt32? { place(of: number).flatMap { pages[$0.index][$0.position] } }

    mutating func remove(_ number: UInt64, _ fingerprint: UInt32) {
        guard let place = place(of: number), pages[place.index][place.position] == fingerprint else { return }
        pages[place.index][place.position] = nil
    }

    private func place(of number: UInt64) -> (index: Int, position: Int)? {
        let (page, position) = number.quotientAndRemainder(dividingBy: Self.pageSize)
        guard page >= firstPage, page - firstPage < pages.count, !pages[Int(page - firstPage)].isEmpty else {
            return nil
        }
        return (Int(page - firstPage), Int(position))
    }

    /// The highest number; nil without names.
    var highest: UInt64? {
        for (index, page) in pages.enumerated().reversed() {
            if let position = page.lastIndex(where: { $0 != nil }) { return number(index, position) }
        }
        return nil
    }

    /// The names in the order of their numbers.
    var names: [String] {
        pages.enumerated().flatMap { index, page in
            page.enumerated().compactMap { position, fingerprint in
                fingerprint.map {
                    SpoolName.segment(mediaSequence: number(index, position), fingerprint: $0)
                }
            }
        }
    }

    private func number(_ index: Int, _ position: Int) -> UInt64 {
        (firstPage + UInt64(index)) * Self.pageSize + UInt64(position)
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
