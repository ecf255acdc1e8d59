package import Playlist
import Synchronization

/// The ring of one channel. One publisher publishes segments, and every reader sees them through `snapshot`.
///
/// Files are written without leaving the actor, so two publishes never interleave.
/// `RingOpening` has the steps of opening and recovery.
package actor DVRRing {
    /// The state with which a restarted process continues; nil if the ring never held a segment.
    package nonisolated let resumePoint: ResumePoint?
    /// EXT-X-TARGETDURATION in seconds: the requested value, or the value of an earlier process if that was larger. It
    /// does not change while the ring is open (draft-pantos-hls-rfc8216bis §6.2.1).
    package nonisolated let targetDuration: Int
    /// The number of segments after `resumePoint` that an earlier process listed but its damaged journal does not
    /// contain. `publishUnrecordedGaps` must precede any other publish.
    package nonisolated let unrecordedSegments: Int
    /// Whether a part of the journal could not be read, or the spool contained segments but no journal.
    package nonisolated let wasDamaged: Bool
    /// The number of segments before `resumePoint` that a damaged journal does not contain. They are gaps.
    package nonisolated let lostRecords: Int
    private var spool: SpoolDirectory
    private(set) var journal: JournalFile
    private(set) var checkpoint: CheckpointFile
    private(set) var index: RingIndex
    private(set) var subtitles: SubtitleStore
    private(set) var hasEnded: Bool
    /// Whether this object accepts no more segments: `end` or `reopened` was called.
    private var isClosed = false
    /// Whether media is missing between the newest entry and the next one.
    private var needsDiscontinuity: Bool
    /// Gaps that could not be recorded yet, in order. They are listed before the next entry.
    private(set) var pendingGaps: [PendingGap] = []
    private var rewindDrops = 0
    private var removedBytes = RemovedBytes()
    private var spoolReplacements = 0
    private(set) var housekeepingError: RingError?
    private let latestSnapshot: Mutex<RingSnapshot>

    private init(_ opening: consuming RingOpening) {
        let recovery = opening.recovery
        journal = opening.journal
        checkpoint = opening.checkpoint
        index = opening.index
        subtitles = opening.subtitles
        housekeepingError = opening.housekeepingError
        resumePoint = recovery.resumePoint
        unrecordedSegments = recovery.unrecordedSegments
        lostRecords = recovery.lostRecords
        wasDamaged = recovery.isDamaged
        targetDuration = recovery.index.targetDuration
        hasEnded = recovery.hasEnded
        needsDiscontinuity = recovery.continuesEarlierRing
        latestSnapshot = Mutex(
            RingSnapshot(
                version: 0, index: opening.index, hasEnded: recovery.hasEnded, rewindDrops: 0,
                housekeepingError: opening.housekeepingError, subtitles: opening.subtitles.renditions,
                directory: opening.spool.path, memory: opening.spool.memory))
        spool = opening.spool
    }

    /// The latest published state. Reading it does not wait for the actor.
    package nonisolated var snapshot: RingSnapshot { latestSnapshot.withLock { $0 } }

    /// The longest segment that may be published, in 90 kHz ticks.
    package nonisolated var maximumSegmentDuration: Int64 { snapshot.index.maximumSegmentDuration }

    /// Stops the live playlist from sliding. The upstream's playlist has ended, so its remaining segments may arrive at
    /// once. The live playlist keeps its segments, so that viewers at the live edge can play to the end.
    package func stopSliding() {
        index.stopSliding()
        publishHead()
    }

    /// Lets the live playlist slide again, because the upstream continues.
    package func resumeSliding() {
        guard index.liveWindowStart != nil else { return }
        index.resumeSliding()
        publishHead()
    }

    /// Declares the upstream's closed captions, if it lists any, in place of the captions found in the video.
    package func declareCaptions(_ upstream: [Rendition]) {
        if index.declared.declareCaptions(upstream) { publishHead() }
    }

    /// Sets the variants that the upstream declares for the tracks, by the texts in `ResumePoint.videoTracks`. The
    /// master playlist lists them before they have media.
    /// - Parameter layout: REQ-VIDEO-LAYOUT of the leading variant.
    package func declareVariants(_ variants: [String: Variant], layout: String? = nil) {
        guard index.declaredVariants != variants || index.declaredLayout != layout else { return }
        (index.declaredVariants, index.declaredLayout) = (variants, layout)
        publishSnapshot()
    }

    /// Keeps the attributes of the upstream's audio renditions, each with its `AudioTrackPoint.identity`.
    package func declareAudio(_ upstream: [(track: String, rendition: Rendition)]) {
        if index.declared.declareAudio(upstream) { publishHead() }
    }

    /// Ends the channel: every playlist gets EXT-X-ENDLIST. The files and the journal stay.
    ///
    /// If the journal cannot be written, the next process does not know that the channel ended.
    /// - Parameter dateRanges: date ranges that no segment carries. They are in the head of every playlist.
    package func end(adding dateRanges: [DateRange] = []) {
        guard !isClosed else { return }
        try? listPendingGaps()
        index.addOpenDateRanges(dateRanges)
        isClosed = true
        hasEnded = true
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
    }

    /// The most parts of a journal that are written when the ring is closed.
    private static let partsAtClose = 8

    /// Releases the directory for another ring or process. What is published can be read as before.
    ///
    /// If the journal is out of date and long, the state in its head is lost, as after a kill.
    package func close() {
        if !isClosed {
            try? listPendingGaps()
            isClosed = true
            for _ in 0..<Self.partsAtClose where !journal.isCurrent {
                performHousekeeping { () throws(RingError) in try updateJournal() }
            }
        }
        spool.unlock()
    }

    /// Makes a state visible that is written in the head of the journal. If a kill comes before a long journal is
    /// replaced, the state is lost.
    private func publishHead() {
        journal.outdate()
        performHousekeeping { () throws(RingError) in try updateJournal() }
        publishSnapshot()
    }

    /// Makes the current state visible.
    private func publishSnapshot() {
        latestSnapshot.withLock {
            $0 = RingSnapshot(
                version: $0.version + 1, index: index, hasEnded: hasEnded, rewindDrops: rewindDrops,
                spoolReplacements: spoolReplacements, housekeepingError: housekeepingError,
                subtitles: subtitles.renditions, directory: spool.path, memory: spool.memory)
        }
    }
}

