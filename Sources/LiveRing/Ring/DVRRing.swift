package import Playlist
import Synchronization

/// One channel's ring: segments are published into it by one publisher and seen through `snapshot` by everyone.
///
/// A segment's file is whole under its name, then it is in the journal, then it is visible. Files are written without
/// leaving the actor, so two publishes never mix.
package actor DVRRing {
    /// Where to go on after a restart; nil for a ring that has never held a segment.
    package nonisolated let resumePoint: ResumePoint?
    /// EXT-X-TARGETDURATION in seconds: what was asked for, or what viewers of an earlier run were told if that is
    /// more. It does not change while the ring is open (draft-pantos-hls-rfc8216bis §6.2.1).
    package nonisolated let targetDuration: Int
    /// Segments that an earlier process listed, behind `resume`, and of which its damaged journal tells nothing any more:
    /// `listUnrecorded` comes before anything else.
    package nonisolated let unrecordedSegments: Int
    /// A part of the journal that was found could not be read, or there was none beside segments.
    package nonisolated let wasDamaged: Bool
    /// Segments before `resume` of which a damaged journal tells nothing any more. They are gaps.
    package nonisolated let lostRecords: Int
    private var spool: SpoolDirectory
    private var journal: JournalFile
    private var index: RingIndex
    private var subtitles: SubtitleStore
    private var hasEnded: Bool
    /// `end` was called on this very ring.
    private var isClosed = false
    /// Something is missing between the newest entry and the next one.
    private var needsDiscontinuity: Bool
    private var rewindDrops = 0
    private var spoolReplacements = 0
    private var housekeepingError: RingError?
    private let latestSnapshot: Mutex<RingSnapshot>

    /// Opens the ring in `directory`, which is created if need be, recovers what is there and removes what is not
    /// part of it.
    /// - Parameters:
    ///   - targetDuration: seconds, at least the upstream's.
    ///   - firstMediaSequence: where a ring without a past begins. The upstream's number is a good one: names of
    ///     segments then do not come back when somebody empties the directory.
    ///   - subtitles: the upstream's renditions. What an earlier run kept of others is removed; nil: nothing is.
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
        subtitles renditions: [Rendition]? = []
    ) throws(RingError) {
        let files = try spool.files()
        let found = try RingRecovery(
            journal: spool.read(SpoolName.journal), path: spool.path(of: SpoolName.journal), files: files,
            policy: policy, targetDuration: targetDuration, firstMediaSequence: firstMediaSequence)
        var index = found.index
        var journal = JournalFile(SpoolName.journal)
        var subtitles = SubtitleStore(renditions, beside: &index, in: spool, files: files)
        var trouble = subtitles.lastError
        if found.isDamaged { spool.link(SpoolName.journal, as: SpoolName.damagedJournal) }
        // Until what a damaged journal lost is listed, all that tells of it stays.
        if found.unrecordedSegments == 0 {
            try Self.removeStrayFiles(from: spool, keeping: index.files.union(subtitles.files))
            do throws(RingError) {
                try subtitles.rewriteJournals(beside: index, in: spool)
                try journal.rewrite(RingJournal(index, hasEnded: found.hasEnded), in: spool)
            } catch {
                // On a full disk what is there is shown, and the next segment tries again.
                guard error.isDiskFull else { throw error }
                trouble = error
            }
        }
        self.journal = journal
        self.index = index
        self.subtitles = subtitles
        housekeepingError = trouble
        resumePoint = found.resumePoint
        unrecordedSegments = found.unrecordedSegments
        lostRecords = found.lostRecords
        wasDamaged = found.isDamaged
        self.targetDuration = found.index.targetDuration
        hasEnded = found.hasEnded
        needsDiscontinuity = found.continuesEarlierRing
        latestSnapshot = Mutex(
            RingSnapshot(
                version: 0, index: index, hasEnded: found.hasEnded, rewindDrops: 0,
                housekeepingError: trouble, subtitles: subtitles.renditions, directory: spool.path))
        self.spool = spool
    }

    /// Whether a process publishes into the ring in `directory`; one whose lock cannot be looked at is taken for one that does.
    package static func isInUse(_ directory: String) -> Bool { SpoolDirectory.isLocked(directory) }

    /// What the ring in `directory` says of itself before it is opened; nil when it never showed anything, or nothing
    /// tells.
    package static func previousRing(in directory: String) -> PreviousRing? {
        let path = "\(directory)/\(SpoolName.journal)"
        return SpoolDirectory.bytes(at: path).flatMap { PreviousRing(journal: $0, path: path) }
    }

    /// The same ring once more, as it is to be when more is known of the upstream. Nothing is published into this one any
    /// more; all the while no other process can take the spool.
    package func reopened(
        policy: RetentionPolicy, targetDuration: Int, subtitles: [Rendition]?
    ) throws(RingError) -> DVRRing {
        // It reads what is in the spool: where that is another one, there has to be a journal in it.
        if try reacquireSpool() { try rewriteJournal(index) }
        isClosed = true
        return try DVRRing(
            spool: SpoolDirectory(sharing: spool), policy: policy, targetDuration: targetDuration, subtitles: subtitles)
    }

    /// The newest state, at once.
    package nonisolated var snapshot: RingSnapshot { latestSnapshot.withLock { $0 } }

    /// The longest segment that may be published, 90 kHz ticks: its EXTINF rounds to TARGETDURATION at most
    /// (RFC 8216 §4.3.3.1).
    package nonisolated var maximumSegmentDuration: Int64 {
        Int64(targetDuration) * PlaylistTicks.ticksPerSecond + PlaylistTicks.ticksPerSecond / 2 - 1
    }

    /// Publishes one segment: when this returns, viewers see it. When the disk is full the rewind is given up first.
    ///
    /// After an error nothing of the segment is there, its time is listed as a gap if the journal takes that, and the next
    /// segment gets a DISCONTINUITY. Publishing into a ring that ended in an earlier run goes on behind it.
    package func publish(_ segment: NewSegment) throws(RingError) {
        guard !isClosed else { throw .ended }
        let wasInterrupted = needsDiscontinuity
        needsDiscontinuity = true
        try validate(segment)
        do throws(RingError) {
            try reacquireSpool()
            try store(segment, makingRoomAfterInterruption: wasInterrupted)
        } catch {
            // What the error says is the same trouble, if this fails as well.
            try? publishGap(lasting: segment.duration, resumePoint: segment.resumePoint)
            throw error
        }
        needsDiscontinuity = false
    }

    private func store(_ segment: NewSegment, makingRoomAfterInterruption isAfter: Bool) throws(RingError) {
        do throws(RingError) {
            try store(segment, afterInterruption: isAfter)
        } catch {
            guard error.isDiskFull else { throw error }
            dropRewind()
            try store(segment, afterInterruption: isAfter)
        }
    }

    /// Lists time in which nothing came, so that the lists go on in an outage. Of a ring that never held a segment
    /// nothing is missing.
    /// - Parameters:
    ///   - duration: 90 kHz ticks, more than 0 and at most `maximumSegmentDuration`.
    ///   - mark: where the channel's clocks stand behind it.
    package func publishGap(lasting duration: Int64, resumePoint: ResumePoint) throws(RingError) {
        guard !isClosed else { throw .ended }
        guard let newest = index.newest else { return }
        guard (1...maximumSegmentDuration).contains(duration) else {
            throw .badDuration(duration, maximum: maximumSegmentDuration)
        }
        try reacquireSpool()
        try commit(index.gap(after: newest, lasting: duration, resumePoint: resumePoint))
    }

    /// Lists `unrecordedSegments` as gaps: all of them at once, so that a process killed meanwhile owes them still. Each
    /// may have begun with a discontinuity, and been as long as a segment can be.
    /// - Parameter marks: where the channel's clocks stand behind each.
    package func publishUnrecordedGaps(_ marks: [ResumePoint]) throws(RingError) {
        var next = index
        for mark in marks {
            guard let newest = next.newest else { return }
            var gap = next.gap(after: newest, lasting: maximumSegmentDuration, resumePoint: mark)
            gap.isDiscontinuous = true
            gap.discontinuitySequence += 1
            _ = next.publish(gap)
        }
        try reacquireSpool()
        try rewriteJournal(next)
        index = next
        _ = subtitles.evict(beside: index)
        publishSnapshot()
        performHousekeeping { () throws(RingError) in
            try Self.removeStrayFiles(from: spool, keeping: index.files.union(subtitles.files))
        }
    }

    /// Publishes the subtitles of a segment that is published. Each rendition's come in the order of the segments; one
    /// left out gets empty ones with the next.
    package func publish(_ new: NewSubtitles) throws(RingError) {
        try reacquireSpool()
        try subtitles.store(new, beside: &index, in: spool)
        publishSnapshot()
    }

    /// The upstream's list is finished, so what is still to come of it may come at once: the live list keeps what it has,
    /// and who watches at its edge can play to the end.
    package func stopSliding() {
        index.stopSliding()
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
    }

    /// The upstream goes on after all, and the live list slides as before.
    package func resumeSliding() {
        guard index.liveWindowStart != nil else { return }
        index.resumeSliding()
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
    }

    /// Nothing will follow: every list gets its EXT-X-ENDLIST. The files stay, and so does the journal; if that cannot be
    /// written, the next process does not know of the end.
    /// - Parameter dateRanges: what no segment could tell of any more; it stands in the head of every list.
    package func end(adding dateRanges: [DateRange] = []) {
        guard !isClosed else { return }
        index.addOpenDateRanges(dateRanges)
        isClosed = true
        hasEnded = true
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
    }

    /// Before anything is written: nobody else may write there. What was in a directory that was removed, or that is
    /// another one now, is a gap, until the directory comes back.
    /// - Returns: whether it is another one than before.
    @discardableResult
    private func reacquireSpool() throws(RingError) -> Bool {
        guard let files = try spool.reacquireLock() else { return false }
        journal.invalidate()
        index = RingRecovery.index(
            of: RingJournal(index, hasEnded: hasEnded), policy: index.policy, targetDuration: targetDuration,
            files: files,
            revives: true)
        subtitles.updateGaps(from: files, beside: &index)
        spoolReplacements += 1
        publishSnapshot()
        return true
    }

    private func validate(_ segment: NewSegment) throws(RingError) {
        guard (1...maximumSegmentDuration).contains(segment.duration) else {
            throw .badDuration(segment.duration, maximum: maximumSegmentDuration)
        }
        guard SpoolName.isInitialization(segment.initialization.name) else {
            throw .badInitializationName(segment.initialization.name)
        }
    }

    private func store(_ segment: NewSegment, afterInterruption: Bool) throws(RingError) {
        let entry = index.entry(for: segment, afterInterruption: afterInterruption)
        let reserve = index.policy.freeReserve
        if index.initializations[entry.initialization.name] == nil {
            try spool.write(entry.initialization.name, [segment.initialization.bytes[...]], leaving: reserve)
        }
        try spool.write(entry.segment.name, [segment.header[...]] + segment.payload, leaving: reserve)
        do throws(RingError) {
            try commit(entry)
        } catch {
            try? spool.remove(entry.segment.name)
            throw error
        }
    }

    /// Its file is whole: into the journal, then visible.
    private func commit(_ entry: RingEntry) throws(RingError) {
        var next = index
        var unneeded = next.publish(entry)
        try appendToJournal(next)
        index = next
        hasEnded = false
        unneeded += subtitles.evict(beside: index)
        publishSnapshot()
        removeUnneeded(unneeded)
    }

    private func appendToJournal(_ next: RingIndex) throws(RingError) {
        guard let entry = next.listed.last else { return }
        // Behind an ENDLIST of an earlier run nothing may stand.
        if hasEnded { journal.invalidate() }
        if journal.isStale { return try rewriteJournal(next, hasEnded: false) }
        try journal.append(RingJournal.record(entry), in: spool)
    }

    private func dropRewind() {
        var next = index
        let unneeded = next.dropRewind() + subtitles.evict(beside: next)
        guard !unneeded.isEmpty else { return }
        // Known to the next process before anybody sees it: its lists must not begin earlier again. The journal may use
        // the reserve, so there is room for it unless others took that.
        performHousekeeping { () throws(RingError) in try rewriteJournal(next) }
        index = next
        rewindDrops += 1
        publishSnapshot()
        removeUnneeded(unneeded)
    }

    /// A file that cannot be removed, or a journal that cannot be shortened, is no reason to keep a segment back.
    private func removeUnneeded(_ unneeded: [SpoolFile]) {
        performHousekeeping { () throws(RingError) in
            for file in unneeded { try spool.remove(file.name) }
            try subtitles.compactJournals(beside: index, in: spool)
            let isUntrue = journal.declaresIndependentSegments && !index.entries.allSatisfy(\.isIndependent)
            if isUntrue || journal.needsCompaction(entryCount: index.entryCount) { try rewriteJournal(index) }
        }
    }

    private func performHousekeeping(_ work: () throws(RingError) -> Void) {
        do throws(RingError) {
            try work()
            housekeepingError = nil
        } catch {
            housekeepingError = error
        }
    }

    private func rewriteJournal(_ index: RingIndex, hasEnded: Bool? = nil) throws(RingError) {
        try journal.rewrite(RingJournal(index, hasEnded: hasEnded ?? self.hasEnded), in: spool)
    }

    /// Removes what is of a ring's and not of this one.
    private static func removeStrayFiles(from spool: borrowing SpoolDirectory, keeping needed: Set<String>)
        throws(RingError)
    {
        for name in try spool.files().keys where !needed.contains(name) { try spool.remove(name) }
    }

    private func publishSnapshot() {
        latestSnapshot.withLock {
            $0 = RingSnapshot(
                version: $0.version + 1, index: index, hasEnded: hasEnded, rewindDrops: rewindDrops,
                spoolReplacements: spoolReplacements,
                housekeepingError: housekeepingError, subtitles: subtitles.renditions, directory: spool.path)
        }
    }
}
