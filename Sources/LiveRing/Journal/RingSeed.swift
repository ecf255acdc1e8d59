import Playlist
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

    /// Writes the journal of a ring whose next segment has the number `next`.
    /// - Returns: false if the text is not that of a seed.
    package static func write(_ text: String, next: UInt64, to directory: String) throws(RingError) -> Bool {
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
        var journal = RingJournal(
            targetDuration: targetDuration, mediaSequence: entries[0].mediaSequence,
            discontinuitySequence: entries[0].discontinuitySequence - (entries[0].isDiscontinuous ? 1 : 0),
            openDateRanges: [], declared: [], entries: RingEntries(), hasEnded: false,
            declaresIndependentSegments: entries.allSatisfy(\.isIndependent))
        for entry in entries { journal.entries.append(entry) }
        let spool = try SpoolDirectory(directory)
        try spool.write(SpoolName.journal, [Array(journal.text.utf8)[...]])
        return true
    }
}