// MARK: - Opening

extension DVRRing {
    /// Opens the ring in `directory`, recovers its content and removes files that do not belong to it. A journal that cannot
    /// be read is set aside as `ring.m3u8.damaged`, and numbers continue after those of the files.
    /// - Parameters:
    ///   - directory: the spool directory, which is created if it does not exist.
    ///   - targetDuration: seconds, at least that of the upstream.
    ///   - firstMediaSequence: the first number of a ring without a past. With the number of the upstream, segment names
    ///     do not repeat if the directory is emptied.
    ///   - subtitles: the subtitle renditions to publish.
    ///   - previous: the result of `previousRing` for the directory, so that the journal is not read again.
    package init(
        directory: String, on fileSystem: FileSystem = .system, policy: RetentionPolicy, targetDuration: Int,
        firstMediaSequence: UInt64 = 0, subtitles: SubtitleSelection = .none, previous: PreviousRing? = nil
    ) throws(RingError) {
        try self.init(
            spool: SpoolDirectory(directory, on: fileSystem), policy: policy, targetDuration: targetDuration,
            firstMediaSequence: firstMediaSequence, subtitles: subtitles, previous: previous)
    }

    init(
        spool: consuming SpoolDirectory, policy: RetentionPolicy, targetDuration: Int, firstMediaSequence: UInt64 = 0,
        subtitles: SubtitleSelection = .none, previous: PreviousRing? = nil
    ) throws(RingError) {
        let files = try spool.files()
        let path = spool.path(of: SpoolName.journal)
        var journal = previous?.dequeueJournal(ifStill: spool.version(of: SpoolName.journal))
        func recover(_ journal: RingJournal?, isUnreadable: Bool = false) throws(RingError) -> RingRecovery {
            try RingRecovery(
                journal, path: path, isUnreadable: isUnreadable, files: files, policy: policy,
                targetDuration: targetDuration, firstMediaSequence: firstMediaSequence)
        }
        let recovery: RingRecovery
        do throws(RingError) {
            if journal == nil { journal = try JournalReader.read(in: spool.path)?.journal }
            recovery = try recover(journal)
        } catch {
            // `RingOpening` keeps the journal under another name.
            guard error.isDamagedJournal else { throw error }
            recovery = try recover(nil, isUnreadable: true)
        }
        self.init(try RingOpening(spool, recovery: recovery, subtitles: subtitles, files: files))
    }

