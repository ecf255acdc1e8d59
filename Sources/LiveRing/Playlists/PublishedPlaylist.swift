import Playlist
import Support

/// The content of the media playlists that viewers get. `PlaylistWriter` writes their text.
struct PublishedPlaylist {
    let index: RingIndex
    /// Whether the playlist ends with EXT-X-ENDLIST.
    let hasEnded: Bool
    var content = PlaylistContent.fragmentedMP4
    /// The subtitles of `content`; nil lists the segments.
    var subtitles: SubtitleRendition?
    var form = PlaylistForm.unannounced
    var ads = AdView.keep

    /// The live window; nil before the first segment.
    var live: MediaPlaylist? {
        sliding(index.liveWindow.start..<index.listed.endIndex)
    }

    /// The playlist of `range`; nil if the ring has no segment in it.
    func rewind(_ range: RewindRange) -> MediaPlaylist? {
        switch range {
        case .whole:
            sliding((index.rewindWindow?.start(in: index.listed) ?? index.listed.startIndex)..<index.listed.endIndex)
        case .between(let start, let end): selection(from: start, to: end).flatMap(playlist)
        case .last(let milliseconds):
            sliding(index.window(.milliseconds(milliseconds)).start(in: index.listed)..<index.listed.endIndex)
        case .delayed(let milliseconds): delayed(milliseconds)
        }
    }

    /// The entries that overlap the time from `start` up to `end`; nil if there are none.
    func selection(from start: ProgramDateTime?, to end: ProgramDateTime?) -> RewindSelection? {
        let range = index.indices(from: start, to: end)
        guard !range.isEmpty else { return nil }
        return RewindSelection(
            indices: range, isComplete: end.map { hasEnded || index.reaches($0) } ?? false,
            isClosed: end.map { index.reaches($0.advanced(byMilliseconds: closingTime)) } ?? false,
            canOnlyGrow: canOnlyGrow(from: start, to: end), hasStart: start != nil, hasEnd: end != nil)
    }

    /// The playlist of a selection; nil if none of it is listed.
    ///
    /// When a growing range reaches its end, EXT-X-ENDLIST is added, and nothing else changes (RFC 8216 §6.2.1).
    func playlist(of selection: RewindSelection) -> MediaPlaylist? {
        let range = selection.indices
        guard var playlist = render(range, form: selection.hasEnd ? .unannounced : form) else { return nil }
        playlist.hasEndList = (hasEnded || selection.isComplete) && hasAllSubtitles(range)
        if selection.isClosed, playlist.hasEndList {
            playlist.playlistType = .vod
            return playlist
        }
        if selection.canOnlyGrow { playlist.playlistType = .event }
        if selection.hasStart { playlist.startsAtBeginning = true }
        return playlist
    }

    /// The time for which a viewer who saw a range grow may still load its playlist after the range is complete: a live
    /// window, in milliseconds of media. Players reload a growing playlist within one and a half target durations.
    private var closingTime: Int64 {
        PlaylistTicks.milliseconds(ticks: index.window(index.policy.liveWindow).ticks)
    }

    /// Whether the policy keeps the range until it is closed.
    ///
    /// EVENT promises that no segment is removed (RFC 8216 §4.3.3.5). A range without an end slides eventually, because
    /// the disk is limited. Later versions of the playlist get the same answer.
    private func canOnlyGrow(from start: ProgramDateTime?, to end: ProgramDateTime?) -> Bool {
        guard let start, let end, let first = index.listed.first, start >= first.programDateTime else { return false }
        let span = end.advanced(byMilliseconds: closingTime).milliseconds(since: start)
        return index.policy.retains(span: .milliseconds(span))
    }

