/// Decides when a live media playlist is loaded next, so that each load comes just after a segment is published.
///
/// 1. *Search.* The upstream lists each segment at about the same offset from its media time. A load that finds the
///    segment bounds the offset from above, a load that does not from below. Each load halves the interval.
/// 2. *Hold.* Once the bounds are narrow, loads come just after them. `PublicationBounds` follows drift and jitter.
/// 3. *Scout.* Now and then, one load more comes a quarter of a segment earlier. If it finds the segment, the upstream
///    has moved, and the search begins anew. If not, the planned load follows, and nothing is late.
/// 4. *Budget.* Loads that find nothing are limited by `PollingBudget`. Without a budget for a miss, loads come at the
///    upper bound. When misses exhaust it, the standard's schedule takes over until a request is saved.
///
/// After a load that finds nothing, the next comes a quarter of a segment later, and then the standard's come. While the
/// schedule holds, one more comes a sixteenth of a segment later. No load comes while a cache would repeat the last answer.
struct EdgeSchedule: Equatable, Sendable {
    struct Load: Equatable, Sendable {
        var began: Duration
        var ended: Duration
        /// EXTINF of the segments that no load before listed, in order; those from the join point on at first.
        var newSegments: [Duration]
        var targetDuration: Duration
        var freshness = CacheFreshness()
        /// When the newest segment ended by its own date, in session time; nil if unknown. It may be wrong.
        var datedEnd: Duration?
        var standard: Duration
    }

    /// The shortest time from a find to the next load: a part of a segment, and at least this. No two loads are closer.
    private static let (shortestPart, shortest) = (4, Duration.milliseconds(250))
    /// The wait after the first planned load that finds nothing, in parts of a segment.
    private static let soonPart = 16
    /// The time between scouts in segments, and at least.
    private static let (scoutSegments, scoutInterval) = (8, Duration.seconds(40))
    /// A publication comes a moment after the end of its media, if the dates are right.
    private static let (hintDelay, hintWidth) = (Duration.milliseconds(30), Duration.milliseconds(60))

    private var bounds: PublicationBounds?
    private var budget = PollingBudget()
    private var rhythm = UpdateRhythm()
    /// The last four EXTINF.
    private var durations: [Duration] = []
    /// Duration of all that was listed since joining.
    private var mediaTime = Duration.zero
    /// Offsets to try in the search before halving.
    private var hints: [Duration] = []
    private var hasSeenCache = false
    /// Whether the standard's schedule is in use until the budget recovers.
    private(set) var isExhausted = false

    /// When the next segment is requested. A load well before that is a scout, or was wanted for another reason.
    private var planned = Duration.zero
    private var foundAt = Duration.zero
    /// Start of the last load that did not list the next segment, or of the last find.
    private var absentAt = Duration.zero
    private var missedAt = Duration.zero
    /// Planned loads that found nothing since the last find.
    private var emptyLoads = 0
    /// Whether a load found nothing well before the planned one.
    private var hasScouted = false

    /// Whether the moment of publication is known.
    var isHolding: Bool { bounds?.isNarrow(segmentDuration) ?? false }

    /// Begins anew at the next load, because the media time is unknown.
    mutating func restart() { (bounds, hints) = (nil, []) }

    mutating func next(after load: Load) -> Duration {
        if load.freshness.age >= .seconds(1) { hasSeenCache = true }
        if load.newSegments.isEmpty { return max(retry(after: load), freshAgain(after: load)) }
        record(load)
        (foundAt, absentAt, emptyLoads, hasScouted) = (load.began, load.began, 0, false)
        guard !isExhausted else { return max(load.standard, soonest(after: load)) }
        planned = max(plan(after: load), soonest(after: load))
        return scout(after: load) ?? planned
    }

    /// Duration of the longest of the last segments.
    private var segmentDuration: Duration { durations.max() ?? .zero }

