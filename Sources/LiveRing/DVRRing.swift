package import Playlist
import Synchronization

/// One channel's ring: segments are published into it by one publisher and seen through `snapshot` by everyone.
///
/// A segment's file is whole under its name, then it is in the journal, then it is visible. Files are written without
/// leaving the actor, so two publishes never mix.
package actor DVRRing {
    /// Where to go on after a restart; nil for a ring that has never held a segment.
    package nonisolated let resume: ContinuationMark?
    /// EXT-X-TARGETDURATION in seconds: what was asked for, or what viewers of an earlier run were told if that is
    /// more. It does not change while the ring is open (draft-pantos-hls-rfc8216bis §6.2.1).
    package nonisolated let targetDuration: Int
    private let spool: SpoolDirectory
    private var journal: JournalFile
    private var journalRecords: Int
    /// The journal's head has EXT-X-INDEPENDENT-SEGMENTS.
    private var promisesIndependence: Bool
    private var index: RingIndex
    private var subtitles: SubtitleShelf
    private var hasEnded: Bool
    /// `end` was called on this very ring.
    private var isClosed = false
    /// Something is missing between the newest entry and the next one.
    private var isInterrupted: Bool
    private var rewindDrops = 0
    private var housekeepingError: RingError?
    private let shown: Mutex<RingSnapshot>

    /// Opens the ring in `directory`, which is created if need be, recovers what is there and removes what is not
    /// part of it.
    /// - Parameters:
    ///   - targetDuration: seconds, at least the upstream's.
    ///   - firstMediaSequence: where a ring without a past begins. The upstream's number is a good one: names of
    ///     segments then do not come back when somebody empties the directory.
    ///   - subtitles: the upstream's renditions. What an earlier run kept of others is removed.
    package init(
        directory: String, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: [Rendition] = []
    ) throws(RingError) {
        try self.init(
            spool: SpoolDirectory(directory), policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence, subtitles: subtitles)
    }

    init(
        spool: consuming SpoolDirectory, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles renditions: [Rendition] = []
    ) throws(RingError) {
        let found = try RingRecovery(
            journal: spool.read(SpoolName.journal), path: spool.path(of: SpoolName.journal), files: spool.files(),
            policy: policy, targetDuration: targetDuration, firstMediaSequence: firstMediaSequence)
        let journal = Journal(found.index, hasEnded: found.hasEnded)
        try spool.write(SpoolName.journal, [Array(journal.text.utf8)[...]], leaving: 0)
        var index = found.index
        let subtitles = try SubtitleShelf(renditions, beside: &index, in: spool, files: spool.files())
        let needed = index.files.union(subtitles.files)
        for name in try spool.files().keys where !needed.contains(name) { try spool.remove(name) }
        self.journal = try JournalFile(in: spool)
        journalRecords = journal.entries.count
        promisesIndependence = journal.promisesIndependence
        self.index = index
        self.subtitles = subtitles
        housekeepingError = subtitles.lastError
        resume = found.resume
        self.targetDuration = found.index.targetDuration
        hasEnded = found.hasEnded
        isInterrupted = found.continues
        shown = Mutex(
            RingSnapshot(
                version: 0, index: index, hasEnded: found.hasEnded, rewindDrops: 0,
                housekeepingError: subtitles.lastError, subtitles: subtitles.tracks, directory: spool.path))
        self.spool = spool
    }

    /// The newest state, at once.
    package nonisolated var snapshot: RingSnapshot { shown.withLock { $0 } }

    /// The longest segment that may be published, 90 kHz ticks: its EXTINF rounds to TARGETDURATION at most
    /// (RFC 8216 §4.3.3.1).
    package nonisolated var maximumSegmentDuration: Int64 {
        Int64(targetDuration) * MediaTime.ticksPerSecond + MediaTime.ticksPerSecond / 2 - 1
    }

    /// Publishes one segment: when this returns, viewers see it. When the disk is full the rewind is given up first.
    ///
    /// After an error nothing of the segment is there, and the next one gets a DISCONTINUITY. Publishing into a ring
    /// that ended in an earlier run goes on behind it.
    package func publish(_ segment: NewSegment) throws(RingError) {
        guard !isClosed else { throw .ended }
        let wasInterrupted = isInterrupted
        isInterrupted = true
        try check(segment)
        do throws(RingError) {
            try store(segment, afterInterruption: wasInterrupted)
        } catch .diskFull {
            dropRewind()
            try store(segment, afterInterruption: wasInterrupted)
        }
        isInterrupted = false
    }

    /// Lists time in which nothing came, so that the lists go on in an outage. Of a ring that never held a segment
    /// nothing is missing.
    /// - Parameters:
    ///   - duration: 90 kHz ticks, more than 0 and at most `maximumSegmentDuration`.
    ///   - mark: where the channel's clocks stand behind it.
    package func publishGap(lasting duration: Int64, mark: ContinuationMark) throws(RingError) {
        guard !isClosed else { throw .ended }
        guard let newest = index.newest else { return }
        guard (1...maximumSegmentDuration).contains(duration) else {
            throw .badDuration(duration, maximum: maximumSegmentDuration)
        }
        try list(index.gap(behind: newest, lasting: duration, mark: mark))
    }

    /// Publishes the subtitles of a segment that is published. Each rendition's come in the order of the segments; one
    /// left out gets empty ones with the next.
    package func publish(_ new: NewSubtitles) throws(RingError) {
        try subtitles.store(new, beside: &index, in: spool)
        show()
    }

    /// Nothing will follow: every list gets its EXT-X-ENDLIST. The files stay, and so does the journal.
    /// - Parameter dateRanges: what no segment could tell of any more; it stands in the head of every list.
    package func end(telling dateRanges: [DateRange] = []) throws(RingError) {
        guard !isClosed else { return }
        index.tell(dateRanges)
        isClosed = true
        hasEnded = true
        show()
        try rewriteJournal()
    }

    private func check(_ segment: NewSegment) throws(RingError) {
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
            try list(entry)
        } catch {
            try? spool.remove(entry.segment.name)
            throw spool.asDiskFull(error, needed: reserve)
        }
    }

    /// Its file is whole: into the journal, then visible.
    private func list(_ entry: RingEntry) throws(RingError) {
        var next = index
        var unneeded = next.publish(entry)
        try record(next)
        index = next
        unneeded += subtitles.evict(beside: index)
        hasEnded = false
        show()
        clearUp(unneeded)
    }

    private func record(_ next: RingIndex) throws(RingError) {
        guard let entry = next.listed.last else { return }
        if hasEnded {
            // The journal has an ENDLIST from an earlier run, behind which nothing may stand.
            hasEnded = false
            try rewriteJournal()
        }
        try journal.append(Journal.record(entry, after: index.newest))
        journalRecords += 1
    }

    private func dropRewind() {
        let unneeded = index.dropRewind() + subtitles.evict(beside: index)
        guard !unneeded.isEmpty else { return }
        rewindDrops += 1
        show()
        clearUp(unneeded)
    }

    /// A file that cannot be removed, or a journal that cannot be shortened, is no reason to keep a segment back.
    private func clearUp(_ unneeded: [SpoolFile]) {
        do throws(RingError) {
            for file in unneeded { try spool.remove(file.name) }
            try subtitles.shortenJournals(beside: index, in: spool)
            let isOverdue = journalRecords > 2 * index.entryCount + 64
            if isOverdue || promisesIndependence && !index.entries.allSatisfy(\.isIndependent) { try rewriteJournal() }
            housekeepingError = nil
        } catch {
            housekeepingError = error
        }
    }

    private func rewriteJournal() throws(RingError) {
        let journal = Journal(index, hasEnded: hasEnded)
        try spool.write(SpoolName.journal, [Array(journal.text.utf8)[...]], leaving: 0)
        self.journal = try JournalFile(in: spool)
        journalRecords = journal.entries.count
        promisesIndependence = journal.promisesIndependence
    }

    private func show() {
        shown.withLock {
            $0 = RingSnapshot(
                version: $0.version + 1, index: index, hasEnded: hasEnded, rewindDrops: rewindDrops,
                housekeepingError: housekeepingError, subtitles: subtitles.tracks, directory: spool.path)
        }
    }
}
