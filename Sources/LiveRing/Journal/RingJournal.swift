import Playlist

/// The ring's memory: an HLS media playlist of type EVENT that plays as it lies. What only the ring needs stands in
/// comment lines that begin with `#LIVERELAY-`.
///
/// A record is appended once its files are whole, and only then does a viewer hear of the segment. The journal also
/// lists what has left every list and is still fetchable; each record says where the lists began when it came.
struct RingJournal: Equatable {
    static let formatTag = "#LIVERELAY-SPOOL:"
    private static let liveWindowStartTag = "#LIVERELAY-LIVE-FROM:"
    /// Raised when another version could misread the journal.
    static let format = "2"
    /// EXT-X-VERSION that the entries to come need: EXT-X-MAP (RFC 8216 §7).
    private static let version = 6

    var targetDuration: Int
    /// Of the first entry, or of the next one when there is none.
    var mediaSequence: UInt64
    /// Of the newest entry before the first, or before the next one when there is none.
    var discontinuitySequence: UInt64
    /// Told of before the first entry and not over; the head has them.
    var openDateRanges: [DateRange]
    /// The live list began here at the latest; nil: it slid.
    var liveWindowStart: UInt64?
    /// Media sequence numbers rise; where records are damaged some are left out.
    var entries: [RingEntry]
    var hasEnded: Bool
    /// A bad disk, a power cut or somebody's editor changed it. What a kill leaves is no damage.
    var isDamaged = false

    /// Its head says that every segment can be decoded without another.
    var declaresIndependentSegments: Bool { entries.allSatisfy(\.isIndependent) }

    /// Segments between the first record and the last of which no record tells.
    var lostRecords: Int {
        guard let first = entries.first, let last = entries.last else { return 0 }
        return Int(last.mediaSequence - first.mediaSequence) + 1 - entries.count
    }

    /// The whole text, for a new file. An ended journal without entries has no need of its ENDLIST.
    var text: String {
        var head = MediaPlaylist(
            entries: entries[...], targetDuration: targetDuration, nextMediaSequence: mediaSequence,
            discontinuitySequence: discontinuitySequence)
        head.playlistType = .event
        head.dateRanges = openDateRanges
        head.unknownTags =
            (liveWindowStart.map { ["\(Self.liveWindowStartTag)\($0)"] } ?? []) + [Self.formatTag + Self.format]
        let end = hasEnded && !entries.isEmpty ? "#\(PlaylistTag.endList.rawValue)\n" : ""
        return PlaylistWriter.head(of: head, version: Self.version) + entries.map(Self.record).joined() + end
    }

    /// The lines that `entry` adds. They stand for themselves, whatever is before them.
    static func record(_ entry: RingEntry) -> String {
        ChecksummedJournal.prependingChecksum(to: PlaylistWriter.entryLines(for: segment(entry), previous: nil))
    }

    private static func segment(_ entry: RingEntry) -> MediaSegment {
        var segment = entry.mediaSegment
        segment.unknownTags.append(JournalEntryTag(entry).line)
        return segment
    }
}

extension RingJournal {
    /// What a journal of `index` has to say, without what is no longer needed.
    init(_ index: RingIndex, hasEnded: Bool) {
        targetDuration = index.targetDuration
        openDateRanges = index.openDateRanges.ranges
        liveWindowStart = index.liveWindowStart
        entries = index.entries
        mediaSequence = index.nextMediaSequence
        discontinuitySequence = index.discontinuitySequence
        self.hasEnded = hasEnded
    }

