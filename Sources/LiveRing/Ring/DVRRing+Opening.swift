package import Playlist

extension DVRRing {
    /// Opens the ring in `directory`, recovers its content and removes files that do not belong to it.
    /// - Parameters:
    ///   - directory: the spool directory, which is created if it does not exist.
    ///   - targetDuration: seconds, at least that of the upstream.
    ///   - firstMediaSequence: the first number of a ring without a past. With the number of the upstream, segment names
    ///     do not repeat if the directory is emptied.
    ///   - subtitles: the renditions of the upstream. The subtitles of other renditions are removed; nil keeps all.
    package init(
        directory: String, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: [Rendition]? = []
    ) throws(RingError) {
        try self.init(
            spool: SpoolDirectory(directory), policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence, subtitles: subtitles)
    }

    init(
        spool: consuming SpoolDirectory, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: [Rendition]? = []
    ) throws(RingError) {
        let files = try spool.files()
        let recovery = try RingRecovery(
            journal: spool.read(SpoolName.journal), path: spool.path(of: SpoolName.journal), files: files,
            policy: policy, targetDuration: targetDuration, firstMediaSequence: firstMediaSequence)
        self.init(try Opening(spool, recovery: recovery, renditions: subtitles, files: files))
    }

    /// Whether a process publishes into the ring in `directory`. A lock that cannot be examined counts as held.
    package static func isInUse(_ directory: String) -> Bool { SpoolDirectory.isLocked(directory) }

    /// The state of the ring in `directory` before it is opened; nil if it has no readable journal or no segment.
    package static func previousRing(in directory: String) -> PreviousRing? {
        let path = "\(directory)/\(SpoolName.journal)"
        return SpoolDirectory.bytes(at: path).flatMap { PreviousRing(journal: $0, path: path) }
    }

    /// Closes this ring and opens it again with parameters that are known only now. The spool stays locked meanwhile.
    package func reopened(
        policy: RetentionPolicy, targetDuration: Int, subtitles: [Rendition]?
    ) throws(RingError) -> DVRRing {
        // The new ring reads the spool. If the directory was replaced, the journal has to be written there first.
        if try reacquireSpool() { try rewriteJournal(index) }
        isClosed = true
        return try DVRRing(
            spool: SpoolDirectory(sharing: spool), policy: policy, targetDuration: targetDuration, subtitles: subtitles)
    }
}

extension DVRRing {
    /// A recovered ring whose spool was cleaned up.
    struct Opening: ~Copyable {
        let spool: SpoolDirectory
        let recovery: RingRecovery
        private(set) var index: RingIndex
        private(set) var journal = JournalFile(SpoolName.journal)
        private(set) var subtitles: SubtitleStore
        private(set) var housekeepingError: RingError?

        /// - Parameter files: the sizes of the ring's files by name.
        init(
            _ spool: consuming SpoolDirectory, recovery: RingRecovery, renditions: [Rendition]?, files: [String: Int]
        ) throws(RingError) {
            index = recovery.index
            subtitles = SubtitleStore(renditions, index: &index, in: spool, files: files)
            housekeepingError = subtitles.recoveryError
            self.recovery = recovery
            if recovery.isDamaged { spool.link(SpoolName.journal, as: SpoolName.damagedJournal) }
            self.spool = spool
            // The files of unrecorded segments stay until the segments are listed as gaps.
            if recovery.unrecordedSegments == 0 { try cleanUp() }
        }

        /// Removes files that do not belong to the ring, and rewrites the journals.
        ///
        /// If the disk is full, the ring opens with what is there, and the next publish writes the journals.
        private mutating func cleanUp() throws(RingError) {
            try spool.removeRingFiles(except: index.files.union(subtitles.files))
            do throws(RingError) {
                try subtitles.rewriteJournals(index: index, in: spool)
                let current = RingJournal(index, hasEnded: recovery.hasEnded)
                // Writing the journal of a rewind of days takes seconds.
                if recovery.appendableJournal?.hasRecords(of: current) == true {
                    journal.adopt(current)
                } else {
                    try journal.rewrite(current, in: spool)
                }
            } catch {
                guard error.isDiskFull else { throw error }
                housekeepingError = error
            }
        }
    }
}
