import Playlist

/// What a spool directory says about the ring that was in it.
struct RingRecovery {
    let index: RingIndex
    /// Numbers go on behind an earlier run.
    let continuesEarlierRing: Bool
    let hasEnded: Bool
    /// How to go on behind the newest segment that was listed, also when that is gone.
    let resumePoint: ResumePoint?
    /// A part of the journal cannot be read, or there is none where there are segments.
    let isDamaged: Bool
    /// Behind `resume` so many segments were listed of which the journal tells nothing any more: their files say so.
    let unrecordedSegments: Int
    /// Before `resume`: they are gaps.
    let lostRecords: Int

    /// - Parameters:
    ///   - bytes: of the journal at `path`; nil when there is none.
    ///   - files: sizes of the ring's files by name.
    ///   - targetDuration: seconds; the one in the journal counts unless this is larger.
    ///   - firstMediaSequence: where a ring without a past begins.
    init(
        journal bytes: [UInt8]?, path: String, files: [String: Int], policy: RetentionPolicy, targetDuration: Int,
        firstMediaSequence: UInt64
    ) throws(RingError) {
        let found = try bytes.flatMap { bytes throws(RingError) in try RingJournal.read(bytes, path: path) }
        let highest = files.keys.compactMap { SpoolName.mediaSequence(ofSegment: $0) }.max()
        lostRecords = found?.lostRecords ?? 0
        guard let journal = found else {
            // A lost journal must not bring a name or a number back that viewers have seen.
            index = RingIndex(
                policy: policy, targetDuration: targetDuration,
                nextMediaSequence: max(firstMediaSequence, highest.map { $0 + 1 } ?? 0))
            (continuesEarlierRing, hasEnded, resumePoint, unrecordedSegments, isDamaged) = (
                highest != nil, false, nil, 0, highest != nil
            )
            return
        }
        let behind = journal.entries.last.map { $0.mediaSequence + 1 } ?? journal.mediaSequence
        let lost = try Self.unrecordedCount(upTo: highest, after: behind, isDamaged: journal.isDamaged, path: path)
        isDamaged = journal.isDamaged || lost > 0
        // Gaps stand behind something. Where nothing is left the list begins behind them.
        let skipped = journal.entries.isEmpty ? UInt64(lost) : 0
        var index = Self.index(
            of: journal, skipping: skipped, policy: policy, targetDuration: max(targetDuration, journal.targetDuration),
            files: files)
        index.dropLeadingGaps()
        self.index = index
        continuesEarlierRing = !journal.entries.isEmpty || index.nextMediaSequence > firstMediaSequence
        hasEnded = journal.hasEnded && !isDamaged
        resumePoint = journal.entries.last?.resumePoint
        unrecordedSegments = lost - Int(skipped)
    }

    /// What `journal` tells of. What is not among `files`, sizes by name, is a gap.
    /// - Parameter revives: what was lost and is there again is none any more.
    static func index(
        of journal: RingJournal, skipping skipped: UInt64 = 0, policy: RetentionPolicy, targetDuration: Int,
        files: [String: Int], revives: Bool = false
    ) -> RingIndex {
        var index = RingIndex(
            policy: policy, targetDuration: targetDuration, nextMediaSequence: journal.mediaSequence + skipped,
            discontinuitySequence: journal.discontinuitySequence + skipped, openDateRanges: journal.openDateRanges,
            liveFrom: journal.liveWindowStart)
        for entry in journal.entries {
            index.appendGaps(before: entry)
            index.replay(withGapState(entry, files, revives: revives))
        }
        return index
    }

    /// A process that is killed leaves one file at most that its journal does not tell of yet, and nobody has seen it.
    private static func unrecordedCount(
        upTo highest: UInt64?, after next: UInt64, isDamaged: Bool, path: String
    ) throws(RingError) -> Int {
        guard let highest, highest >= next, isDamaged || highest > next else { return 0 }
        guard highest - next < maximumUnrecorded else { throw .damagedJournal(path: path, lost: highest - next + 1) }
        return Int(highest - next) + 1
    }

    /// More gaps than a day of the shortest segments are no list that anybody wants.
    static let maximumUnrecorded: UInt64 = 86_400

    /// What was listed is whole; if the disk lost it all the same, the number stays and the media is a gap.
    private static func withGapState(_ entry: RingEntry, _ files: [String: Int], revives: Bool) -> RingEntry {
        var entry = entry
        let whole = [entry.segment, entry.initialization].allSatisfy { files[$0.name] == $0.byteCount }
        // Where nothing came nothing can come back.
        let mayRevive = revives && entry.segment.byteCount > 0
        entry.isGap = entry.isGap && !mayRevive || !whole
        entry.subtitleBytes = 0
        return entry
    }
}

/// What a process has to know of an earlier one's ring before it opens it.
package struct PreviousRing: Equatable, Sendable {
    /// The newest entry that showed something of the upstream, also when its file is gone. What stood in behind it is
    /// nothing that the upstream could go on behind.
    package let lastPublished: RingEntry
    /// Seconds, as viewers were told.
    package let targetDuration: Int
    /// Viewers were told that nothing follows.
    package let hasEnded: Bool

    /// - Returns: nil when the journal cannot be read, or nothing was ever shown.
    init?(journal bytes: [UInt8], path: String) {
        guard let journal = try? RingJournal.read(bytes, path: path) else { return nil }
        let entries = journal.entries
        guard let last = entries.last(where: { $0.resumePoint.upstream != nil }) ?? entries.last(where: { !$0.isGap })
        else {
            return nil
        }
        lastPublished = last
        targetDuration = journal.targetDuration
        hasEnded = journal.hasEnded
    }
}
