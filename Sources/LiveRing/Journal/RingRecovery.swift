import Playlist
import Support

/// The state of a ring as its spool directory describes it.
struct RingRecovery {
    let index: RingIndex
    /// The journal file and its checkpoint, if records can be appended to the file as it is.
    private(set) var journal: JournalFile?
    private(set) var checkpoint = CheckpointFile(upTo: nil)
    /// Whether the numbers continue those of an earlier process.
    let continuesEarlierRing: Bool
    private(set) var hasEnded = false
    /// The resume point of the newest listed segment, even if its file is lost.
    private(set) var resumePoint: ResumePoint?
    /// Whether a part of the journal cannot be read, or the spool contains segments but no journal.
    private(set) var isDamaged = false
    /// The number of segments after `resumePoint` that have files but no record in the damaged journal.
    private(set) var unrecordedSegments = 0
    /// The number of segments before `resumePoint` without a record. They are gaps.
    private(set) var lostRecords = 0

    /// - Parameters:
    ///   - journal: the journal read at `path`; nil if no part of it was written, or it cannot be read.
    ///   - files: the ring's files.
    ///   - targetDuration: seconds. A larger value in the journal takes precedence.
    ///   - firstMediaSequence: the first number of a ring without earlier segments.
    init(
        _ journal: RingJournal?, path: String, isUnreadable: Bool = false, files: SpoolFiles, policy: RetentionPolicy,
        targetDuration: Int, firstMediaSequence: UInt64
    ) throws(RingError) {
        let highest = files.highestMediaSequence
        guard let journal else {
            // No name or number that viewers saw is used again.
            index = RingIndex(
                policy: policy, targetDuration: targetDuration,
                nextMediaSequence: max(firstMediaSequence, highest.map { $0 + 1 } ?? 0))
            continuesEarlierRing = highest != nil
            isDamaged = isUnreadable || highest != nil
            return
        }
        let next = journal.entries.last.map { $0.mediaSequence + 1 } ?? journal.mediaSequence
        let unrecorded = try Self.unrecordedCount(upTo: highest, after: next, isDamaged: journal.isDamaged, path: path)
        isDamaged = journal.isDamaged || unrecorded > 0
        // Gaps need an entry before them. Without entries the playlist begins after the unrecorded segments.
        let skipped = journal.entries.isEmpty ? UInt64(unrecorded) : 0
        var (index, isUnchanged) = Self.index(
            of: journal, skipping: skipped, policy: policy,
            targetDuration: max(targetDuration, journal.targetDuration), files: files)
        index.dropLeadingGaps()
        self.index = index
        let isAppendable =
            !isDamaged && journal.incompleteBytes == 0 && !journal.hasEnded && !journal.entries.isEmpty
            && index.targetDuration == journal.targetDuration && index.declared.all == journal.declared
        self.journal = isAppendable ? JournalFile(continuing: journal, isOutdated: !isUnchanged) : nil
        checkpoint = CheckpointFile(upTo: journal.checkpointEnd)
        continuesEarlierRing = !journal.entries.isEmpty || index.nextMediaSequence > firstMediaSequence
        hasEnded = journal.hasEnded && !isDamaged
        resumePoint = journal.entries.last?.resumePoint
        unrecordedSegments = unrecorded - Int(skipped)
        lostRecords = journal.lostRecords
    }

    /// A ring that continues after `index`, which another object of this process published.
    init(continuing index: RingIndex, hasEnded: Bool) {
        self.index = index
        continuesEarlierRing = index.nextMediaSequence > 0
        self.hasEnded = hasEnded
        resumePoint = index.newest?.resumePoint
    }

