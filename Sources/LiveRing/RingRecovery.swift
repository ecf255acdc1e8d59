/// What a spool directory says about the ring that was in it.
struct RingRecovery {
    let index: RingIndex
    /// Numbers go on behind an earlier run.
    let continues: Bool
    let hasEnded: Bool
    /// How to go on behind the newest segment that was listed, also when that is gone.
    let resume: ContinuationMark?

    /// - Parameters:
    ///   - bytes: of the journal at `path`; nil when there is none.
    ///   - files: sizes of the ring's files by name.
    ///   - targetDuration: seconds; the one in the journal counts unless this is larger.
    ///   - firstMediaSequence: where a ring without a past begins.
    init(
        journal bytes: [UInt8]?, path: String, files: [String: Int], policy: RetentionPolicy, targetDuration: Int,
        firstMediaSequence: UInt64
    ) throws(RingError) {
        let journal = try bytes.flatMap { bytes throws(RingError) in try Journal.read(bytes, path: path) }
        guard let journal else {
            // A lost journal must not bring a name or a number back that viewers have seen.
            let highest = files.keys.compactMap { SpoolName.mediaSequence(ofSegment: $0) }.max()
            index = RingIndex(
                policy: policy, targetDuration: targetDuration,
                nextMediaSequence: max(firstMediaSequence, highest.map { $0 + 1 } ?? 0))
            (continues, hasEnded, resume) = (highest != nil, false, nil)
            return
        }
        var index = RingIndex(
            policy: policy, targetDuration: max(targetDuration, journal.targetDuration),
            nextMediaSequence: journal.mediaSequence, discontinuitySequence: journal.discontinuitySequence,
            openDateRanges: journal.openDateRanges)
        for entry in journal.entries { index.replay(Self.checked(entry, files)) }
        index.dropLeadingGaps()
        self.index = index
        continues = !journal.entries.isEmpty || journal.mediaSequence > firstMediaSequence
        hasEnded = journal.hasEnded
        resume = journal.entries.last?.mark
    }

    /// What was listed is whole; if the disk lost it all the same, the number stays and the media is a gap.
    private static func checked(_ entry: RingEntry, _ files: [String: Int]) -> RingEntry {
        var entry = entry
        let whole = [entry.segment, entry.initialization].allSatisfy { files[$0.name] == $0.byteCount }
        entry.isGap = entry.isGap || !whole
        return entry
    }
}