    private var shortestWait: Duration { Self.shortestWait(segmentDuration: segmentDuration) }

    static func shortestWait(segmentDuration: Duration) -> Duration { max(shortest, segmentDuration / shortestPart) }

    private func soonest(after load: Load) -> Duration { max(load.began + shortestWait, freshAgain(after: load)) }

    private func freshAgain(after load: Load) -> Duration {
        load.ended + min(repeatTime(of: load), load.targetDuration)
    }

    private func repeatTime(of load: Load) -> Duration {
        load.freshness.repeatTime(segmentDuration: segmentDuration, hasSeenCache: hasSeenCache)
    }

    // MARK: - A load that found nothing

    /// Waits after the first planned loads that find nothing. The standard's follow.
    ///
    /// A segment whose publication is known is late by a little, as a rule. A scout was the one load more that a stall
    /// may cost.
    private var earlyWaits: [Duration] {
        guard isHolding else { return [shortestWait] }
        let soon = max(Self.shortest, segmentDuration / Self.soonPart)
        return hasScouted ? [soon] : [soon, shortestWait]
    }

    private mutating func retry(after load: Load) -> Duration {
        absentAt = max(absentAt, load.began)
        missedAt = load.began
        guard bounds != nil, !isExhausted else { return load.standard }
        if load.began + shortestWait / 2 < planned {
            hasScouted = true
            return max(planned, load.began + Self.shortest)
        }
        emptyLoads += 1
        if emptyLoads == 1 { budget.spend() }
        guard emptyLoads <= earlyWaits.count else { return max(load.standard, load.began + shortestWait) }
        return load.began + earlyWaits[emptyLoads - 1]
    }

    // MARK: - A load that found segments

    private mutating func record(_ load: Load) {
        durations = (durations + load.newSegments).suffix(4).map { min($0, load.targetDuration) }
        guard var bounds else { return join(load) }
        mediaTime += load.newSegments.reduce(.zero, +)
        rhythm.append(load.newSegments, continuesLast: load.began - foundAt < segmentDuration / 2)
        budget.earn(segments: load.newSegments.count)
        let evidence = PublicationBounds.Evidence(
            absent: absentAt - mediaTime, present: load.began - mediaTime, isStall: emptyLoads > earlyWaits.count)
        if isExhausted {
            isExhausted = !budget.permitsRequest
            if !isExhausted { bounds.learn(evidence, segmentDuration) }
        } else {
            bounds.record(evidence, segmentDuration: segmentDuration)
            isExhausted = budget.isExhausted
        }
        self.bounds = bounds
    }

    private mutating func join(_ load: Load) {
        (mediaTime, rhythm, missedAt) = (.zero, UpdateRhythm(), load.began)
        rhythm.join(lastSegment: load.newSegments.last ?? .zero)
        bounds = PublicationBounds(absent: load.began - segmentDuration, present: load.began)
        if let end = load.datedEnd { hints = [end + Self.hintDelay, end + Self.hintDelay - Self.hintWidth] }
    }

    /// When the next segment is requested: just after its publication, but not much later than it is expected.
    private mutating func plan(after load: Load) -> Duration {
        guard let bounds else { return load.standard }
        // An EXTINF that is far too long must not let the window slide past.
        let update = min(rhythm.nextUpdate(targetDuration: load.targetDuration), load.targetDuration * 2)
        if bounds.isNarrow(segmentDuration) { budget.endGrant() }
        let offset =
            hint(within: bounds)
            ?? bounds.target(
                segmentDuration, mayMiss: budget.permitsRequest, isRepeatedSoon: repeatTime(of: load) <= shortestWait)
        return min(mediaTime + update + offset, load.began + update + shortestWait)
    }

    /// The next hint that tells something new.
    private mutating func hint(within bounds: PublicationBounds) -> Duration? {
        guard !hints.isEmpty, budget.permitsRequest, !bounds.isNarrow(segmentDuration) else { return nil }
        while !hints.isEmpty {
            let hint = hints.removeFirst()
            if hint > bounds.absent + .milliseconds(10), hint < bounds.present - .milliseconds(5) { return hint }
        }
        return nil
    }

