import Playlist

/// What a channel handed downstream, whichever source it was of: up to where it was published, since when nothing was,
/// and how much of its time lacks.
struct ChannelOutput: Sendable {
    /// Where another source has to go on.
    private(set) var edge: PublishedEdge
    /// When something was published; before, when the session began.
    private(set) var silentSince = Duration.zero
    private(set) var hasPublished = false
    private var fill: OutageFill
    /// Of the first list that viewers saw; nil before, and of a finished programme.
    private var targetDuration: Duration?
    /// As in `ChannelSession.Policy`.
    private let resumedTargetDuration: Duration?
    /// Segments handed over of which it was not heard yet what became of them.
    private var unheard = 0

    init(_ policy: ChannelSession.Policy) {
        edge = PublishedEdge(policy.resumption)
        fill = OutageFill(patience: policy.fillsAfter)
        resumedTargetDuration = policy.resumedTargetDuration
    }

    /// Nothing is known to lack, or to be given up for, before that is heard.
    var isAwaited: Bool { unheard > 0 }
    /// Somebody watches, of this process or of an earlier one.
    var hasViewers: Bool { hasPublished || resumedTargetDuration != nil }
    /// Time is being given out as missing.
    var isFilling: Bool { fill.isFilling }
    /// Given out as missing so far.
    var filled: Duration { fill.filled }
    /// When the next target duration is missing; nil when none ever is.
    var nextMissingAt: Duration? { missingDuration.flatMap { fill.deadline($0) } }

    /// What is given out as missing is counted in these.
    private var missingDuration: Duration? { targetDuration ?? resumedTargetDuration }

    mutating func began(at now: Duration) {
        silentSince = now
        if let target = resumedTargetDuration { fill.delivered(target, targetDuration: target, at: now) }
    }

    /// Something is handed downstream. Behind the channel's end nothing is missing.
    mutating func note(_ delivery: Delivery) {
        if delivery.isMedia { unheard += 1 }
        if delivery.endsChannel { fill.stop() }
    }

    /// Of a finished programme nothing is ever missing; behind a backup that ends all that comes later is.
    mutating func note(_ event: UpstreamEvent) {
        switch event {
        case .endListed(.main): fill.stop()
        case .joined(let joined) where joined.rendition == .main:
            targetDuration = joined.isVOD ? nil : targetDuration ?? joined.targetDuration
            if joined.isVOD { fill.stop() }
        case .ofBackup(_, .joined(let joined)) where joined.rendition == .main:
            targetDuration = targetDuration ?? joined.targetDuration
        default: break
        }
    }

    /// What was handed over is published, or cannot be.
    mutating func heard(_ delivery: Delivery, _ reception: Reception, at now: Duration) {
        unheard -= 1
        switch reception {
        case .refused: return
        case .held: break
        case .published: (hasPublished, silentSince) = (true, now)
        }
        edge.note(delivery)
    }

    /// The output's edge goes on with it.
    mutating func goesOn(with delivery: Delivery, at now: Duration) {
        guard let targetDuration, delivery.rendition == .main, case .segment(let tracked) = delivery.content else {
            return
        }
        fill.delivered(tracked.segment.duration, targetDuration: targetDuration, at: now)
    }

    /// What is missing by `now` and was not given out yet.
    mutating func missing(at now: Duration) -> [Delivery.Content] {
        guard let missingDuration else { return [] }
        return Array(repeating: .missing(missingDuration), count: fill.due(at: now, targetDuration: missingDuration))
    }
}

extension Delivery {
    /// With the channel's own upstream.
    fileprivate var endsChannel: Bool {
        if case .ended = content { rendition == .main && source == 0 } else { false }
    }
}