    /// The live window as it was `milliseconds` ago.
    ///
    /// The delay is limited so that the playlist is long enough once it has slid. If the channel has ended, the playlist
    /// lists all remaining segments.
    private func delayed(_ milliseconds: Int64) -> MediaPlaylist? {
        let entries = index.listed
        var end = entries.endIndex
        var delay: Int64 = 0
        while end > entries.startIndex, delay < PlaylistTicks.ticks(milliseconds: milliseconds) {
            end -= 1
            delay += entries[end].duration
        }
        // The very first entry of a playlist is the only one that was listed from its own number.
        let hasSlid = entries.first.map { $0.listedFrom < $0.mediaSequence } ?? false
        if hasSlid {
            end = max(end, index.window(.zero).prefixEnd(in: entries))
        }
        let window = index.window(index.policy.liveWindow)
        // The playlist does not end with the newest segment, which is the only one that players can wait for.
        return sliding(window.start(in: entries[..<end])..<(hasEnded ? entries.endIndex : end), form: .unannounced)
    }

    /// A playlist that may lose its first segments later, so it has no EXT-X-PLAYLIST-TYPE (§6.2.1).
    private func sliding(_ range: Range<Int>, form: PlaylistForm? = nil) -> MediaPlaylist? {
        guard !range.isEmpty, var playlist = render(range, form: form ?? self.form) else { return nil }
        playlist.hasEndList = hasEnded && hasAllSubtitles(range)
        return playlist
    }

    /// Whether the subtitles of the range have arrived. Subtitles come later than their segments.
    private func hasAllSubtitles(_ range: Range<Int>) -> Bool {
        guard let subtitles, let last = index.listed[range].last else { return true }
        return subtitles.nextMediaSequence.map { $0 > last.mediaSequence } ?? false
    }

    /// The playlist of the listed entries in `range`; nil if none of them has subtitles yet.
    private func render(_ range: Range<Int>, form: PlaylistForm) -> MediaPlaylist? {
        let start = form == .delta ? firstUnskipped(of: range) : range.lowerBound
        guard var playlist = render(start..<range.upperBound) else { return nil }
        if form != .unannounced {
            playlist.canBlockReload = true
            playlist.canSkipUntil = Int(skipBoundary / PlaylistTicks.ticksPerSecond)
            playlist.separateInitSections()
        }
        guard start > range.lowerBound else { return playlist }
        let first = ads.mediaSegment(of: index.listed[range.lowerBound], in: content)
        playlist.skippedSegments = start - range.lowerBound
        playlist.discontinuitySequence = first.discontinuitySequence - (first.isDiscontinuous ? 1 : 0)
        playlist.hasIndependentSegments = index.hasIndependentSegments(in: range)
        // Only segments and their tags are skipped.
        playlist.dateRanges = dateRanges(openAt: range.lowerBound)
        for skipped in index.indicesWithDateRanges where range.lowerBound..<start ~= skipped {
            playlist.dateRanges += ads.entry(for: index.listed[skipped]).adMarkers.dateRanges
        }
        return playlist
    }

    /// The time before the end of a playlist in which no segment is skipped, in 90 kHz ticks.
    private var skipBoundary: Int64 {
        RetentionPolicy.skippableTargetDurations * Int64(index.targetDuration) * PlaylistTicks.ticksPerSecond
    }

    /// The index of the first entry that a delta update lists.
    private func firstUnskipped(of range: Range<Int>) -> Int {
        // Subtitles come later than their segments, so no segment is skipped in their playlists.
        guard subtitles == nil, index.listed[range.lowerBound].isListed(in: content) else { return range.lowerBound }
        var (start, ticks) = (range.upperBound, Int64(0))
        while start > range.lowerBound, ticks < skipBoundary {
            start -= 1
            ticks += index.listed[start].duration
        }
        return start
    }

