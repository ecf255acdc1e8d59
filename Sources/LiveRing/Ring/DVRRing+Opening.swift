package import Playlist

extension DVRRing {
    /// Opens the ring in `directory`, recovers its content and removes files that do not belong to it.
    /// - Parameters:
    ///   - directory: the spool directory, which is created if it does not exist.
    ///   - targetDuration: seconds, at least that of the upstream.
    ///   - firstMediaSequence: the first number of a ring without a past. With the number of the upstream, segment names
    ///     do not repeat if the directory is emptied.
    ///   - subtitles: the renditions of the upstream. The subtitles of other renditions are removed; nil keeps all.
    ///   - previous: what `previousRing` returned for the directory, so that the journal is not read again.
    package init(
        directory: String, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: [Rendition]? = [], previous: PreviousRing? = nil
    ) throws(RingError) {
        try self.init(
            spool: SpoolDirectory(directory), policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence, subtitles: subtitles, previous: previous)
    }

    init(
        spool: consuming SpoolDirectory, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: [Rendition]? = [], previous: PreviousRing? = nil
    ) throws(RingError) {
        let files = try spool.files()
        let path = spool.path(of: SpoolName.journal)
        var journal = previous?.reading.dequeue(ifStill: spool.version(of: SpoolName.journal))
        if journal == nil, let bytes = try spool.read(SpoolName.journal) {
            journal = try RingJournal.read(bytes, path: path)
        }
        let recovery = try RingRecovery(
            journal, path: path, files: files, policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence)
        self.init(try Opening(spool, recovery: recovery, renditions: subtitles, files: files))
    }

    /// Whether a process publishes into the ring in `directory`. A lock that cannot be examined counts as held.
    package static func isInUse(_ directory: String) -> Bool { SpoolDirectory.isLocked(directory) }

    /// The state of the ring in `directory` before it is opened; nil if it has no readable journal or no segment.
    package static func previousRing(in directory: String) -> PreviousRing? {
        let path = "\(directory)/\(SpoolName.journal)"
        return SpoolDirectory.content(at: path).flatMap { PreviousRing(journal: $0, version: $1, path: path) }
    }

    /// Closes this ring and continues it with parameters that are known only now. The spool stays locked meanwhile, and
    /// nothing of it is read.
    package func reopened(
        policy: RetentionPolicy, targetDuration: Int, subtitles: [Rendition]?
    ) throws(RingError) -> DVRRing {
        try reacquireSpool()
        try? listPendingGaps()
        isClosed = true
        return DVRRing(
            try Opening(
                SpoolDirectory(sharing: spool), continuing: self, policy: policy, targetDuration: targetDuration,
                renditions: subtitles))
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
            if recovery.unrecordedSegments == 0 { try cleanUp(files) }
        }

        /// The state of `ring`, which is closed, with other parameters.
        init(
            _ spool: consuming SpoolDirectory, continuing ring: isolated DVRRing, policy: RetentionPolicy,
            targetDuration: Int, renditions: [Rendition]?
        ) throws(RingError) {
            index = ring.index
            index.setParameters(policy: policy, targetDuration: targetDuration)
            let (store, unneeded) = SubtitleStore.continuing(ring.subtitles, with: renditions, index: &index)
            (subtitles, journal, housekeepingError) = (store, ring.journal, ring.housekeepingError)
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
                try journal.rewrite(RingJournal(index, hasEnded: recovery.hasEnded), in: spool)
            } catch {
                guard error.isDiskFull else { throw error }
                housekeepingError = error
            }
        }

        /// Removes files that do not belong to the ring, and rewrites the journals.
        ///
        /// If the disk is full, the ring opens with what is there, and the next publish writes the journals.
        private mutating func cleanUp(_ files: [String: Int]) throws(RingError) {
            try spool.removeRingFiles(except: index.files.union(subtitles.files), of: files)
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