    /// The index of `journal`. An entry whose files are not in `files` is a gap.
    ///
    /// The sizes of the newest files are compared, because a power loss cuts files short that were written just before it.
    /// - Parameter revives: whether a gap becomes a segment again if its files are back.
    /// - Returns: the index, and whether its entries equal the journal's.
    static func index(
        of journal: RingJournal, skipping skipped: UInt64 = 0, policy: RetentionPolicy, targetDuration: Int,
        files: SpoolFiles, revives: Bool = false
    ) -> (index: RingIndex, isUnchanged: Bool) {
        var index = RingIndex(
            policy: policy, targetDuration: targetDuration, nextMediaSequence: journal.mediaSequence + skipped,
            discontinuitySequence: journal.discontinuitySequence + skipped, openDateRanges: journal.openDateRanges,
            liveWindowStart: journal.liveWindowStart, declared: journal.declared)
        // The newest entry that differs from its record.
        var lastChange: UInt64?
        func settled(_ recorded: RingEntry, isRecent: Bool) -> RingEntry {
            let isGap = isGap(recorded, files, isRecent: isRecent, revives: revives)
            let audioFiles = recorded.audioFiles.map { $0.map { withGap($0, files, isRecent: isRecent) } }
            let videoFiles = recorded.videoFiles.map { $0.map { withGap($0, files, isRecent: isRecent) } }
            if isGap != recorded.isGap { lastChange = recorded.mediaSequence }
            let isChanged =
                isGap != recorded.isGap || audioFiles != recorded.audioFiles || videoFiles != recorded.videoFiles
            guard isChanged || recorded.subtitleBytes > 0 else { return recorded }
            var entry = recorded
            (entry.isGap, entry.audioFiles, entry.videoFiles) = (isGap, audioFiles, videoFiles)
            entry.subtitleBytes = 0
            return entry
        }
        var rest = journal.entries[...]
        for block in journal.entries.wholeBlocks {
            let first = block.mediaSequences
            guard first.count == EntryBlock.size, index.entries.isEmpty || first.lowerBound == index.nextMediaSequence
            else { break }
            let figures = block.figures
            let isUnchanged = figures.enumerated().allSatisfy { position, known in
                guard let known else { return settled(block[position], isRecent: false) == block[position] }
                return files.hasSegment(known.mediaSequence, fingerprint: block.fingerprint(at: position))
            }
            if isUnchanged {
                index.replay(block, figures)
            } else {
                let changed = EntryBlock((0..<EntryBlock.size).map { settled(block[$0], isRecent: false) })
                index.replay(changed, changed.figures)
            }
            rest = rest.dropFirst(EntryBlock.size)
        }
        index.finishReplayingBlocks()
        for recorded in rest {
            index.appendGaps(before: recorded)
            index.replay(settled(recorded, isRecent: true))
        }
        // Differences in evicted entries do not matter, because their files are gone anyway.
        return (index, lastChange.map { $0 < max(index.oldestMediaSequence, journal.mediaSequence) } ?? true)
    }

    /// The number of segment files without a record. If the journal is intact, two kinds do not count: the one file
    /// that a killed process may leave, which no viewer saw, and a file far ahead of the journal, which no ring wrote.
    private static func unrecordedCount(
        upTo highest: UInt64?, after next: UInt64, isDamaged: Bool, path: String
    ) throws(RingError) -> Int {
        guard let highest, highest >= next, isDamaged || highest > next else { return 0 }
        guard highest - next < RingJournal.maximumUnrecorded else {
            guard isDamaged else { return 0 }
            throw .damagedJournal(path: path, lost: highest - next + 1)
        }
        return Int(highest - next) + 1
    }

    /// Whether an entry is a gap. A listed file was complete; if the disk lost it, its number stays listed as a gap.
    private static func isGap(_ entry: RingEntry, _ files: SpoolFiles, isRecent: Bool, revives: Bool) -> Bool {
        // A gap without a file never had media.
        let mayRevive = revives && entry.segment.byteCount > 0
        if entry.isGap, !mayRevive { return true }
        return !files.isThere(entry.segment, isRecent: isRecent)
            || !files.isThere(entry.initialization, isRecent: isRecent)
            || entry.transportStream?.sidecars.allSatisfy { files.isThere($0, isRecent: isRecent) } == false
    }

    /// The files of a track beside the leading one. They are a gap if one of them is lost.
    private static func withGap(_ recorded: TrackFile, _ files: SpoolFiles, isRecent: Bool) -> TrackFile {
        var file = recorded
        file.isGap = ![file.segment, file.initialization].allSatisfy { files.isThere($0, isRecent: isRecent) }
        return file
    }
}