    /// The playlist of the listed entries in `range`, as in a file.
    private func render(_ range: Range<Int>) -> MediaPlaylist? {
        var entries = index.listed[range]
        if let subtitles { entries = entries[entries.indices(with: subtitles)] }
        // A variant is listed from its first media on. The oldest entries in the spool of an earlier version have no
        // transport stream.
        entries = entries.drop { !$0.isListed(in: content) }
        guard !entries.isEmpty else { return nil }
        var playlist = MediaPlaylist(
            entries: entries, targetDuration: index.targetDuration, nextMediaSequence: index.nextMediaSequence,
            discontinuitySequence: index.discontinuitySequence
        ) { ads.mediaSegment(of: $0, in: content) }
        playlist.hasIFramesOnly = content == .iFrames
        if let subtitles { playlist.segments = entries.compactMap { subtitles.mediaSegment(for: ads.entry(for: $0)) } }
        playlist.dateRanges = dateRanges(openAt: entries.startIndex)
        return playlist
    }

    /// The date ranges of earlier segments that reach into a playlist from `start`. They are in its head.
    private func dateRanges(openAt start: Int) -> [DateRange] {
        guard start < index.listed.endIndex else { return [] }
        var open = index.openDateRanges
        if start == index.liveWindow.start {
            for range in index.liveWindow.passedDateRanges.ranges { open.merge(range) }
        } else {
            for earlier in index.indicesWithDateRanges.prefix(while: { $0 < start }) {
                open.merge(dateRangesOf: CollectionOfOne(index.listed[earlier]))
            }
        }
        open.removeAll(endingBefore: index.listed[start].programDateTime)
        return open.ranges.filter { !ads.hides($0) }
    }
}

extension MediaPlaylist {
    /// Gives the init section of each period a URI of its own, with the period's discontinuity sequence number.
    ///
    /// A player that merges a delta update may mistake two EXT-X-MAP with the same URI for the same one. hls.js 1.6
    /// then loses the init section of an earlier period whose segment is loading, and drops the segment.
    fileprivate mutating func separateInitSections() {
        var latest: (map: MediaInitialization, period: UInt64, separate: MediaInitialization)?
        for index in segments.indices {
            guard let map = segments[index].map else { continue }
            let period = segments[index].discontinuitySequence
            if let latest, latest.period == period, latest.map == map {
                segments[index].map = latest.separate
                continue
            }
            var separate = map
            separate.uri += "?period=\(period)"
            segments[index].map = separate
            latest = (map, period, separate)
        }
    }
}

extension RingEntry {
    /// Whether a playlist of `content` may begin with the segment.
    fileprivate func isListed(in content: PlaylistContent) -> Bool {
        switch content {
        case .transportStream: transportStream != nil
        case .video(let number) where number > 0: hasMedia(ofVideo: number)
        default: true
        }
    }
}

extension RingIndex {
    /// Whether all of these listed entries can be decoded without another.
    fileprivate func hasIndependentSegments(in range: Range<Int>) -> Bool {
        variantSums.dependentSegments == 0 || listed[range].allSatisfy(\.isIndependent)
    }
}

extension RingEntries {
    /// The indices of the entries with subtitles, which are consecutive.
    fileprivate func indices(with subtitles: SubtitleRendition) -> Range<Int> {
        let has = { (entry: RingEntry) in subtitles.entry(for: entry.mediaSequence) != nil }
        let start = firstIndex(where: has) ?? endIndex
        return start..<(self[start...].firstIndex { !has($0) } ?? endIndex)
    }
}

/// The listed entries that a range from one date to another names. Ranges with other dates in the same segments select the
/// same.
package struct RewindSelection: Hashable, Sendable {
    /// The indices of the entries among the listed ones. Not empty.
    let indices: Range<Int>
    /// Whether no later segment can begin before the end of the range.
    let isComplete: Bool
    /// Whether the range has been complete for so long that no viewer who saw it grow still loads its playlist.
    let isClosed: Bool
    /// Whether no segment leaves the playlist until it is closed.
    let canOnlyGrow: Bool
    /// Whether the viewer asked for a start. Players then begin there and not at the live edge.
    let hasStart: Bool
    let hasEnd: Bool
}
