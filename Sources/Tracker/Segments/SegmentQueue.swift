import Playlist
import Support

/// The segments of one rendition that are listed and not delivered yet, in playlist order.
///
/// Fetches may end in any order. Only the head is delivered.
struct SegmentQueue: Sendable {
    enum Entry: Sendable {
        case segment(PendingSegment)
        /// Lost segments, and those of them that were listed.
        case loss(SegmentLoss, [MediaSegment])
        /// The upstream restarted its numbers here.
        case discontinuity
    }

    /// Entries before `head` were delivered and hold nothing.
    var entries: [Entry] = []
    var head = 0
    var skipped = SkippedSegments()
    var inFlight = 0
    /// The index after the last entry for which an attempt was made.
    var startedEnd = 0
    /// Segments in a row that were much shorter than their EXTINF and no longer at the next attempt: the EXTINFs are wrong.
    var shortRetriesInVain = 0
    static let maxShortRetriesInVain = 2
    /// Playing time of all segments that were ever started or lost.
    private(set) var startedDuration = Duration.zero
    /// Playing time of all lost segments, as far as the playlists listed it.
    var lostDurations: [SegmentLoss.Cause: Duration] = [:]
    /// Bytes fetched and not delivered yet.
    var heldBytes = 0
    /// The larger of the last two bodies, which is the expected size of the next ones.
    private(set) var recentSize = 0
    private var lastSize = 0
    /// When another rendition delivered media that waits for the head; nil if none did since the last delivery.
    var otherDeliveredAt: Duration?
    private let seed: UInt64

    /// - Parameter seed: for the jitter of the pauses between attempts.
    init(seed: UInt64 = 0) { self.seed = seed }

    /// The number of losses counted at once. With more, a rendition is ahead of any other in any case.
    private static let maxCountedLosses: UInt64 = 1000

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }

    /// - Parameter dateRanges: those of the playlist, if this is the first segment that the playlist added.
    mutating func append(
        _ segment: MediaSegment, _ requests: SegmentRequests, dateRanges: [DateRange] = [], at now: Duration
    ) {
        entries.append(.segment(PendingSegment(segment, requests, dateRanges: dateRanges, seed: seed, at: now)))
    }

    /// - Parameters:
    ///   - segments: the lost segments that were listed.
    ///   - segmentDuration: the approximate duration of each lost segment.
    mutating func append(_ loss: SegmentLoss, of segments: [MediaSegment], segmentDuration: Duration) {
        entries.append(.loss(loss, segments))
        if segments.isEmpty { addLost(segmentDuration, loss.cause, count: loss.count) }
        for segment in segments { addLost(segment.duration, loss.cause) }
        addStarted(segmentDuration, count: loss.count)
    }

    /// Appends a discontinuity, after which the numbers of the queued segments mean nothing.
    mutating func appendDiscontinuity(at now: Duration) {
        updatePending { $0.remove(at: now) }
        entries.append(.discontinuity)
    }

    /// Records that later playlists list the queued segments under other numbers.
    mutating func renumber() { updatePending { $0.renumber() } }

    /// Updates the queued segments from a newer playlist.
    mutating func refresh(from playlist: MediaPlaylist, base: String, _ cache: ResourceCache, at now: Duration) {
        updatePending { $0.refresh(from: playlist, base: base, cache, at: now) }
    }

    /// Whether the URL of a segment was refused and a newer playlist may have another one.
    var awaitsPlaylist: Bool {
        entries[head...].contains { entry in
            if case .segment(let pending) = entry { pending.awaitsPlaylist } else { false }
        }
    }

    /// The next segment to deliver; nil if a loss or a discontinuity precedes it.
    var headSegment: PendingSegment? {
        guard head < entries.count, case .segment(let pending) = entries[head] else { return nil }
        return pending
    }

    /// Whether the next segment to deliver has failed at least once.
    var isRetrying: Bool {
        headSegment.map { $0.retrySchedule.failures > 0 } ?? false
    }

    /// Adds to `startedDuration`, with limits that keep the sum far below the largest `Duration`.
    mutating func addStarted(_ duration: Duration, count: UInt64 = 1) {
        startedDuration += min(duration, .seconds(3600)) * Int(min(count, Self.maxCountedLosses))
    }

    /// Adds to `lostDurations`, with the same limits.
    mutating func addLost(_ duration: Duration, _ cause: SegmentLoss.Cause, count: UInt64 = 1) {
        lostDurations[cause, default: .zero] +=
            min(duration, .seconds(3600)) * Int(min(count, Self.maxCountedLosses))
    }

    mutating func recordBody(byteCount: Int) {
        heldBytes += byteCount
        recentSize = max(byteCount, lastSize)
        lastSize = byteCount
    }

    mutating func updatePending(_ update: (inout PendingSegment) -> Void) {
        StepCounter.add(count)
        for index in head..<entries.count {
            guard case .segment(var pending) = entries[index] else { continue }
            entries[index] = .discontinuity  // the body has one owner
            update(&pending)
            entries[index] = .segment(pending)
        }
    }
}
