package import Playlist

/// One subtitle rendition: a file for each segment, with the media sequence number of the segment.
///
/// Its playlist lists the same segments as the playlist of the ring, and may end earlier.
package struct SubtitleRendition: Equatable, Sendable {
    struct SubtitleEntry: Equatable, Sendable {
        var file: SpoolFile
        var isGap = false
    }

    /// The number in the names of its files, constant for the life of the spool.
    package let number: Int
    /// The rendition in the master playlist (RFC 8216 §4.3.4.1).
    package let rendition: Rendition
    /// The captions from which this process makes the files; nil for subtitles of the upstream. The journal contains
    /// the source, so the rendition is recognized after a change of source or a restart.
    package let source: String?
    /// The media sequence number of the first entry; nil without entries.
    private(set) var firstMediaSequence: UInt64?
    /// The entries of consecutive segments.
    private(set) var entries = PersistentVector<SubtitleEntry>()

    /// - Parameter rendition: that of the upstream, for example. Its GROUP-ID and URI are not used.
    init(number: Int, publishing rendition: Rendition, source: String? = nil) {
        self.number = number
        self.source = source
        var rendition = Rendition(publishing: rendition, as: Self.groupID)
        rendition.uri = SpoolName.subtitleJournal(number)
        self.rendition = rendition
    }

    /// The source of the rendition that exists before captions are found.
    package static let firstSource = "CC1"

    /// The GROUP-ID of every subtitle rendition.
    static let groupID = "subs"

    /// The first media sequence number without subtitles; nil without entries.
    var nextMediaSequence: UInt64? { firstMediaSequence.map { $0 + UInt64(entries.count) } }

    /// Whether `other`, from an earlier process, has the same source, or the same name and language.
    func isSameRendition(as other: SubtitleRendition) -> Bool {
        guard source == nil, other.source == nil else { return source == other.source }
        return rendition.name == other.rendition.name && rendition.language == other.rendition.language
    }

    mutating func append(_ entry: SubtitleEntry, for mediaSequence: UInt64) {
        if entries.isEmpty { firstMediaSequence = mediaSequence }
        entries.append(entry)
    }

    /// Removes the entries of segments whose numbers are not in `numbers`.
    /// - Returns: the files that are no longer needed.
    @discardableResult
    mutating func evict(outside numbers: Range<UInt64>) -> [SpoolFile] {
        guard let first = firstMediaSequence, let nextMediaSequence else { return [] }
        let before = Int(min(numbers.lowerBound - min(first, numbers.lowerBound), UInt64(entries.count)))
        let after = min(Int(nextMediaSequence - min(nextMediaSequence, numbers.upperBound)), entries.count - before)
        defer {
            entries.removeFirst(before)
            entries.removeLast(after)
            firstMediaSequence = entries.isEmpty ? nil : first + UInt64(before)
        }
        return (Array(entries.prefix(before)) + entries.suffix(after)).filter { !$0.isGap }.map(\.file)
    }

    /// Sets the gap state of every entry: an entry is a gap unless `files` has its complete file.
    mutating func updateGaps(from files: SpoolFiles) {
        for index in entries.indices {
            entries[index].isGap = !files.isWhole(entries[index].file)
        }
    }

    /// The files that are not gaps, each with the number of its segment.
    var files: [(mediaSequence: UInt64, file: SpoolFile)] {
        guard let first = firstMediaSequence else { return [] }
        return entries.enumerated().filter { !$1.isGap }.map { (first + UInt64($0), $1.file) }
    }

    func entry(for mediaSequence: UInt64) -> SubtitleEntry? {
        guard let first = firstMediaSequence, mediaSequence >= first, mediaSequence - first < entries.count else {
            return nil
        }
        return entries[entries.startIndex + Int(mediaSequence - first)]
    }

    /// The file called `name` if it can be fetched.
    func file(named name: String) -> SpoolFile? {
        guard let parts = SpoolName.subtitles(named: name), parts.rendition == number,
            let entry = entry(for: parts.mediaSequence), entry.file.name == name, !entry.isGap
        else { return nil }
        return entry.file
    }

    /// The subtitles of `segment` in a playlist, with the number, duration, date and ad markers of the segment.
    func mediaSegment(for segment: RingEntry) -> MediaSegment? {
        guard let entry = entry(for: segment.mediaSequence) else { return nil }
        var value = segment.mediaSegment
        value.uri = entry.file.name
        value.map = nil
        value.isGap = entry.isGap
        return value
    }
}

/// Selects the subtitle renditions that a ring is opened with. The files of other renditions are removed.
package enum SubtitleSelection: Equatable, Sendable {
    /// All renditions of the earlier process.
    case all
    /// The upstream's renditions, followed by those that this process makes itself if `keepsMade` is true.
    case upstream([Rendition], keepsMade: Bool)

    package static let none = SubtitleSelection.upstream([], keepsMade: false)

    /// - Parameter number: the number of the first new rendition.
    func renditions(of earlier: [SubtitleRendition], numberedFrom number: Int) -> [SubtitleRendition] {
        guard case .upstream(let upstream, let keepsMade) = self else { return earlier }
        var (rest, next) = (earlier, number)
        let listed = upstream.map { rendition in
            let new = SubtitleRendition(number: next, publishing: rendition)
            if let known = rest.firstIndex(where: { $0.isSameRendition(as: new) }) { return rest.remove(at: known) }
            next += 1
            return new
        }
        return listed + (keepsMade ? rest.filter { $0.source != nil } : [])
    }
}