    /// Whether a process publishes into the ring in `directory`. A lock that cannot be examined counts as held.
    package static func isInUse(_ directory: String) -> Bool { SpoolDirectory.isLocked(directory) }

    /// The state of the ring in `directory` before it is opened; nil if it has no readable journal or no segment.
    package static func previousRing(in directory: String) -> PreviousRing? {
        guard let read = try? JournalReader.read(in: directory) else { return nil }
        return PreviousRing(read.journal, version: read.version)
    }

    /// The media sequence number of the newest entry of the ring in `directory`; nil without a readable one.
    package static func newestNumber(in directory: String) -> UInt64? {
        (try? JournalReader.read(in: directory))?.journal.entries.last?.mediaSequence
    }

    /// Closes this ring and continues it with parameters that are only known now. The spool stays locked meanwhile, and
    /// is not read again.
    package func reopened(
        policy: RetentionPolicy, targetDuration: Int, subtitles: SubtitleSelection
    ) throws(RingError) -> DVRRing {
        try reacquireSpool()
        try? listPendingGaps()
        isClosed = true
        return DVRRing(
            try RingOpening(
                SpoolDirectory(sharing: spool), continuing: self, policy: policy, targetDuration: targetDuration,
                subtitles: subtitles))
    }
}

// MARK: - Publishing

// A publish in order: the files are written under another name and renamed, the journal gets a line, and then the
// segment becomes visible. A process killed at any point leaves complete listed files.

extension DVRRing {
    /// Publishes one segment, which viewers can see when the function returns. If the disk is nearly full, the oldest media
    /// is removed first.
    ///
    /// After an error no part of the segment stays. Its time is listed as a gap, as soon as the journal can be written, and
    /// the next segment is discontinuous. A ring that ended in an earlier process continues after its end.
    package func publish(_ segment: NewSegment) throws(RingError) {
        guard !isClosed else { throw .ended }
        let isAfterInterruption = needsDiscontinuity
        needsDiscontinuity = true
        try validate(segment)
        do throws(RingError) {
            try reacquireSpool()
            keepReserve(for: segment.storedByteCount)
            try makingRoom(for: segment.storedByteCount) { () throws(RingError) in
                try listPendingGaps()
                try store(segment, afterInterruption: isAfterInterruption)
            }
        } catch {
            appendPendingGap(lasting: segment.duration, resumePoint: segment.resumePoint)
            // If publishing the gap fails too, its error has the same cause.
            try? listPendingGaps()
            throw error
        }
        needsDiscontinuity = false
    }