    /// When a scout goes before the planned load; nil if none does.
    ///
    /// The cache must not repeat the scout's answer to the planned load.
    private mutating func scout(after load: Load) -> Duration? {
        let repeated = load.freshness.maxAge > .zero ? load.freshness.maxAge + .milliseconds(1250) : .zero
        let scout = planned - max(shortestWait, repeated)
        let interval = max(Self.scoutInterval, segmentDuration * Self.scoutSegments)
        guard isHolding, budget.permitsRequest, planned - missedAt > interval, scout >= soonest(after: load) else {
            return nil
        }
        budget.spend()
        return scout
    }
}

/// The requests that `EdgeSchedule` may make beyond one per segment.
///
/// Each segment earns a quarter of a request. A load that finds nothing, and a scout, cost one. An upstream with equal
/// segments needs a tenth for each; one that cuts at scene changes uses it all. The first three are granted, because the
/// first search needs them.
private struct PollingBudget: Equatable, Sendable {
    private static let earnedPerSegment = 25
    private static let request = 100
    /// The debt after which nothing beyond the standard's schedule is requested until a request is saved.
    private static let exhaustion = -100
    private static let floor = -200

    /// In hundredths of a request.
    private var hundredths = 3 * Self.request

    var permitsRequest: Bool { hundredths >= Self.request }
    var isExhausted: Bool { hundredths <= Self.exhaustion }

    mutating func earn(segments: Int) {
        guard hundredths < Self.request else { return }
        hundredths = min(Self.request, hundredths + Self.earnedPerSegment * min(segments, 100))
    }

    mutating func spend() { hundredths = max(Self.floor, hundredths - Self.request) }

    /// Gives back what is left of the first grant.
    mutating func endGrant() { hundredths = min(hundredths, Self.request) }
}

/// Predicts how much media the next update of a playlist adds.
///
/// An upstream may list two segments at once, or alternate between two durations. An update is predicted from the last
/// ones if they repeat. Otherwise it is as long as the last, or, where the last two differ, as the median of five: a
/// segment that a scene change made longer, or a pod shorter, says nothing about the next.
private struct UpdateRhythm: Equatable, Sendable {
    /// Durations that differ by less than this part of a target duration are equal.
    private static let tolerance = 50

    /// Media added by each of the last updates, newest last.
    private var updates: [Duration] = []
    private var lastSegment = Duration.zero

    mutating func join(lastSegment: Duration) { self.lastSegment = lastSegment }

    /// - Parameter continuesLast: whether the last update came so shortly before that both are parts of one.
    mutating func append(_ segments: [Duration], continuesLast: Bool) {
        lastSegment = segments.last ?? lastSegment
        let last = continuesLast ? updates.popLast() ?? .zero : .zero
        updates.append(segments.reduce(last, +))
        if updates.count > 5 { updates.removeFirst() }
    }

    func nextUpdate(targetDuration: Duration) -> Duration {
        let tolerance = targetDuration / Self.tolerance
        for period in 1...2 where repeats(every: period, over: period + 1, within: tolerance) {
            return updates[updates.count - period]
        }
        guard updates.count > 2, !repeats(every: 1, over: 1, within: tolerance) else { return lastSegment }
        return updates.sorted()[updates.count / 2]
    }

    /// Whether each of the last `count` updates equals the one `period` before it.
    private func repeats(every period: Int, over count: Int, within tolerance: Duration) -> Bool {
        guard updates.count >= count + period else { return false }
        let last = updates.suffix(count + period)
        return zip(last, last.dropFirst(period)).allSatisfy { abs($0 - $1) <= tolerance }
    }
}

private func abs(_ duration: Duration) -> Duration { max(duration, .zero - duration) }
