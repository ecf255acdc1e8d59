import Playlist

/// The journal of the ring: an HLS media playlist of type EVENT that players can play as it is.
///
/// Comment lines that begin with `#LIVERELAY-` hold what only the ring needs. A record is appended when its files are
/// complete, and only then does the segment become visible. The journal also lists segments that left every playlist and
/// can still be fetched. Each record says where the playlist began when the segment was published.
struct RingJournal: Equatable {
    static let formatTag = "#LIVERELAY-SPOOL:"
    static let liveWindowStartTag = "#LIVERELAY-LIVE-FROM:"
    /// The format version. It is raised if another version could misread the journal.
    static let format = "2"
    /// The EXT-X-VERSION that later entries need for EXT-X-MAP (RFC 8216 §7).
    private static let version = 6

    var targetDuration: Int
    /// The media sequence number of the first entry, or of the next entry if there is none.
    var mediaSequence: UInt64
    /// The discontinuity sequence number of the newest entry before the first one, or before the next one if there is none.
    var discontinuitySequence: UInt64
    /// The open date ranges of segments before the first entry, which are in the head.
    var openDateRanges: [DateRange]
    /// The latest media sequence number at which the live playlist may begin; nil if the playlist slides.
    var liveWindowStart: UInt64?
    /// The entries with increasing media sequence numbers. Damaged records are missing.
    var entries: [RingEntry]
    var hasEnded: Bool
    /// Whether a bad disk, a power loss or an editor changed the text. An incomplete record after a kill is not damage.
    var isDamaged = false
    /// Whether the file that was read ends inside a record, so that nothing can be appended to it.
    var endsInsideRecord = false

    /// Whether the head says that every segment can be decoded without another.
    var declaresIndependentSegments: Bool { entries.allSatisfy(\.isIndependent) }

    /// The number of segments between the first entry and the last that have no record.
    var lostRecords: Int {
        guard let first = entries.first, let last = entries.last else { return 0 }
        return Int(last.mediaSequence - first.mediaSequence) + 1 - entries.count
    }

    /// Whether the journal of a file has the same records as `other`, and the same properties in its head. The numbers in
    /// a head follow from the first record.
    func hasRecords(of other: RingJournal) -> Bool {
        !entries.isEmpty && entries == other.entries && targetDuration == other.targetDuration
            && openDateRanges == other.openDateRanges && liveWindowStart == other.liveWindowStart
            && hasEnded == other.hasEnded
    }

    /// The whole text for a new file. Without entries there is no EXT-X-ENDLIST.
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

    /// The lines of one entry. They do not depend on the lines before them.
    static func record(_ entry: RingEntry) -> String {
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
        entries = index.entries
        mediaSequence = index.nextMediaSequence
        discontinuitySequence = index.discontinuitySequence
        self.hasEnded = hasEnded
    }
}