    /// Lists a gap for time without media, so that the playlists continue during an outage. A ring that never held a
    /// segment lists no gap. After an error the gap is listed with the next entry.
    /// - Parameters:
    ///   - duration: 90 kHz ticks, 1 ... `maximumSegmentDuration`.
    ///   - resumePoint: the clocks of the channel after the gap.
    package func publishGap(lasting duration: Int64, resumePoint: ResumePoint) throws(RingError) {
        guard !isClosed else { throw .ended }
        guard index.newest != nil else { return }
        guard (1...maximumSegmentDuration).contains(duration) else {
            throw .badDuration(duration, maximum: maximumSegmentDuration)
        }
        appendPendingGap(lasting: duration, resumePoint: resumePoint)
        try makingRoom(for: 0) { () throws(RingError) in try listPendingGaps() }
    }

    private func appendPendingGap(lasting duration: Int64, resumePoint: ResumePoint) {
        guard index.newest != nil else { return }
        let duration = min(max(1, duration), maximumSegmentDuration)
        pendingGaps.append(PendingGap(duration: duration, resumePoint: resumePoint))
        if pendingGaps.count > PendingGap.limit { pendingGaps.removeFirst() }
    }

    private func listPendingGaps() throws(RingError) {
        guard !pendingGaps.isEmpty else { return }
        try reacquireSpool()
        while let gap = pendingGaps.first, let newest = index.newest {
            try commit(index.gap(after: newest, lasting: gap.duration, resumePoint: gap.resumePoint))
            pendingGaps.removeFirst()
        }
    }

    /// The values from which another ring continues after a segment that is published next.
    package func seed(of segment: NewSegment) -> RingSeed {
        seed(of: index.entry(for: segment, afterInterruption: needsDiscontinuity))
    }

    /// The values from which another ring continues after a gap that is published next; nil for a ring without entries.
    package func seed(ofGapLasting duration: Int64, resumePoint: ResumePoint) -> RingSeed? {
        index.newest.map { seed(of: index.gap(after: $0, lasting: duration, resumePoint: resumePoint)) }
    }

    private func seed(of entry: RingEntry) -> RingSeed {
        var entry = entry
        // Gaps that could not be recorded yet come before it.
        entry.mediaSequence += UInt64(pendingGaps.count)
        let upstream = index.entries.suffix(Self.seedReach).last { $0.resumePoint.upstream != nil }
        return RingSeed(entry, after: upstream, targetDuration: targetDuration)
    }

    /// The entries that are searched for one with media of an upstream.
    private static let seedReach = 600

    /// Lists `unrecordedSegments` as gaps, all at once: if the process is killed before, none of them is listed.
    ///
    /// Each missing segment may have begun with a discontinuity and have had the maximum duration.
    /// - Parameter resumePoints: the clocks of the channel after each gap.
    package func publishUnrecordedGaps(_ resumePoints: [ResumePoint]) throws(RingError) {
        var next = index
        for resumePoint in resumePoints {
            guard let newest = next.newest else { return }
            _ = next.publish(
                next.discontinuousGap(after: newest, lasting: maximumSegmentDuration, resumePoint: resumePoint))
        }
        try reacquireSpool()
        try rewriteJournal(next)
        index = next
        _ = subtitles.evict(index: index)
        publishSnapshot()
        performHousekeeping { () throws(RingError) in
            for name in subtitles.unneeded(try spool.files(), index) { try spool.remove(name) }
        }
    }

    /// Adds a subtitle rendition that this process makes from `source`. No other rendition has the same source.
    package func addSubtitles(_ rendition: Rendition, source: String) {
        subtitles.add(rendition, source: source)
        publishSnapshot()
    }

    /// Adds the media of a video track to one of the newest segments, if that is a gap of the track, and returns
    /// whether it was added. The journal records it with the next segment.
    /// - Parameter fragment: `ResumePoint.fragmentSequenceNumber` of the segment.
    package func publish(
        _ media: NewTrack, ofVideoTrack track: Int, afterFragment fragment: UInt64
    ) throws(RingError) -> Bool {
        let initialization = media.initialization.name
        guard SpoolName.isInitialization(initialization) else { throw .badInitializationName(initialization) }
        try reacquireSpool()
        guard let (number, file) = index.lateFile(for: media, ofVideoTrack: track, afterFragment: fragment)
        else { return false }
        try spool.write(media, as: file, of: number, in: index)
        index.add(file, toVideoTrack: track, of: number)
        journal.outdate()
        publishSnapshot()
        return true
    }

