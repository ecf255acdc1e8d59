import Playlist
import Support

// The numbers of the next entry: its media sequence number and its discontinuity sequence number (RFC 8216 §6.2.1).

extension RingIndex {
    /// The entry of `segment` with the next numbers and its file names.
    /// - Parameter afterInterruption: whether media is missing between the newest entry and this one. If so, the entry is
    ///   discontinuous whatever its publisher says.
    func entry(for segment: NewSegment, afterInterruption: Bool) -> RingEntry {
        let isDiscontinuous = segment.isDiscontinuous || afterInterruption
        let name = SpoolName.segment(mediaSequence: nextMediaSequence, header: segment.header)
        var entry = RingEntry(
            mediaSequence: nextMediaSequence,
            discontinuitySequence: discontinuitySequence + (isDiscontinuous ? 1 : 0),
            isDiscontinuous: isDiscontinuous, isAfterInterruption: afterInterruption,
            isIndependent: segment.isIndependent,
            initialization: SpoolFile(
                name: segment.initialization.name, byteCount: segment.initialization.bytes.count),
            segment: SpoolFile(name: name, byteCount: segment.byteCount),
            duration: segment.duration, programDateTime: segment.programDateTime, resumePoint: segment.resumePoint,
            format: segment.format, adMarkers: segment.adMarkers,
            transportStream: segment.transportStream,
            audioFiles: segment.audioTracks.enumerated().map { index, track in
                track.map { file(for: $0, .audio, track: index) }
            },
            videoFiles: segment.videoTracks.enumerated().map { index, track in
                track.map { file(for: $0, .video, track: index) }
            }, leadingAudioBytes: segment.leadingAudioBytes,
            isGap: false, listedFrom: firstMediaSequence)
        entry.adBreak = adBreak(of: entry)
        if let found = foundBreak(before: entry) { entry.adMarkers.dateRanges.append(found) }
        return entry
    }

    /// Whether a new entry is in a break that is signalled by now.
    private func adBreak(of entry: RingEntry) -> AdBreakPoint {
        var ranges = currentDateRanges
        ranges.merge(dateRangesOf: CollectionOfOne(entry))
        let middle = PlaylistTicks.milliseconds(ticks: entry.duration / 2)
        let isInside = ranges.hasBreak(at: entry.programDateTime.advanced(byMilliseconds: middle))
        return (newest?.adBreak ?? AdBreakPoint())
            .followed(byInside: isInside, isDiscontinuous: entry.isDiscontinuous)
    }

    /// The break that ends at a new entry and that no marker signals. Published date ranges do not change later, so no
    /// break is guessed by its length here.
    private func foundBreak(before entry: RingEntry) -> DateRange? {
        guard let newest, !newest.isGap, !newest.adBreak.isInside, !entry.adBreak.isInside, entry.isDiscontinuous,
            newest.initialization.name != entry.initialization.name
        else { return nil }
        let found = AdBreakFinder(listed.suffix(Self.judgedEntries) + [entry], canGoOn: true).breaks.last
        guard let found, found.evidence == .spliced, let end = found.end, end > newest.programDateTime else {
            return nil
        }
        return DateRange(found: found.start, to: end, before: entry.mediaSequence)
    }

    /// The number of entries before the end of a break that are examined: an hour, if they last 7 s each.
    private static let judgedEntries = 512

    func file(
        for track: NewTrack, _ kind: SpoolName.TrackKind, track index: Int, mediaSequence: UInt64? = nil
    ) -> TrackFile {
        let initialization = SpoolFile(
            name: track.initialization.name, byteCount: track.initialization.bytes.count)
        let name = SpoolName.file(
            of: kind, track: index, mediaSequence: mediaSequence ?? nextMediaSequence, header: track.header)
        return TrackFile(
            initialization: initialization, segment: SpoolFile(name: name, byteCount: track.byteCount),
            format: track.format)
    }

    /// A gap entry after `newest` (EXT-X-GAP, draft-pantos-hls-rfc8216bis §4.4.4.7).
    func gap(after newest: RingEntry, lasting duration: Int64, resumePoint: ResumePoint) -> RingEntry {
        var entry = newest
        entry.mediaSequence = nextMediaSequence
        (entry.isDiscontinuous, entry.isAfterInterruption, entry.adBreak.isEdge) = (false, false, false)
        (entry.isIndependent, entry.isGap) = (true, true)
        entry.segment = SpoolFile(name: SpoolName.segment(mediaSequence: nextMediaSequence, header: []), byteCount: 0)
        entry.subtitleBytes = 0
        (entry.audioFiles, entry.videoFiles, entry.leadingAudioBytes) = ([], [], 0)
        entry.duration = duration
        entry.programDateTime = newest.programDateTimeEnd
        entry.resumePoint = resumePoint
        // A gap publishes no upstream media.
        entry.resumePoint.upstream = nil
        entry.adMarkers = SegmentAdMarkers()
        entry.transportStream?.isDiscontinuous = false
        entry.transportStream?.sidecars = []
        entry.transportStream?.extent = nil
        entry.listedFrom = firstMediaSequence
        return entry
    }

    func discontinuousGap(after newest: RingEntry, lasting duration: Int64, resumePoint: ResumePoint) -> RingEntry {
        var entry = gap(after: newest, lasting: duration, resumePoint: resumePoint)
        entry.isDiscontinuous = true
        entry.discontinuitySequence += 1
        return entry
    }

    /// Appends gaps for the segments between the newest entry and `entry` that a damaged journal does not record.
    ///
    /// Each missing number gets one gap. Together, the gaps have the discontinuities that `entry` counts, and the
    /// duration that the resume points of the channel state.
    mutating func appendGaps(before entry: RingEntry) {
        guard let last = newest, entry.mediaSequence > nextMediaSequence else { return }
        let count = Int64(entry.mediaSequence - nextMediaSequence)
        let discontinuityEnd = entry.discontinuitySequence - (entry.isDiscontinuous ? 1 : 0)
        let missingTicks = entry.resumePoint.presentationEnd - entry.duration - last.resumePoint.presentationEnd
        let longest = Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        let duration = min(max(missingTicks / count, 1), longest)
        for _ in 0..<count {
            let newest = newest ?? last
            var resumePoint = newest.resumePoint
            resumePoint.presentationEnd += duration
            replay(
                newest.discontinuitySequence < discontinuityEnd
                    ? discontinuousGap(after: newest, lasting: duration, resumePoint: resumePoint)
                    : gap(after: newest, lasting: duration, resumePoint: resumePoint))
        }
    }
}
