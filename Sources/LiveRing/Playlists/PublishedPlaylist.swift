import Playlist

/// The media playlists that viewers get: what is in them and what they promise (CONFORMANCE of a list is decided
/// here, its text by `PlaylistWriter`).
struct PublishedPlaylist {
    let index: RingIndex
    /// EXT-X-ENDLIST belongs at the end: nothing will follow.
    let hasEnded: Bool
    /// Lists these in place of the segments, as far as they go; nil: lists the segments.
    var subtitles: SubtitleRendition?

    /// The live window; nil before the first segment.
    var live: MediaPlaylist? {
        let entries = index.listed
        let window = PlaylistWindow(wanted: index.policy.liveWindow, targetDuration: index.targetDuration)
        let kept = index.liveWindowStart.flatMap { from in entries.firstIndex { $0.mediaSequence >= from } }
        return sliding(min(window.start(in: entries), kept ?? entries.endIndex)..<entries.endIndex)
    }

    /// nil when nothing of the range is in the ring.
    func rewind(_ range: RewindRange) -> MediaPlaylist? {
        switch range {
        case .whole: sliding(index.listed.indices)
        case .between(let start, let end): between(start, end)
        case .last(let milliseconds):
            sliding(window(milliseconds).start(in: index.listed)..<index.listed.endIndex)
        case .delayed(let milliseconds): delayed(milliseconds)
        }
    }

    /// Indices of the entries that hold any of the time from `start` up to `end`.
    func indices(from start: ProgramDateTime?, to end: ProgramDateTime?) -> Range<Int> {
        let entries = index.listed
        let first = start.flatMap { start in entries.firstIndex { $0.programDateTimeEnd > start } ?? entries.endIndex }
        let head = first ?? entries.startIndex
        let tail = end.flatMap { end in entries[head...].firstIndex { $0.programDateTime >= end } }
        return head..<(tail ?? entries.endIndex)
    }

    /// Whether no later segment can belong before `end`.
    private func isComplete(upTo end: ProgramDateTime) -> Bool {
        hasEnded || index.listed.contains { $0.programDateTimeEnd >= end }
    }

    private func between(_ start: ProgramDateTime?, _ end: ProgramDateTime?) -> MediaPlaylist? {
        let shown = indices(from: start, to: end)
        guard !shown.isEmpty else { return nil }
        guard var playlist = render(shown) else { return nil }
        if let end, isComplete(upTo: end), hasAllSubtitles(shown) {
            playlist.playlistType = .vod
            playlist.hasEndList = true
            return playlist
        }
        playlist.hasEndList = hasEnded && hasAllSubtitles(shown)
        if canOnlyGrow(from: start, to: end) { playlist.playlistType = .event }
        // A viewer who asks from when wants to begin there, not at the edge of what is still growing.
        if start != nil { playlist.start = StartOffset(timeOffset: .zero) }
        return playlist
    }

    /// EVENT promises that nothing is ever removed (RFC 8216 §4.3.3.5), so it is said only of a range that the
    /// policy keeps until it is complete. A range without an end slides one day, if only for want of a larger disk.
    /// Later versions come to the same answer.
    private func canOnlyGrow(from start: ProgramDateTime?, to end: ProgramDateTime?) -> Bool {
        guard let start, let end, let first = index.listed.first, start >= first.programDateTime else { return false }
        let span = end.millisecondsSince1970 - start.millisecondsSince1970
        return index.policy.retains(span: .milliseconds(span))
    }