    /// Publishes the subtitles of a published segment, those of each rendition in the order of the segments. A segment
    /// without subtitles gets an empty file with the next subtitles.
    package func publish(_ new: NewSubtitles) throws(RingError) {
        try reacquireSpool()
        try subtitles.store(new, index: &index, in: spool)
        publishSnapshot()
    }

    private func validate(_ segment: NewSegment) throws(RingError) {
        guard (1...maximumSegmentDuration).contains(segment.duration) else {
            throw .badDuration(segment.duration, maximum: maximumSegmentDuration)
        }
        let initializations = [segment.initialization] + segment.tracks.compactMap { $0?.initialization }
        let bad = initializations.map(\.name).first { !SpoolName.isInitialization($0) }
        if let bad = bad ?? segment.sidecars.map(\.name).first(where: { SpoolName.kind(ofSidecar: $0) == nil }) {
            throw .badInitializationName(bad)
        }
    }
}

// MARK: - Steps of a publish

extension DVRRing {
    /// If fewer bytes than the reserve would be free after writing `byteCount`, removes the oldest media, down to the
    /// live window.
    private func keepReserve(for byteCount: UInt64) {
        guard spool.memory == nil, let space = spool.space else { return }
        let needed = index.policy.reserve(of: space) + byteCount
        let free = space.freeBytes + removedBytes.pending(with: space.freeBytes)
        guard free < needed else { return }
        _ = removeOldest(
            freeing: needed - free + byteCount * RetentionPolicy.segmentsMadeRoomFor, keeping: index.policy.liveWindow)
    }

    /// Runs `body`. If the disk is full, removes the oldest media and runs it again; if the disk is still full, removes
    /// everything that may be removed.
    private func makingRoom(for byteCount: UInt64, _ body: () throws(RingError) -> Void) throws(RingError) {
        var failure: RingError
        do throws(RingError) { return try body() } catch { failure = error }
        for bytes in [byteCount * (1 + RetentionPolicy.segmentsMadeRoomFor), .max] where failure.isDiskFull {
            guard removeOldest(freeing: bytes, keeping: .zero) || bytes == .max else { continue }
            do throws(RingError) { return try body() } catch { failure = error }
        }
        throw failure
    }

    private func store(_ segment: NewSegment, afterInterruption: Bool) throws(RingError) {
        let entry = index.entry(for: segment, afterInterruption: afterInterruption)
        do throws(RingError) {
            try spool.write(segment, as: entry, in: index)
            try commit(entry, captions: segment.captions)
        } catch {
            try? spool.remove(entry.segment.name)
            for file in entry.playableTracks { try? spool.remove(file.segment.name) }
            for file in index.newFiles(of: segment) { try? spool.remove(file.name) }
            for (file, _, _) in entry.initializations
            where index.initializations[file.name] == nil && index.gapsByInitialization[file.name] == nil {
                try? spool.remove(file.name)
            }
            throw error
        }
    }

    /// Steps 2 to 4 for an entry whose files are complete: journal, snapshot, removal of evicted files.
    private func commit(_ entry: RingEntry, captions: [String] = []) throws(RingError) {
        var next = index
        if next.declared.insert(captions) { journal.outdate() }
        let evicted = next.publish(entry)
        try appendToJournal(next)
        hasEnded = false
        index = next
        let evictedSubtitles = subtitles.evict(index: index)
        publishSnapshot()
        removeUnneeded(evicted + evictedSubtitles)
    }

