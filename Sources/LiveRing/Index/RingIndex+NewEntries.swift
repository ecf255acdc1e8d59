/// The numbers and names that the next segment gets, and the way back from a name to its file.
extension RingIndex {
    /// - Parameter afterInterruption: something was lost between the newest entry and this one, so that a
    ///   DISCONTINUITY stands before it whatever its publisher says.
    func entry(for segment: NewSegment, afterInterruption: Bool) -> RingEntry {
        let isDiscontinuous = segment.isDiscontinuous || afterInterruption
        let name = SpoolName.segment(mediaSequence: nextMediaSequence, header: segment.header)
        return RingEntry(
            mediaSequence: nextMediaSequence,
            discontinuitySequence: discontinuitySequence + (isDiscontinuous ? 1 : 0),
            isDiscontinuous: isDiscontinuous, isIndependent: segment.isIndependent,
            initialization: SpoolFile(
                name: segment.initialization.name, byteCount: segment.initialization.bytes.count),
            segment: SpoolFile(name: name, byteCount: segment.byteCount),
            duration: segment.duration, programDateTime: segment.programDateTime, resumePoint: segment.resumePoint,
            format: segment.format, adMarkers: segment.adMarkers, isGap: false, listedFrom: firstMediaSequence)
    }

    /// What stands behind `newest` for time that is missing: nobody can fetch it (EXT-X-GAP,
    /// draft-pantos-hls-rfc8216bis §4.4.4.7).
    func gap(after newest: RingEntry, lasting duration: Int64, resumePoint: ResumePoint) -> RingEntry {
        var entry = newest
        entry.mediaSequence = nextMediaSequence
        (entry.isDiscontinuous, entry.isIndependent, entry.isGap) = (false, true, true)
        entry.segment = SpoolFile(name: SpoolName.segment(mediaSequence: nextMediaSequence, header: []), byteCount: 0)
        entry.subtitleBytes = 0
        entry.duration = duration
        entry.programDateTime = newest.programDateTimeEnd
        entry.resumePoint = resumePoint
        // Nobody saw what it stands for.
        entry.resumePoint.upstream = nil
        entry.adMarkers = SegmentAdMarkers()
        entry.listedFrom = firstMediaSequence
        return entry
    }

    /// Lists gaps up to `entry`, where a damaged journal tells nothing of what was there: as many as there are numbers,
    /// with as many discontinuities as were counted and, all together, as long as the channel's clock says.
    mutating func appendGaps(before entry: RingEntry) {
        guard let before = newest, entry.mediaSequence > nextMediaSequence else { return }
        let count = Int64(entry.mediaSequence - nextMediaSequence)
        let counted = before.discontinuitySequence + (entry.isDiscontinuous ? 1 : 0)
        let discontinuities = entry.discontinuitySequence - counted
        let length = entry.resumePoint.presentationEnd - entry.duration - before.resumePoint.presentationEnd
        let longest = Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        for _ in 0..<count {
            let newest = newest ?? before
            var mark = newest.resumePoint
            let duration = min(max(length / count, 1), longest)
            mark.presentationEnd += duration
            var gap = gap(after: newest, lasting: duration, resumePoint: mark)
            if gap.discontinuitySequence < before.discontinuitySequence + discontinuities {
                gap.isDiscontinuous = true
                gap.discontinuitySequence += 1
            }
            replay(gap)
        }
    }

    /// The segment of that name, listed or still fetchable (RFC 8216 §6.2.2).
    package func segmentFile(named name: String) -> SpoolFile? {
        guard let number = SpoolName.mediaSequence(ofSegment: name), let entry = entry(numbered: number) else {
            return nil
        }
        return entry.segment.name == name && !entry.isGap ? entry.segment : nil
    }

    /// The init section of that name, if any segment that can be fetched is read with it.
    package func initializationFile(named name: String) -> SpoolFile? { initializations[name]?.file }

    /// Whether the segment or init section of that name is of sound alone.
    package func isSoundAlone(_ name: String) -> Bool {
        if let initialization = initializations[name] { return initialization.isSoundAlone }
        return SpoolName.mediaSequence(ofSegment: name).flatMap(entry(numbered:))?.format.isSoundAlone ?? false
    }

    /// Everything that can be fetched, oldest first.
    var entries: [RingEntry] { retired.map(\.entry) + listed }

    var entryCount: Int { retired.count + listed.count }

    /// Media sequence number of the oldest entry that can be fetched, or of the next one.
    var oldestMediaSequence: UInt64 { retired.first?.entry.mediaSequence ?? firstMediaSequence }

    /// The newest entry that can be fetched.
    var newest: RingEntry? { listed.last ?? retired.last?.entry }

    /// Every file that has to be in the spool.
    var files: Set<String> {
        Set(entries.lazy.filter { !$0.isGap }.map(\.segment.name)).union(initializations.keys)
    }

    func entry(numbered number: UInt64) -> RingEntry? {
        if let first = listed.first?.mediaSequence, number >= first {
            return number < nextMediaSequence ? listed[listed.startIndex + Int(number - first)] : nil
        }
        guard let first = retired.first?.entry.mediaSequence, number >= first, number - first < retired.count else {
            return nil
        }
        return retired[retired.startIndex + Int(number - first)].entry
    }
}
