import Playlist

/// The journal of the ring: an HLS media playlist of type EVENT that players can play as it is.
///
/// Comment lines that begin with `#LIVERELAY-` hold what only the ring needs. A record is appended when its files are
/// complete, and only then does the segment become visible. The journal also lists segments that left every playlist and
/// can still be fetched. Each record says where the playlist began when the segment was published.
struct RingJournal: Equatable {
    static let formatTag = "#LIVERELAY-SPOOL:"
    static let liveWindowStartTag = "#LIVERELAY-LIVE-FROM:"
    private static let declarationTags: [(type: Rendition.MediaType, tag: String)] = [
        (.closedCaptions, "#LIVERELAY-CAPTIONS:"), (.audio, "#LIVERELAY-AUDIO:"),
    ]
    /// The format version. It is raised if another version could misread the journal.
    static let format = "2"
    static let lastHeadLine = formatTag + format
    /// The EXT-X-VERSION that later entries need for EXT-X-MAP (RFC 8216 §7).
    private static let version = 6
    private static let end = "#\(PlaylistTag.endList.rawValue)\n"
    /// The number of records that are in memory as text at a time.
    private static let recordsPerPart = 256

    var targetDuration: Int
    /// The media sequence number of the first entry, or of the next entry if there is none.
    var mediaSequence: UInt64
    /// The discontinuity sequence number of the newest entry before the first one; without entries, before the next
    /// one.
    var discontinuitySequence: UInt64
    /// The open date ranges of segments before the first entry, which are in the head.
    var openDateRanges: [DateRange]
    /// The latest media sequence number at which the live playlist may begin; nil if the playlist slides.
    var liveWindowStart: UInt64?
    /// The closed captions of the channel, and the names of its audio.
    var declared: [Rendition]
    /// The entries with increasing media sequence numbers. Damaged records are missing.
    var entries = RingEntries()
    var hasEnded: Bool
    /// Whether the head says that every segment can be decoded without another.
    var declaresIndependentSegments: Bool
    /// Whether a bad disk, a power loss or an editor changed the text. An incomplete record after a kill is not damage.
    var isDamaged = false
    /// The index after the last entry in the checkpoint, if another chunk can be added to it.
    var checkpointEnd: Int?
    /// Whether the older entries were read from the checkpoint.
    var isFromCheckpoint = false
    /// The size of an incomplete record at the end of the file. Nothing can be appended to it.
    var incompleteBytes = 0

    /// The number of segments between the first entry and the last that have no record.
    var lostRecords: Int {
        guard let first = entries.first, let last = entries.last else { return 0 }
        return Int(last.mediaSequence - first.mediaSequence) + 1 - entries.count
    }

    /// The whole text for a new file.
    var text: String { parts.joined() }

    /// The whole text for a new file in parts: the head, the records, and EXT-X-ENDLIST unless there are no entries.
    var parts: some Sequence<String> {
        sequence(state: entries.startIndex - 1) { [self] start -> String? in
            guard start >= entries.startIndex else {
                start = entries.startIndex
                return head
            }
            guard start < entries.endIndex else { return nil }
            let records = entries[start..<min(start + Self.recordsPerPart, entries.endIndex)]
            start = records.endIndex
            return records.map(Self.record).joined() + (start == entries.endIndex && hasEnded ? Self.end : "")
        }
    }

    private static func declaration(of rendition: Rendition) -> String {
        (declarationTags.first { $0.type == rendition.type }?.tag ?? "") + rendition.attributes.text
    }

    /// The lines before the first record.
    var head: String {
        var head = MediaPlaylist(
            entries: entries.prefix(1), targetDuration: targetDuration, nextMediaSequence: mediaSequence,
            discontinuitySequence: discontinuitySequence)
        head.hasIndependentSegments = declaresIndependentSegments
        head.playlistType = .event
        head.dateRanges = openDateRanges
        head.unknownTags =
            (liveWindowStart.map { ["\(Self.liveWindowStartTag)\($0)"] } ?? [])
            + declared.map(Self.declaration) + [Self.formatTag + Self.format]
        return PlaylistWriter.head(of: head, version: Self.version)
    }