    /// Step 2: appends the newest entry of `next` to the journal, or rewrites a stale journal.
    private func appendToJournal(_ next: RingIndex) throws(RingError) {
        guard hasJournal, let entry = next.listed.last else { return }
        // Nothing may follow the EXT-X-ENDLIST of an earlier process.
        if hasEnded { journal.invalidate() }
        if journal.isStale { return try rewriteJournal(next, hasEnded: false) }
        try journal.append(RingJournal.record(entry), in: spool)
    }
}

// MARK: - Housekeeping

// Work on the spool beside a publish. Its errors do not prevent a segment from being published.

extension DVRRing {
    /// Removes the oldest media because the disk is full.
    ///
    /// - Returns: whether anything was removed.
    private func removeOldest(freeing bytes: UInt64, keeping window: Duration) -> Bool {
        var next = index
        let (files, byteCount) = next.dropOldest(freeing: bytes, keeping: window)
        let unneeded = files + subtitles.evict(index: next)
        guard !unneeded.isEmpty else { return false }
        let freeBefore = spool.space?.freeBytes ?? 0
        // The files are removed before the change is visible, because the playlists of the next process must not begin
        // earlier again: it drops missing segments at the beginning.
        performHousekeeping { () throws(RingError) in
            for file in unneeded { try spool.remove(file.name) }
        }
        index = next
        rewindDrops += 1
        publishSnapshot()
        removeUnneeded([])
        spool.commit(byteCount, freeBefore: freeBefore)
        removedBytes.record(byteCount, freeBefore: freeBefore)
        return true
    }

    /// Step 4 of a publish: removes evicted files and compacts the journals.
    private func removeUnneeded(_ files: [SpoolFile]) {
        performHousekeeping { () throws(RingError) in
            for file in files { try spool.remove(file.name) }
            try subtitles.compactJournals(index: index, in: spool)
            try updateJournal()
            if hasJournal { checkpoint.append(index.entries, in: spool) }
        }
    }

    /// Runs `body` and records its error, or that there was none.
    private func performHousekeeping(_ body: () throws(RingError) -> Void) {
        do throws(RingError) {
            try body()
            housekeepingError = nil
        } catch {
            housekeepingError = error
        }
    }

    /// Whether another process may continue the ring: not if its media is in memory.
    private var hasJournal: Bool { spool.memory == nil }

    /// Continues replacing an outdated journal. A journal to which nothing can be appended is rewritten as a whole.
    private func updateJournal() throws(RingError) {
        guard hasJournal else { return }
        if journal.isStale || hasEnded { return try rewriteJournal(index) }
        try journal.continueReplacing(with: index, in: spool, checkpoint: &checkpoint)
    }

    private func rewriteJournal(_ index: RingIndex, hasEnded: Bool? = nil) throws(RingError) {
        guard hasJournal else { return }
        try journal.rewrite(
            RingJournal(index, hasEnded: hasEnded ?? self.hasEnded), in: spool, checkpoint: &checkpoint)
    }

    /// Makes sure, before a write, that no other process writes into the directory.
    ///
    /// If the directory was removed or replaced, entries become gaps if their files are missing in the new directory.
    private func reacquireSpool() throws(RingError) {
        guard let files = try spool.reacquireLock() else { return }
        journal.invalidate()
        index =
            RingRecovery.index(
                of: RingJournal(index, hasEnded: hasEnded), policy: index.policy, targetDuration: targetDuration,
                files: files, revives: true
            ).index
        subtitles.updateGaps(from: files, index: &index)
        spoolReplacements += 1
        publishSnapshot()
    }
}

/// A gap that was published but is not in the journal yet, because the journal could not be written.
struct PendingGap: Equatable, Sendable {
    /// The most pending gaps. If there are more, the oldest are dropped. A discontinuity follows the gaps in any case.
    static let limit = 1024

    /// 90 kHz ticks.
    let duration: Int64
    /// The clocks of the channel after the gap.
    let resumePoint: ResumePoint
}
