/// A recovered ring whose spool was cleaned up.
struct RingOpening: ~Copyable {
    let spool: SpoolDirectory
    let recovery: RingRecovery
    private(set) var index: RingIndex
    private(set) var journal = JournalFile(SpoolName.journal)
    private(set) var checkpoint: CheckpointFile
    private(set) var subtitles: SubtitleStore
    private(set) var housekeepingError: RingError?

    init(
        _ spool: consuming SpoolDirectory, recovery: RingRecovery, subtitles selection: SubtitleSelection,
        files: SpoolFiles
    ) throws(RingError) {
        index = recovery.index
        checkpoint = CheckpointFile(upTo: nil)
        subtitles = SubtitleStore(selection, index: &index, in: spool, files: files)
        housekeepingError = subtitles.recoveryError
        self.recovery = recovery
        if recovery.isDamaged { spool.link(SpoolName.journal, as: SpoolName.damagedJournal) }
        self.spool = spool
        // The files of unrecorded segments stay until the segments are listed as gaps.
        if recovery.unrecordedSegments == 0 { try cleanUp(files) }
    }

    /// Continues `ring`, which is closed, with other parameters.
    init(
        _ spool: consuming SpoolDirectory, continuing ring: isolated DVRRing, policy: RetentionPolicy,
        targetDuration: Int, subtitles selection: SubtitleSelection
    ) throws(RingError) {
        index = ring.index
        index.setParameters(policy: policy, targetDuration: targetDuration)
        let (store, unneeded) = SubtitleStore.continuing(ring.subtitles, with: selection, index: &index)
        (subtitles, journal, housekeepingError) = (store, ring.journal, ring.housekeepingError)
        checkpoint = ring.checkpoint
        recovery = RingRecovery(continuing: index, hasEnded: ring.hasEnded)
        self.spool = spool
        if index.targetDuration != ring.index.targetDuration { journal.invalidate() }
        try writeStaleJournals(removing: unneeded)
    }

    private mutating func writeStaleJournals(removing unneeded: [String]) throws(RingError) {
        for name in unneeded { try spool.remove(name) }
        do throws(RingError) {
            try subtitles.writeNewJournals(index: index, in: spool)
            guard journal.isStale else { return }
            try writeJournal()
        } catch {
            guard error.isDiskFull else { throw error }
            housekeepingError = error
        }
    }

    private mutating func writeJournal() throws(RingError) {
        try journal.rewrite(RingJournal(index, hasEnded: recovery.hasEnded), in: spool, checkpoint: &checkpoint)
    }

    /// Removes files that do not belong to the ring, and rewrites the journals.
    ///
    /// If the disk is full, the ring opens with the existing files, and the next publish writes the journals.
    private mutating func cleanUp(_ files: SpoolFiles) throws(RingError) {
        for name in subtitles.unneeded(files, index) { try spool.remove(name) }
        do throws(RingError) {
            try subtitles.rewriteJournals(index: index, in: spool)
            // Writing the journal of a rewind of days takes seconds.
            if let current = recovery.journal {
                journal = current
                checkpoint = recovery.checkpoint
            } else {
                try writeJournal()
            }
        } catch {
            guard error.isDiskFull else { throw error }
            housekeepingError = error
        }
    }
}