    /// The lines of one entry. They do not depend on the lines before them.
    static func record(_ entry: RingEntry) -> String {
        // Read back by `entries(ofRecords:)` too.
        JournalDamageFilter.prependingChecksum(to: PlaylistWriter.entryLines(for: segment(entry), previous: nil))
    }

    private static func segment(_ entry: RingEntry) -> MediaSegment {
        var segment = entry.mediaSegment
        segment.unknownTags.append(JournalEntryTag(entry).line)
        return segment
    }
}

extension RingJournal {
    /// The journal of `index`, without entries that are no longer needed.
    init(_ index: RingIndex, hasEnded: Bool) {
        targetDuration = index.targetDuration
        openDateRanges = index.openDateRanges.ranges
        liveWindowStart = index.liveWindowStart
        declared = index.declared.all
        entries = index.entries
        mediaSequence = index.nextMediaSequence
        discontinuitySequence = index.discontinuitySequence
        declaresIndependentSegments = index.dependentEntries == 0
        self.hasEnded = hasEnded
    }
}

extension RingJournal {
    /// The most gaps that a journal may leave, and the most segments after it: a day of the shortest ones.
    static let maximumUnrecorded: UInt64 = 86_400

    /// Reads the intact parts of a journal, whose last record may be incomplete.
    ///
    /// Throws if the file contains text without a head of this format, because it may belong to another program.
    /// - Parameter blocks: the entries before the records in `bytes`, from a checkpoint.
    /// - Returns: nil if no part of the journal was written.
    static func read(
        _ bytes: [UInt8], path: String, after blocks: [EntryBlock] = []
    ) throws(RingError) -> RingJournal? {
        guard let filter = JournalDamageFilter(bytes, lastHeadLine: lastHeadLine) else {
            return try rejectForeignText(bytes, path: path)
        }
        let playlist: MediaPlaylist
        do throws(PlaylistError) { playlist = try MediaPlaylistParser.parse(filter.intactBytes, limits: .none) } catch {
            throw .unreadableJournal(path: path, error)
        }
        var journal = RingJournal(
            targetDuration: RingRanges.targetDuration.clamp(Int(playlist.targetDuration.components.seconds)),
            mediaSequence: playlist.mediaSequence,
            discontinuitySequence: playlist.discontinuitySequence ?? 0, openDateRanges: playlist.dateRanges,
            liveWindowStart: playlist.unknownTags.lazy.compactMap(Self.liveWindowStart).first,
            declared: playlist.unknownTags.compactMap(Self.declared), hasEnded: filter.hasEnded,
            declaresIndependentSegments: playlist.hasIndependentSegments, isDamaged: filter.isDamaged,
            incompleteBytes: bytes.count - filter.end)
        for block in blocks { journal.entries.append(block) }
        journal.isFromCheckpoint = !blocks.isEmpty
        journal.checkpointEnd = blocks.isEmpty ? nil : journal.entries.endIndex
        for segment in playlist.segments { journal.append(segment) }
        journal.finishReading(isWhole: blocks.isEmpty)
        return journal
    }

    /// The head of records without one.
    static let anyHead = Array("#EXTM3U\n#EXT-X-TARGETDURATION:\(RingRanges.targetDuration.upperBound)\n".utf8)

    /// Reads records that were appended to a journal, the last of which may be incomplete.
    /// - Returns: the entries, and the size of their records; nil if the text is damaged, or is more than records.
    static func appendedEntries(_ bytes: [UInt8]) -> (entries: [RingEntry], byteCount: Int)? {
        let head = anyHead + Array("\(lastHeadLine)\n".utf8)
        guard let filter = JournalDamageFilter(head + bytes, lastHeadLine: lastHeadLine), !filter.isDamaged,
            !filter.hasEnded, let entries = entries(ofRecords: filter.intactBytes[head.count...])
        else { return nil }
        return (entries, filter.end - head.count)
    }

    /// The entries of records without a head; nil if a record cannot be read.
    static func entries(ofRecords records: ArraySlice<UInt8>) -> [RingEntry]? {
        guard let playlist = try? MediaPlaylistParser.parse(anyHead + records, limits: .none) else {
            return nil
        }
        let entries = playlist.segments.compactMap { try? JournalEntryTag(of: $0).entry(for: $0) }
        return entries.count == playlist.segments.count ? entries : nil
    }

