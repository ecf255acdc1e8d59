import Playlist

/// The ring's memory: an HLS media playlist of type EVENT that plays as it lies. What only the ring needs stands in
/// comment lines that begin with `#LIVERELAY-`.
///
/// A record is appended once its files are whole, and only then does a viewer hear of the segment. The journal also
/// lists what has left every list and is still fetchable; each record says where the lists began when it came.
struct Journal: Equatable {
    static let formatTag = "#LIVERELAY-SPOOL:"
    /// Raised when an older version could misread the journal.
    static let format = "1"
    /// EXT-X-VERSION that the entries to come need: EXT-X-MAP (RFC 8216 §7).
    private static let version = 6

    var targetDuration: Int
    /// Of the first entry, or of the next one when there is none.
    var mediaSequence: UInt64
    /// Of the newest entry before the first, or before the next one when there is none.
    var discontinuitySequence: UInt64
    /// Told of before the first entry and not over; the head has them.
    var openDateRanges: [DateRange]
    var entries: [RingEntry]
    var hasEnded: Bool
    /// Its head counts from elsewhere than the names of its segments, which viewers know.
    var isHeadWrong = false

    /// Its head says that every segment can be decoded without another.
    var promisesIndependence: Bool { entries.allSatisfy(\.isIndependent) }

    /// The whole text, for a new file. An ended journal without entries has no need of its ENDLIST.
    var text: String {
        var playlist = MediaPlaylist(
            entries: entries[...], targetDuration: targetDuration, nextMediaSequence: mediaSequence,
            discontinuitySequence: discontinuitySequence)
        playlist.playlistType = .event
        playlist.hasEndList = hasEnded
        playlist.dateRanges = openDateRanges
        playlist.unknownTags = [Self.formatTag + Self.format]
        playlist.segments = entries.map(Self.segment)
        if entries.isEmpty { return PlaylistWriter.head(of: playlist, version: Self.version) }
        return PlaylistWriter.write(playlist)
    }

    /// The lines that `entry` adds behind `previous`.
    static func record(_ entry: RingEntry, after previous: RingEntry?) -> String {
        PlaylistWriter.entryLines(for: segment(entry), previous: previous.map(segment))
    }

    private static func segment(_ entry: RingEntry) -> MediaSegment {
        var segment = entry.mediaSegment
        segment.marks.append(JournalRecord(entry).line)
        return segment
    }
}

extension Journal {
    /// What a journal of `index` has to say, without what is no longer needed.
    init(_ index: RingIndex, hasEnded: Bool) {
        targetDuration = index.targetDuration
        openDateRanges = index.openDateRanges.ranges
        entries = index.entries
        mediaSequence = index.nextMediaSequence
        discontinuitySequence = index.discontinuitySequence
        self.hasEnded = hasEnded
    }

    /// Reads a journal of which the last record, or the head when there is no record, may be torn.
    /// - Returns: nil when nothing of it had been written.
    static func read(_ bytes: [UInt8], path: String) throws(RingError) -> Journal? {
        guard let playlist = try untorn(bytes, path: path) else { return nil }
        let found = playlist.unknownTags.first { $0.hasPrefix(formatTag) }.map { String($0.dropFirst(formatTag.count)) }
        // The format line is the last of the head: without it there is no head, or it is somebody else's playlist.
        if playlist.segments.isEmpty, found == nil { return nil }
        guard found == format else { throw .unknownJournalFormat(path: path, found: found) }
        var entries: [RingEntry] = []
        entries.reserveCapacity(playlist.segments.count)
        let named = playlist.segments.first.flatMap { SpoolName.mediaSequence(ofSegment: $0.uri) }
        let first = named ?? playlist.mediaSequence
        for (place, var segment) in playlist.segments.enumerated() {
            segment.mediaSequence = first + UInt64(place)
            let entry = try JournalRecord(of: segment).entry(for: segment)
            // A record that lacks would give all that follow other numbers than viewers know them by.
            guard SpoolName.mediaSequence(ofSegment: segment.uri) == segment.mediaSequence else {
                throw .damagedJournalEntry(uri: segment.uri, attribute: PlaylistTag.mediaSequence.rawValue)
            }
            entries.append(entry)
        }
        return Journal(
            targetDuration: Int(playlist.targetDuration.components.seconds), mediaSequence: first,
            discontinuitySequence: playlist.discontinuitySequence ?? 0, openDateRanges: playlist.dateRanges,
            entries: entries, hasEnded: playlist.hasEndList, isHeadWrong: first != playlist.mediaSequence)
    }

    /// Parses the whole lines. The parser passes over what stands behind the last URI line, so a torn record is
    /// simply not there; a torn head is missing its TARGETDURATION.
    static func untorn(_ bytes: [UInt8], path: String) throws(RingError) -> MediaPlaylist? {
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
