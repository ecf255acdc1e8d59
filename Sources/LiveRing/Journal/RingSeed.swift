package import Playlist
package import Support

/// The newest entries of a ring, with which a ring in another directory continues it.
package struct RingSeed: Equatable, Sendable {
    /// Media sequence number of the newest entry.
    package let number: UInt64
    package let discontinuitySequence: UInt64
    /// The end of the newest entry.
    package let end: ProgramDateTime
    /// Bits per second of the newest entry.
    package let bitRate: Int
    /// Whether the newest entry is in an ad break.
    package let isInBreak: Bool
    /// The target duration in a line, and records of a journal.
    package let text: String

    /// - Parameters:
    ///   - newest: the newest entry.
    ///   - upstream: the newest entry before it with media of an upstream, which says where the upstream continues; nil
    ///     if `newest` says so, or none does.
    init(_ newest: RingEntry, after upstream: RingEntry?, targetDuration: Int) {
        (number, discontinuitySequence) = (newest.mediaSequence, newest.discontinuitySequence)
        end = newest.programDateTimeEnd
        bitRate = newest.isGap ? 0 : Int(Int64(newest.segment.byteCount) * 8 * 90_000 / max(1, newest.duration))
        isInBreak = newest.adBreak.isInside
        let entries = newest.resumePoint.upstream == nil ? [upstream, newest].compactMap { $0 } : [newest]
        text = "\(targetDuration)\n" + entries.map(Self.record).joined()
    }

    private static func record(_ entry: RingEntry) -> String {
        var entry = entry
        // The ring that continues lists none of the files.
        (entry.isGap, entry.audioFiles, entry.videoFiles, entry.adMarkers) = (true, [], [], SegmentAdMarkers())
        return RingJournal.record(entry)
    }

    /// Writes a file of a segment that the ring lists.
    package static func write(
        file name: String, _ bytes: ArraySlice<UInt8>, to directory: String
    ) throws(RingError) {
        guard SpoolName.isRingFile(name) else { return }
        try SpoolDirectory(directory).write(name, [bytes])
    }

    /// Writes the journal of a ring whose next segment has the number `next`.
    /// - Parameters:
    ///   - window: segments before `next`, which the ring lists, with their own numbers. A segment without its files is
    ///     listed as a gap.
    ///   - declared: the declared renditions of the window.
    /// - Returns: false if the text is not that of a seed.
    package static func write(
        _ text: String, next: UInt64, after window: [RingEntry] = [], declared: [Rendition] = [], to directory: String
    ) throws(RingError) -> Bool {
        let parts = text.split(separator: "\n", maxSplits: 1)
        guard parts.count == 2, let targetDuration = Int(parts[0]),
            var entries = RingJournal.entries(ofRecords: Array(parts[1].utf8)[...]), !entries.isEmpty,
            next >= UInt64(entries.count)
        else { return false }
        for index in entries.indices {
            let number = next - UInt64(entries.count - index)
            entries[index].mediaSequence = number
            // The journal has the number in the name.
            if let (_, fingerprint) = SpoolName.numberAndFingerprint(ofSegment: entries[index].segment.name.utf8) {
                let name = SpoolName.segment(mediaSequence: number, fingerprint: fingerprint)
                entries[index].segment = SpoolFile(name: name, byteCount: entries[index].segment.byteCount)
            }
            entries[index].listedFrom = entries[0].mediaSequence
            if index > 0 {
                entries[index].discontinuitySequence = max(
                    entries[index].discontinuitySequence, entries[index - 1].discontinuitySequence)
            }
        }
        let window = Self.window(window, before: entries[entries.count - 1])
        if !window.isEmpty { entries = window }
        var journal = RingJournal(
            targetDuration: targetDuration, mediaSequence: entries[0].mediaSequence,
            discontinuitySequence: entries[0].discontinuitySequence - (entries[0].isDiscontinuous ? 1 : 0),
            openDateRanges: [], declared: window.isEmpty ? [] : declared, entries: RingEntries(), hasEnded: false,
            declaresIndependentSegments: entries.allSatisfy(\.isIndependent))
        // Between the window and the newest entry, no number is missing.
        var index = RingIndex(
            policy: RetentionPolicy(rewind: nil), targetDuration: targetDuration,
            nextMediaSequence: journal.mediaSequence, discontinuitySequence: journal.discontinuitySequence)
        for entry in entries {
            index.appendGaps(before: entry)
            index.replay(entry)
        }
        journal.entries = index.entries
        let spool = try SpoolDirectory(directory)
        try spool.write(SpoolName.journal, [Array(journal.text.utf8)[...]])
        return true
    }

    /// The window and the newest entry; empty if they do not fit together, or do not say where the upstream continues.
    private static func window(_ window: [RingEntry], before newest: RingEntry) -> [RingEntry] {
        let earlier = window.filter { $0.mediaSequence <= newest.mediaSequence }
        guard let last = earlier.last, last.discontinuitySequence <= newest.discontinuitySequence,
            last.programDateTimeEnd <= newest.programDateTimeEnd,
            newest.resumePoint.upstream != nil || earlier.contains(where: { $0.resumePoint.upstream != nil })
        else { return [] }
        if last.mediaSequence == newest.mediaSequence { return earlier }
        var newest = newest
        newest.listedFrom = max(last.listedFrom, earlier[0].mediaSequence)
        return earlier + [newest]
    }
}