    private static func liveWindowStart(in line: String) -> UInt64? {
        line.hasPrefix(liveWindowStartTag) ? UInt64(line.dropFirst(liveWindowStartTag.count)) : nil
    }

    /// The rendition in a line of the head; nil for any other line.
    private static func declared(in line: String) -> Rendition? {
        guard let (type, tag) = declarationTags.first(where: { line.hasPrefix($0.tag) }),
            let attributes = try? AttributeList(parsing: line.dropFirst(tag.count), line: 0, tag: tag)
        else { return nil }
        var rendition = Rendition(type: type, groupID: "", name: "")
        rendition.attributes = attributes
        return rendition
    }

    /// Appends the entry of a record. An intact record that does not follow the entries before it is damage.
    private mutating func append(_ segment: MediaSegment) {
        guard let entry = try? JournalEntryTag(of: segment).entry(for: segment),
            entries.last.map({ entry.canFollow($0, gaps: Self.maximumUnrecorded - UInt64(lostRecords)) })
                ?? entry.canBeFirst
        else {
            isDamaged = true
            return
        }
        entries.append(entry)
    }

    /// Takes the first numbers from the first entry, because viewers know the names of segments. A head with other
    /// numbers is damaged, or the first records are missing. After damage it is unknown whether the channel ended.
    /// - Parameter isWhole: whether all entries come from the journal. A checkpoint may begin with earlier ones.
    private mutating func finishReading(isWhole: Bool) {
        if !isWhole {
            isDamaged = isDamaged || lostRecords > 0
        } else if let first = entries.first {
            isDamaged = isDamaged || lostRecords > 0 || first.mediaSequence != mediaSequence
            mediaSequence = first.mediaSequence
            discontinuitySequence = first.discontinuitySequence - (first.isDiscontinuous ? 1 : 0)
        }
        hasEnded = hasEnded && !isDamaged
    }

    /// Throws if the text is a playlist with content, but not of this format.
    /// - Returns: nil.
    private static func rejectForeignText(_ bytes: [UInt8], path: String) throws(RingError) -> RingJournal? {
        guard let playlist = try parseCompleteLines(bytes, path: path) else { return nil }
        let found = playlist.unknownTags.first { $0.hasPrefix(formatTag) }.map { String($0.dropFirst(formatTag.count)) }
        if playlist.segments.isEmpty, found == nil { return nil }
        throw .unknownJournalFormat(path: path, found: found)
    }

    /// Parses the complete lines of a journal.
    ///
    /// The parser ignores lines after the last URI line, so an incomplete record is not listed.
    /// - Returns: nil if the head is incomplete, so that TARGETDURATION is missing.
    static func parseCompleteLines(_ bytes: [UInt8], path: String) throws(RingError) -> MediaPlaylist? {
        // A power loss leaves zeros in place of text.
        let text = bytes.prefix { $0 != 0 }
        let whole = text[..<(text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)]
        if whole.isEmpty, "#EXTM3U\n".utf8.starts(with: text) { return nil }
        do throws(PlaylistError) { return try MediaPlaylistParser.parse(Array(whole), limits: .none) } catch {
            if error.reason == .missing, error.tag == PlaylistTag.targetDuration.rawValue { return nil }
            throw .unreadableJournal(path: path, error)
        }
    }
}

extension RingEntry {
    /// Whether the entry's discontinuity sequence number counts its own discontinuity, if it has one.
    fileprivate var canBeFirst: Bool { discontinuitySequence >= (isDiscontinuous ? 1 : 0) }

    /// Whether the entry can come after `other`, with at most `gaps` missing entries between them. Each missing entry has one
    /// media sequence number and at most one discontinuity.
    fileprivate func canFollow(_ other: RingEntry, gaps: UInt64) -> Bool {
        guard mediaSequence > other.mediaSequence else { return false }
        let missing = mediaSequence - other.mediaSequence - 1
        guard missing <= gaps else { return false }
        let counted = other.discontinuitySequence + (isDiscontinuous ? 1 : 0)
        return discontinuitySequence >= counted && discontinuitySequence - counted <= missing
    }
}
