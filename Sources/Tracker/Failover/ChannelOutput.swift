import Playlist

/// What a channel handed downstream, whichever source it was of: up to where it was published, since when nothing was,
/// and how much of its time lacks.
struct ChannelOutput: Sendable {
    /// Where another source has to go on.
    private(set) var edge: PublishedEdge
    /// When something was published; before, when the session began.
    private(set) var silentSince = Duration.zero
    private(set) var hasPublished = false
    private var gapTimer: OutageGapTimer
    /// Of the first list that viewers saw; nil before, and of a finished programme.
    private var targetDuration: Duration?
    /// As in `ChannelSession.Policy`.
    private let resumedTargetDuration: Duration?
    /// Segments handed over of which it was not heard yet what became of them.
    private var pendingOutcomes = 0

    init(_ policy: ChannelSession.Policy) {
        edge = PublishedEdge(policy.joinPoint)
        gapTimer = OutageGapTimer(patience: policy.gapTolerance)
        resumedTargetDuration = policy.resumedTargetDuration
    }

    /// Nothing is known to lack, or to be given up for, before that is heard.
    var awaitsOutcome: Bool { pendingOutcomes > 0 }
    /// Somebody watches, of this process or of an earlier one.
    var hasViewers: Bool { hasPublished || resumedTargetDuration != nil }
    /// Time is being given out as missing.
    var isEmittingGaps: Bool { gapTimer.isFilling }
    /// Given out as missing so far.
    var gapDuration: Duration { gapTimer.filled }
    /// When the next target duration is missing; nil when none ever is.
    var nextGapAt: Duration? { gapUnit.flatMap { gapTimer.deadline($0) } }

    /// What is given out as missing is counted in these.
    private var gapUnit: Duration? { targetDuration ?? resumedTargetDuration }

    mutating func start(at now: Duration) {
        silentSince = now
        if let target = resumedTargetDuration { gapTimer.recordDelivery(target, targetDuration: target, at: now) }
    }

    /// Something is handed downstream. Behind the channel's end nothing is missing.
    mutating func record(_ delivery: Delivery) {
        if delivery.isMedia { pendingOutcomes += 1 }
        if delivery.endsChannel { gapTimer.stop() }
    }

    /// Of a finished programme nothing is ever missing; behind a backup that ends all that comes later is.
    mutating func record(_ event: UpstreamEvent) {
        switch event {
        case .playlistEnded(.main): gapTimer.stop()
        case .joined(let joined) where joined.rendition == .main:
            targetDuration = joined.isVOD ? nil : targetDuration ?? joined.targetDuration
            if joined.isVOD { gapTimer.stop() }
        case .backup(_, .joined(let joined)) where joined.rendition == .main:
            targetDuration = targetDuration ?? joined.targetDuration
        default: break
        }
    }

    /// What was handed over is published, or cannot be.
    mutating func recordOutcome(_ delivery: Delivery, _ reception: DeliveryOutcome, at now: Duration) {
        pendingOutcomes -= 1
        switch reception {
        case .refused: return
        case .held: break
        case .published: (hasPublished, silentSince) = (true, now)
        }
        edge.note(delivery)
    }

    /// The output's edge goes on with it.
    mutating func recordProgress(with delivery: Delivery, at now: Duration) {
        guard let targetDuration, delivery.rendition == .main, case .segment(let tracked) = delivery.content else {
            return
        }
        gapTimer.recordDelivery(tracked.segment.duration, targetDuration: targetDuration, at: now)
    }

    /// What is missing by `now` and was not given out yet.
    mutating func dueGaps(at now: Duration) -> [Delivery.Content] {
        guard let gapUnit else { return [] }
        return Array(repeating: .outageGap(gapUnit), count: gapTimer.dueGapCount(at: now, targetDuration: gapUnit))
    }
}

extension Delivery {
    /// With the channel's own upstream.
    fileprivate var endsChannel: Bool {
        if case .ended = content { rendition == .main && source == 0 } else { false }
    }
}
