package import Playlist
import Synchronization

/// The ring of one channel. One publisher publishes segments, and every reader sees them through `snapshot`.
///
/// Files are written without leaving the actor, so two publishes never interleave. `DVRRing+Publishing` has the steps of
/// a publish, `DVRRing+Opening` those of opening and recovery.
package actor DVRRing {
    /// The state with which a restarted process continues; nil if the ring never held a segment.
    package nonisolated let resumePoint: ResumePoint?
    /// EXT-X-TARGETDURATION in seconds: the requested value, or that of an earlier process if it was larger. It does not
    /// change while the ring is open (draft-pantos-hls-rfc8216bis §6.2.1).
    package nonisolated let targetDuration: Int
    /// The number of segments after `resumePoint` that an earlier process listed and that its damaged journal does not
    /// record. `publishUnrecordedGaps` comes before any other publish.
    package nonisolated let unrecordedSegments: Int
    /// Whether a part of the journal could not be read, or there were segments without a journal.
    package nonisolated let wasDamaged: Bool
    /// The number of segments before `resumePoint` that a damaged journal does not record. They are gaps.
    package nonisolated let lostRecords: Int
    var spool: SpoolDirectory
    var journal: JournalFile
    var index: RingIndex
    var subtitles: SubtitleStore
    var hasEnded: Bool
    /// Whether this object accepts no more segments: `end` or `reopened` was called.
    var isClosed = false
    /// Whether media is missing between the newest entry and the next one.
    var needsDiscontinuity: Bool
    /// Gaps that could not be recorded yet, in order. They are listed before the next entry.
    var pendingGaps: [PendingGap] = []
    var rewindDrops = 0
    var spoolReplacements = 0
    var housekeepingError: RingError?
    private let latestSnapshot: Mutex<RingSnapshot>

    init(_ opening: consuming Opening) {
        let recovery = opening.recovery
        journal = opening.journal
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
                directory: opening.spool.path))
        spool = opening.spool
    }

    /// The latest published state. Reading it does not wait for the actor.
    package nonisolated var snapshot: RingSnapshot { latestSnapshot.withLock { $0 } }

    /// The longest segment that may be published, in 90 kHz ticks. Its EXTINF rounds to TARGETDURATION at most
    /// (RFC 8216 §4.3.3.1).
    package nonisolated var maximumSegmentDuration: Int64 {
        Int64(targetDuration) * PlaylistTicks.ticksPerSecond + PlaylistTicks.ticksPerSecond / 2 - 1
    }

    /// Stops the live playlist from sliding.
    ///
    /// The upstream's playlist has ended, so its remaining segments may arrive at once. The live playlist keeps its
    /// segments, so that viewers at the live edge can play to the end.
    package func stopSliding() {
        index.stopSliding()
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
    }

    /// Lets the live playlist slide again, because the upstream continues.
    package func resumeSliding() {
        guard index.liveWindowStart != nil else { return }
        index.resumeSliding()
        performHousekeeping { () throws(RingError) in try rewriteJournal(index) }
        publishSnapshot()
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

    /// Makes the current state visible.
    func publishSnapshot() {
        latestSnapshot.withLock {
            $0 = RingSnapshot(
                version: $0.version + 1, index: index, hasEnded: hasEnded, rewindDrops: rewindDrops,
                spoolReplacements: spoolReplacements, housekeepingError: housekeepingError,
                subtitles: subtitles.renditions, directory: spool.path)
        }
    }
}