    /// Reads what can be read of a journal, of which the last record may be torn.
    /// - Returns: nil when nothing of it had been written. Throws for what has no head of ours: it may be somebody else's.
    static func read(_ bytes: [UInt8], path: String) throws(RingError) -> RingJournal? {
        guard let text = ChecksummedJournal(bytes, format: formatTag + format) else {
            return try rejectForeignText(bytes, path: path)
        }
        let playlist: MediaPlaylist
        do throws(PlaylistError) { playlist = try MediaPlaylistParser.parse(text.intactBytes) } catch {
            throw .unreadableJournal(path: path, error)
        }
        var journal = RingJournal(
            targetDuration: Int(playlist.targetDuration.components.seconds), mediaSequence: playlist.mediaSequence,
            discontinuitySequence: playlist.discontinuitySequence ?? 0, openDateRanges: playlist.dateRanges,
            liveWindowStart: playlist.unknownTags.lazy.compactMap(Self.liveFrom).first, entries: [],
            hasEnded: text.hasEnded,
            isDamaged: text.isDamaged)
        journal.entries.reserveCapacity(playlist.segments.count)
        for segment in playlist.segments { journal.append(segment) }
        journal.finishReading()
        return journal
    }

    private static func liveFrom(_ line: String) -> UInt64? {
        line.hasPrefix(liveWindowStartTag) ? UInt64(line.dropFirst(liveWindowStartTag.count)) : nil
    }

    /// Every record was taken that can be. Viewers know the names of segments: a head that counts otherwise is wrong, or
    /// lacks what came first. Behind damage nobody knows whether something was to follow.
    private mutating func finishReading() {
        if let first = entries.first {
            isDamaged = isDamaged || lostRecords > 0 || first.mediaSequence != mediaSequence
            mediaSequence = first.mediaSequence
            discontinuitySequence = first.discontinuitySequence - (first.isDiscontinuous ? 1 : 0)
        }
        hasEnded = hasEnded && !isDamaged
    }

    /// A record that is whole, and does not go on where the ones before it end, tells of nothing that can be listed.
    private mutating func append(_ segment: MediaSegment) {
        guard let entry = try? JournalEntryTag(of: segment).entry(for: segment),
            entries.last.map({ entry.canFollow($0) }) ?? entry.canBeFirst
        else {
            isDamaged = true
            return
        }
        entries.append(entry)
    }

    /// - Returns: nil. Throws where there is something all the same.
    private static func rejectForeignText(_ bytes: [UInt8], path: String) throws(RingError) -> RingJournal? {
        guard let playlist = try parseCompleteLines(bytes, path: path) else { return nil }
        let found = playlist.unknownTags.first { $0.hasPrefix(formatTag) }.map { String($0.dropFirst(formatTag.count)) }
        if playlist.segments.isEmpty, found == nil { return nil }
        throw .unknownJournalFormat(path: path, found: found)
    }

    /// Parses the whole lines. The parser passes over what stands behind the last URI line, so a torn record is
    /// simply not there; a torn head is missing its TARGETDURATION.
    static func parseCompleteLines(_ bytes: [UInt8], path: String) throws(RingError) -> MediaPlaylist? {
        // Behind a power loss there may be zeros where text was.
        let text = bytes.prefix { $0 != 0 }
        let whole = text[..<(text.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)]
        if whole.isEmpty, "#EXTM3U\n".utf8.starts(with: text) { return nil }
        do throws(PlaylistError) { return try MediaPlaylistParser.parse(Array(whole)) } catch {
            if error.reason == .missing, error.tag == PlaylistTag.targetDuration.rawValue { return nil }
            throw .unreadableJournal(path: path, error)
        }
    }
}

extension RingEntry {
    /// The numbers before it can be counted.
    fileprivate var canBeFirst: Bool { discontinuitySequence >= (isDiscontinuous ? 1 : 0) }

    /// Whether it can stand behind `other`, perhaps with others between them: each of those has a media sequence number,
    /// and a discontinuity or none.
    fileprivate func canFollow(_ other: RingEntry) -> Bool {
        guard mediaSequence > other.mediaSequence, mediaSequence - other.mediaSequence <= RingRecovery.maximumUnrecorded
        else { return false }
        let between = mediaSequence - other.mediaSequence - 1
        let counted = other.discontinuitySequence + (isDiscontinuous ? 1 : 0)
        return discontinuitySequence >= counted && discontinuitySequence - counted <= between
    }
}
