import Playlist

/// The media that a channel has handed downstream, from whichever source: where it ends, since when nothing was
/// published, and how much time is missing.
struct ChannelOutput: Sendable {
    /// Where another source has to join.
    private(set) var edge: PublishedEdge
    /// When a segment was last published; before the first one, when the session began.
    private(set) var silentSince = Duration.zero
    private(set) var hasPublished = false
    private var gapTimer: OutageTimer
    /// Target duration of the first live playlist that was published; nil before it is known, and for a VOD playlist.
    private var targetDuration: Duration?
    /// As in `ChannelSession.Policy`.
    private let resumedTargetDuration: Duration?
    /// Whether a playlist failed since the last delivery: what is listed at once afterward is no habit of the upstream.
    private var hasFailed = false
    /// Segments handed downstream whose outcome is not known yet.
    private var pendingOutcomes = 0

    init(_ policy: ChannelSession.Policy) {
        edge = PublishedEdge(policy.joinPoint)
        gapTimer = OutageTimer(tolerance: policy.gapTolerance)
        resumedTargetDuration = policy.resumedTargetDuration
    }

    /// Whether a segment's outcome is pending. Until it is known, no gap is emitted and the channel does not give up.
    var awaitsOutcome: Bool { pendingOutcomes > 0 }
    /// Whether this process or an earlier one has published anything.
    var hasViewers: Bool { hasPublished || resumedTargetDuration != nil }
    var isEmittingGaps: Bool { gapTimer.isEmittingGaps }
    var gapDuration: Duration { gapTimer.gapDuration }
    /// When the next outage gap is due; nil if none is expected.
    var nextGapAt: Duration? { gapUnit.flatMap { gapTimer.deadline($0) } }

    private var gapUnit: Duration? { targetDuration ?? resumedTargetDuration }

    mutating func start(at now: Duration) {
        silentSince = now
        if let target = resumedTargetDuration { gapTimer.recordDelivery(target, targetDuration: target, at: now) }
    }

    /// Records that `delivery` is handed downstream. After the channel's end no time is missing.
    mutating func record(_ delivery: Delivery) {
        if delivery.isMedia { pendingOutcomes += 1 }
        if delivery.endsChannel { gapTimer.stop() }
    }

    /// Records an event of the active source: it may say what playlist is published.
    ///
    /// A VOD playlist has no outage gaps. After the ENDLIST of a backup, all later time is missing. The silence of a
    /// playlist that ended and goes on begins anew.
    mutating func record(_ event: UpstreamEvent, at now: Duration) {
        switch event {
        case .playlistEnded(.main): gapTimer.stop()
        case .playlistReopened(.main):
            if hasPublished, let gapUnit { gapTimer.recordDelivery(.zero, targetDuration: gapUnit, at: now) }
        case .lost(.main, let loss), .backup(_, .lost(.main, let loss)):
            if loss.cause == .late, !hasFailed { gapTimer.recordLate(loss.duration) }
        case .playlistFailed(.main, _), .backup(_, .playlistFailed(.main, _)): hasFailed = true
        case .joined(let joined) where joined.rendition == .main:
            targetDuration = joined.isVOD ? nil : targetDuration ?? joined.targetDuration
            if joined.isVOD { gapTimer.stop() }
        case .backup(_, .joined(let joined)) where joined.rendition == .main:
            targetDuration = targetDuration ?? joined.targetDuration
        default: break
        }
    }

    mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        pendingOutcomes -= 1
        switch outcome {
        case .refused: return
        case .held, .awaitingTrack: break
        case .published: (hasPublished, silentSince) = (true, now)
        }
        edge.advance(past: delivery)
    }

    mutating func recordProgress(with delivery: Delivery, at now: Duration) {
        guard let targetDuration, delivery.rendition == .main, case .segment(let tracked) = delivery.content else {
            return
        }
        gapTimer.recordDelivery(tracked.segment.duration, targetDuration: targetDuration, at: now)
        hasFailed = false
    }

    /// Records that a source has other numbers from now on, whose first unpublished one is `next`.
    mutating func renumber(_ source: Int, from next: UInt64) { edge.renumber(source, from: next) }

    /// Leaves out a time in which nothing ran.
    mutating func postponeGaps(by time: Duration) { gapTimer.postpone(by: time) }

    /// Returns the outage gaps that are due by `now` and were not emitted yet.
    /// - Parameter isFetching: whether the active source has a segment on its way that ends the silence.
    mutating func dueGaps(at now: Duration, isFetching: Bool) -> [Duration] {
        guard let gapUnit else { return [] }
        let count = gapTimer.dueGapCount(at: now, targetDuration: gapUnit, isFetching: isFetching)
        edge.advance(overGaps: count, of: gapUnit)
        return Array(repeating: gapUnit, count: count)
    }
}

extension Delivery {
    /// Whether this is the end of the primary source.
    fileprivate var endsChannel: Bool {
        if case .ended = content { rendition == .main && source == 0 } else { false }
    }
}
