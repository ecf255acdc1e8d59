import Playlist
package import Support

/// Entries and files by number and by name.
extension RingIndex {
    /// The file of the segment called `name` if it is listed or can still be fetched (RFC 8216 §6.2.2).
    package func segmentFile(named name: String) -> SpoolFile? {
        guard let number = SpoolName.mediaSequence(ofSegment: name), let entry = entry(numbered: number) else {
            return nil
        }
        return entry.segment.name == name && !entry.isGap ? entry.segment : nil
    }

    /// The file of a track beside the leading one called `name` if its segment is listed or can still be fetched.
    package func trackFile(named name: String) -> SpoolFile? {
        guard let (_, _, number) = SpoolName.trackFile(named: name) else { return nil }
        return entry(numbered: number)?.playableTracks.first { $0.segment.name == name }?.segment
    }

    /// The entry whose segment is called `name` as a transport stream, if it is listed or can still be fetched.
    package func entry(ofTransportStream name: String) -> RingEntry? {
        guard let segment = SpoolName.segment(ofTransportStream: name),
            let number = SpoolName.mediaSequence(ofSegment: segment), let entry = entry(numbered: number)
        else { return nil }
        return entry.segment.name == segment && !entry.isGap && entry.transportStream != nil ? entry : nil
    }

    /// The file of the init section called `name` if a segment that can be fetched uses it.
    package func initializationFile(named name: String) -> SpoolFile? { initializations[name]?.file }

    /// Whether the segment or init section called `name` has audio and no video.
    package func isAudioOnly(_ name: String) -> Bool {
        if let initialization = initializations[name] { return initialization.isAudioOnly }
        guard let number = SpoolName.mediaSequence(ofSegment: name) else { return false }
        return entry(numbered: number)?.format.isAudioOnly ?? false
    }

    /// The media sequence number of the oldest entry that can be fetched, or of the next entry.
    package var oldestMediaSequence: UInt64 { entries.isEmpty ? nextMediaSequence : number(at: entries.startIndex) }

    /// The newest entry that can be fetched.
    package var newest: RingEntry? { entries.last }

    /// The names of the files, besides those of one segment, that have to be in the spool.
    var sharedFiles: Set<String> { Set(initializations.keys).union(sidecars.keys.map(\.name)) }

    /// The entry with a media sequence number, if it is listed or can still be fetched.
    package func entry(numbered number: UInt64) -> RingEntry? {
        index(ofNumber: number).map { entries[$0] }
    }

    package func listed(from number: UInt64) -> RingEntries {
        guard number > firstMediaSequence else { return listed }
        return entries[(index(ofNumber: number) ?? entries.endIndex)...]
    }

    func index(ofNumber number: UInt64) -> Int? {
        let first = oldestMediaSequence
        guard number >= first, number < nextMediaSequence else { return nil }
        return entries.startIndex + Int(number - first)
    }

    /// The longest segment that may be published, in 90 kHz ticks. Its EXTINF rounds to TARGETDURATION at most
    /// (RFC 8216 §4.3.3.1).
    package var maximumSegmentDuration: Int64 {
        Int64(targetDuration) * PlaylistTicks.ticksPerSecond + PlaylistTicks.ticksPerSecond / 2 - 1
    }
}

// MARK: - Dates

// Dates rise from entry to entry, except where the upstream's dates went back.

extension RingIndex {
    /// The index of the listed entry that is presented at `date`, or else of the next entry by date; nil if all entries
    /// end before `date`.
    ///
    /// Where the dates went back, a moment exists twice; the later entry counts.
    package func firstIndex(at date: ProgramDateTime) -> Int? {
        var next: Int?
        for span in spansOfRisingDates(from: listed.startIndex).reversed() {
            let index = span.partitioningIndex { listed[$0].programDateTimeEnd > date }
            guard index < span.upperBound else { continue }
            if listed[index].programDateTime <= date { return index }
            if next.map({ listed[index].programDateTime < listed[$0].programDateTime }) ?? true { next = index }
        }
        return next
    }

    /// The index of the first listed entry from `start` on that begins at `date` or later; nil if none does.
    func firstIndex(from start: Int, beginningAtOrAfter date: ProgramDateTime) -> Int? {
        for span in spansOfRisingDates(from: start) {
            let index = span.partitioningIndex { listed[$0].programDateTime >= date }
            if index < span.upperBound { return index }
        }
        return nil
    }

    /// The indices of the listed entries that overlap the time from `start` up to `end`.
    ///
    /// A range with a start begins with media where it has any: a playlist that begins in an outage begins after it.
    func indices(from start: ProgramDateTime?, to end: ProgramDateTime?) -> Range<Int> {
        let head = start.map { firstIndex(at: $0) ?? listed.endIndex } ?? listed.startIndex
        let tail = end.flatMap { firstIndex(from: head, beginningAtOrAfter: $0) } ?? listed.endIndex
        guard start != nil else { return head..<tail }
        return (listed[head..<tail].firstIndex { !$0.isGap } ?? head)..<tail
    }

    /// Whether a listed entry ends at `date` or later.
    func reaches(_ date: ProgramDateTime) -> Bool {
        spansOfRisingDates(from: listed.startIndex).contains { listed[$0.upperBound - 1].programDateTimeEnd >= date }
    }

    /// Whether the dates of `entry` are before those of `previous`, the entry before it.
    static func isRegression(_ entry: EntryFigures, after previous: EntryFigures?) -> Bool {
        guard let previous else { return false }
        return entry.programDateTime < previous.programDateTime
            || entry.programDateTimeEnd < previous.programDateTimeEnd
    }

    private func spansOfRisingDates(from start: Int) -> [Range<Int>] {
        let boundaries = indicesOfDateRegressions.filter { $0 > start && $0 < listed.endIndex }
        return zip([start] + boundaries, boundaries + [listed.endIndex]).map { $0..<$1 }.filter { !$0.isEmpty }
    }
}
