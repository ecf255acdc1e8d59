// Work on the spool beside a publish. Its errors do not prevent a segment from being published.

extension DVRRing {
    /// Drops the rewind because the disk is full.
    func dropRewind() {
        var next = index
        let unneeded = next.dropRewind() + subtitles.evict(index: next)
        guard !unneeded.isEmpty else { return }
        // The journal is written before the change is visible, because the playlists of the next process must not begin
        // earlier again. The journal may use the free reserve, so there is usually room for it.
        performHousekeeping { () throws(RingError) in try rewriteJournal(next) }
        index = next
        rewindDrops += 1
        publishSnapshot()
        removeUnneeded(unneeded)
    }

    /// Step 4 of a publish: removes evicted files and compacts the journals.
    func removeUnneeded(_ files: [SpoolFile]) {
        performHousekeeping { () throws(RingError) in
            for file in files { try spool.remove(file.name) }
            try subtitles.compactJournals(index: index, in: spool)
            let isWrong = journal.declaresIndependentSegments && index.dependentEntries > 0
            if isWrong || journal.needsCompaction(entryCount: index.entryCount) { try rewriteJournal(index) }
        }
    }

    /// Runs `body` and records its error, or that there was none.
    func performHousekeeping(_ body: () throws(RingError) -> Void) {
        do throws(RingError) {
            try body()
            housekeepingError = nil
        } catch {
            housekeepingError = error
        }
    }

    func rewriteJournal(_ index: RingIndex, hasEnded: Bool? = nil) throws(RingError) {
        try journal.rewrite(RingJournal(index, hasEnded: hasEnded ?? self.hasEnded), in: spool)
    }

    /// Makes sure, before a write, that no other process writes into the directory.
    ///
    /// If the directory was removed or replaced, the files that are missing in the new directory become gaps.
    /// - Returns: whether the directory is another one than before.
    @discardableResult
    func reacquireSpool() throws(RingError) -> Bool {
        guard let files = try spool.reacquireLock() else { return false }
        journal.invalidate()
        index = RingRecovery.index(
            of: RingJournal(index, hasEnded: hasEnded), policy: index.policy, targetDuration: targetDuration,
            files: files, revives: true)
        subtitles.updateGaps(from: files, index: &index)
        spoolReplacements += 1
        publishSnapshot()
        return true
    }
}
