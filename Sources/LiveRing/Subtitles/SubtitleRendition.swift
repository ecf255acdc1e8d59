package import Playlist

/// The subtitles of one segment as a publisher hands them in.
package struct NewSubtitles: Sendable {
    /// Index in the renditions that the ring was opened with.
    package var rendition: Int
    /// Of the published segment that they belong to.
    package var mediaSequence: UInt64
    /// A whole WebVTT file.
    package var bytes: [UInt8]

    package init(rendition: Int, mediaSequence: UInt64, bytes: [UInt8]) {
        self.rendition = rendition
        self.mediaSequence = mediaSequence
        self.bytes = bytes
    }
}

/// One subtitle rendition beside the segments: a file for each, with the segment's number. Its list says what the
/// segments' list says, and may end earlier.
package struct SubtitleRendition: Equatable, Sendable {
    struct SubtitleEntry: Equatable, Sendable {
        var file: SpoolFile
        /// Its file was lost under us.
        var isGap = false
    }

    /// In the names of its files, for the life of the spool.
    package let number: Int
    /// As a master playlist lists it (RFC 8216 §4.3.4.1).
    package let rendition: Rendition
    /// Media sequence number of the first of `entries`; of the next one when there is none, nil when any may be.
    private(set) var firstMediaSequence: UInt64?
    /// Of consecutive segments.
    private(set) var entries: ArraySlice<SubtitleEntry> = []

    /// - Parameter upstream: what the upstream says of it; its group and its address are its own.
    init(number: Int, upstream: Rendition) {
        self.number = number
        var rendition = Rendition(type: .subtitles, groupID: Self.groupID, name: upstream.name)
        rendition.language = upstream.language ?? Self.unknownLanguage
        for name in Self.copiedAttributes {
            guard let attribute = upstream.attributes.attributes.last(where: { $0.name == name }) else { continue }
            rendition.attributes.set(name, to: attribute.value, isQuoted: attribute.isQuoted)
        }
        rendition.uri = SpoolName.subtitleJournal(number)
        self.rendition = rendition
    }

    /// GROUP-ID of all of them.
    static let groupID = "subs"
    /// CONFORMANCE asks for a LANGUAGE always; this is BCP 47's for one that nobody told.
    private static let unknownLanguage = "und"
    /// Attributes that are as true of ours as of the upstream's.
    private static let copiedAttributes = [
        "ASSOC-LANGUAGE", "STABLE-RENDITION-ID", "DEFAULT", "AUTOSELECT", "FORCED", "CHARACTERISTICS",
    ]

    /// The first media sequence number without subtitles; nil before there were any.
    var nextMediaSequence: UInt64? { firstMediaSequence.map { $0 + UInt64(entries.count) } }

    /// What an earlier process called by the same name goes on here.
    func isSameRendition(as other: SubtitleRendition) -> Bool {
        rendition.name == other.rendition.name && rendition.language == other.rendition.language
    }

    mutating func append(_ entry: SubtitleEntry, for mediaSequence: UInt64) {
        if entries.isEmpty { firstMediaSequence = mediaSequence }
        entries.append(entry)
    }

    /// Forgets what belongs to other segments than these.
    /// - Returns: the files that are no longer needed.
    @discardableResult
    mutating func evict(outside numbers: Range<UInt64>) -> [SpoolFile] {
        guard let first = firstMediaSequence, let nextMediaSequence else { return [] }
        let gone = Int(min(numbers.lowerBound - min(first, numbers.lowerBound), UInt64(entries.count)))
        let unknown = min(Int(nextMediaSequence - min(nextMediaSequence, numbers.upperBound)), entries.count - gone)
        defer {
            entries.removeFirst(gone)
            entries.removeLast(unknown)
            firstMediaSequence = entries.isEmpty ? nil : first + UInt64(gone)
        }
        return (entries.prefix(gone) + entries.suffix(unknown)).filter { !$0.isGap }.map(\.file)
    }

    /// What is not among `files`, sizes by name, is gone; what is again is not.
    mutating func updateGaps(from files: [String: Int]) {
        for place in entries.indices {
            entries[place].isGap = files[entries[place].file.name] != entries[place].file.byteCount
        }
    }

    /// Those that are there, each with its segment's number.
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

    /// The file of that name, if it can be fetched.
    func file(named name: String) -> SpoolFile? {
        guard let found = SpoolName.subtitles(named: name), found.rendition == number,
            let entry = entry(for: found.mediaSequence), entry.file.name == name, !entry.isGap
        else { return nil }
        return entry.file
    }

    /// As a playlist shows the subtitles of `segment`: its number, its length, its date and its marks.
    func mediaSegment(for segment: RingEntry) -> MediaSegment? {
        guard let entry = entry(for: segment.mediaSequence) else { return nil }
        var value = segment.mediaSegment
        value.uri = entry.file.name
        value.map = nil
        value.isGap = entry.isGap
        return value
    }
}