    /// Never so far behind that the list would be too short once it has slid. When the channel has ended nobody has
    /// to stay behind: the rest follows at once.
    private func delayed(_ milliseconds: Int64) -> MediaPlaylist? {
        let entries = index.listed
        var end = entries.endIndex
        var behind: Int64 = 0
        while end > entries.startIndex, behind < PlaylistTicks.ticks(milliseconds: milliseconds) {
            end -= 1
            behind += entries[end].duration
        }
        // The first entry of an empty list is the only one that found no other before it.
        let hasSlid = entries.first.map { $0.listedFrom < $0.mediaSequence } ?? false
        if hasSlid {
            end = max(end, PlaylistWindow.shortest(targetDuration: index.targetDuration).prefixEnd(in: entries))
        }
        let window = PlaylistWindow(wanted: index.policy.liveWindow, targetDuration: index.targetDuration)
        return sliding(window.start(in: entries[..<end])..<(hasEnded ? entries.endIndex : end))
    }

    private func window(_ milliseconds: Int64) -> PlaylistWindow {
        PlaylistWindow(wanted: .milliseconds(milliseconds), targetDuration: index.targetDuration)
    }

    /// A list that may lose its head later: it has no EXT-X-PLAYLIST-TYPE (§6.2.1).
    private func sliding(_ shown: Range<Int>) -> MediaPlaylist? {
        guard !shown.isEmpty, var playlist = render(shown) else { return nil }
        playlist.hasEndList = hasEnded && hasAllSubtitles(shown)
        return playlist
    }

    /// Subtitles come later than the segments they belong to.
    private func hasAllSubtitles(_ shown: Range<Int>) -> Bool {
        guard let subtitles, let last = index.listed[shown].last else { return true }
        return subtitles.nextMediaSequence.map { $0 > last.mediaSequence } ?? false
    }

    /// nil when nothing of it has subtitles yet.
    private func render(_ shown: Range<Int>) -> MediaPlaylist? {
        var entries = index.listed[shown]
        if let subtitles { entries = entries[entries.indices(with: subtitles)] }
        guard !entries.isEmpty else { return nil }
        var playlist = MediaPlaylist(
            entries: entries, targetDuration: index.targetDuration, nextMediaSequence: index.nextMediaSequence,
            discontinuitySequence: index.discontinuitySequence)
        if let subtitles { playlist.segments = entries.compactMap { subtitles.mediaSegment(for: $0) } }
        playlist.dateRanges = dateRanges(openAt: entries.startIndex)
        return playlist
    }

    /// Ranges told of before the list begins that reach into it: they stand in its head.
    private func dateRanges(openAt start: Int) -> [DateRange] {
        guard start < index.listed.endIndex else { return [] }
        var open = index.openDateRanges
        for entry in index.listed[..<start] {
            for tag in entry.adMarkers.dateRanges { open.merge(tag) }
        }
        open.removeAll(endingBefore: index.listed[start].programDateTime)
        return open.ranges
    }
}

extension ArraySlice<RingEntry> {
    /// The part that has subtitles: both count the same numbers without a hole.
    fileprivate func indices(with subtitles: SubtitleRendition) -> Range<Int> {
        let has = { (entry: RingEntry) in subtitles.entry(for: entry.mediaSequence) != nil }
        let start = firstIndex(where: has) ?? endIndex
        return start..<(self[start...].firstIndex { !has($0) } ?? endIndex)
    }
}

extension MediaPlaylist {
    /// The head that all our lists have, and `entries` under it.
    /// - Parameters: the numbers are those to begin with when there are no entries.
    init(
        entries: ArraySlice<RingEntry>, targetDuration: Int, nextMediaSequence: UInt64, discontinuitySequence: UInt64
    ) {
        self.init(
            targetDuration: .seconds(targetDuration),
            mediaSequence: entries.first?.mediaSequence ?? nextMediaSequence,
            segments: entries.map(\.mediaSegment))
        // A DISCONTINUITY before the first segment is in that segment's number, but not in the list's (§6.2.1).
        self.discontinuitySequence =
            entries.first.map { $0.discontinuitySequence - ($0.isDiscontinuous ? 1 : 0) } ?? discontinuitySequence
        self.hasIndependentSegments = entries.allSatisfy(\.isIndependent)
    }
}
