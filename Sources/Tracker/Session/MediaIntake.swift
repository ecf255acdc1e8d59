import Fetch
import Playlist
import Support

/// Fetches the segments that the renditions of a session list, with their keys and maps, and delivers them in order.
struct MediaIntake: Sendable {
    /// A change of URLs that failed requests ask for.
    struct Remedy: Equatable, Sendable {
        /// Whether a token appears to have expired.
        var needsFreshURLs = false
        /// Whether another redundant variant is worth a try.
        var needsNextVariant = false
    }

    private let policy: UpstreamSession.Policy
    /// Main first.
    var renditions: [RenditionTracker] = []
    var requests: SessionRequests
    var cache: ResourceCache
    var stall: MediaStallEscalation
    /// The gaps that are listed instead of the main rendition's segments.
    private var listedGaps = ListedGaps()
    /// When the main rendition's last delivered segment ended by its date; nil if it had none.
    private var deliveredEnd: ProgramDateTime?
    /// The dates of the main rendition's segments that were lost last, in milliseconds since 1970: what fails of the others
    /// there is not waited for.
    private var lostDates: [Range<Int64>] = []
    private static let mostLostDates = 64
    private var burstHold = BurstHold()
    /// Segments of audio and video that were handed downstream, until their outcome is known.
    private var delivering = DeliveringSegments()
    private(set) var failedResourceTries = 0
    /// Since when the main rendition is drained.
    private var mainDrainedAt: Duration?
    /// Whether no media, keys and maps are requested.
    private var isPaused = false
    /// Whether the next segment of the main rendition is not waited for if later ones are ready.
    var isPassedOver = false

    init(_ policy: UpstreamSession.Policy, number: UInt64) {
        self.policy = policy
        requests = SessionRequests(policy, number: number)
        cache = ResourceCache(byteLimit: policy.limits.resourceBytes, seed: policy.seed)
        stall = MediaStallEscalation(giveUp: policy.giveUp)
    }

    /// Delivers and starts what is due.
    ///
    /// Delivered segments make room for new ones. Resources precede new segments, because fetched segments may wait for
    /// them. New segments start with their own resources.
    mutating func perform(at now: Duration) {
        deliver(at: now)
        guard !isPaused else { return }
        cache.removeUnneeded(at: now) { resource in renditions.contains { $0.queue.needs(resource) } }
        while startDueResource(at: now, where: { _ in true }) {}
        startSegments(at: now)
        raceLateSegments(at: now)
    }

    mutating func pause(at now: Duration) {
        isPaused = true
        requests.cancelMedia()
        for index in renditions.indices { renditions[index].queue.abandonAttempts() }
        cache.abandonAttempts(at: now)
    }

    mutating func resume() { isPaused = false }

    /// Excludes a time in which nothing could be tried from the silences after which the session gives up.
    mutating func postponeGivingUp(by time: Duration) {
        for index in renditions.indices { renditions[index].stallEscalation.postponeGivingUp(by: time) }
        stall.postponeGivingUp(by: time)
    }

    /// Follows another rendition from now on. Subtitles stay the last ones.
    mutating func insert(_ rendition: RenditionTracker) {
        renditions.insert(rendition, at: renditions.firstIndex { $0.role.isSubtitles } ?? renditions.endIndex)
    }

    mutating func remove(_ role: RenditionRole) {
        renditions.removeAll { $0.role == role }
        requests.cancelAll(of: role)
        requests.report(.released(role))
        requests.deliver(.ended(dateRanges: []), of: role)
    }

    /// Follows a rendition no longer of which nothing was delivered.
    mutating func drop(at index: Int) { requests.cancelAll(of: renditions.remove(at: index).role) }

    /// Drops what is listed, because only the playlists are followed.
    mutating func discard() {
        for index in renditions.indices where !renditions[index].queue.isEmpty {
            renditions[index].queue = SegmentQueue()
        }
    }

    func deadlines(after now: Duration) -> [Duration?] {
        var deadlines = [trackEndLimit, cache.nextDeadline, burstHold.deadline, stall.nextDeadline]
        deadlines.reserveCapacity(deadlines.count + 3 * renditions.count)
        for index in renditions.indices {
            deadlines.append(renditions[index].nextDeadline(after: now))
            deadlines.append(nextLoss(of: index)?.at)
            deadlines.append(renditions[index].queue.raceableSince.map { $0 + requests.lateAfter })
        }
        return deadlines
    }

    // MARK: - Requests

    /// Starts segments as far as the policy allows, the earliest in playing time first, then their keys and maps.
    private mutating func startSegments(at now: Duration) {
        let started = startMedia(at: now) + startSubtitles(at: now)
        for resource in started.flatMap(\.resources) {
            cache.request(resource, at: now)
            _ = startDueResource(at: now) { $0 == resource }
        }
    }

    private mutating func startMedia(at now: Duration) -> [SegmentRequests] {
        var started: [SegmentRequests] = []
        while mediaInFlight < policy.maxInFlight, let next = nextStart(requests.admission(at: now)),
            let segment = start(next.startable, of: next.index, at: now)
        {
            started.append(segment)
        }
        return started
    }

    /// The segments of one subtitle rendition that are fetched at once. A playlist begins well before the video, and slow
    /// answers one by one would come too late for the first segments.
    private static let subtitlesInFlight = 3
    /// The segments of all subtitle renditions that are fetched at once, if each has one.
    private static let allSubtitlesInFlight = 8

    /// Starts one segment of each subtitle rendition that has none in flight, and further ones if there are few renditions.
    private mutating func startSubtitles(at now: Duration) -> [SegmentRequests] {
        var started: [SegmentRequests] = []
        let subtitles = renditions.indices.filter { renditions[$0].role.isSubtitles && mayStart($0) }
        for count in 0..<Self.subtitlesInFlight {
            for index in subtitles where renditions[index].queue.inFlight == count && isInStep(index) {
                let all = subtitles.reduce(0) { $0 + renditions[$1].queue.inFlight }
                guard count == 0 || all < Self.allSubtitlesInFlight,
                    let next = startable(index, requests.admission(at: now)),
                    let segment = start(next, of: index, at: now)
                else { continue }
                started.append(segment)
            }
        }
        return started
    }

    private mutating func start(
        _ startable: SegmentQueue.Startable, of index: Int, at now: Duration
    ) -> SegmentRequests? {
        let byteLimit = byteLimit(of: startable, in: renditions[index])
        let role = renditions[index].role
        let isHeld = !startable.isHead && !role.isSubtitles
        let started = renditions[index].queue.start(
            startable, as: requests.nextID, byteLimit: isHeld ? byteLimit : nil, at: now)
        guard let (segment, timeouts) = started else { return nil }
        requests.start(
            segment.media, for: .segment(role, segment.media), timeouts: timeouts, byteLimit: byteLimit, at: now)
        return segment
    }

    /// Starts a second request for each segment that is late and that nothing can be delivered before.
    ///
    /// The first one to end cancels the other. A request that hangs costs no more than that of another connection.
    private mutating func raceLateSegments(at now: Duration) {
        for index in renditions.indices where !renditions[index].role.isSubtitles {
            guard let (late, request) = renditions[index].queue.late(before: now - requests.lateAfter),
                requests.admission(at: now).admits(request.url)
            else { continue }
            // Without room for a body as large as the last ones, the first request has to do.
            let byteLimit = min(policy.limits.headBytes(of: renditions[index].role), roomAhead)
            guard byteLimit > 0, byteLimit >= renditions[index].queue.totals.recentSize else { continue }
            renditions[index].queue.race(late, as: requests.nextID, byteLimit: byteLimit)
            requests.start(
                request, for: .segment(renditions[index].role, request), timeouts: 0, isRace: true,
                byteLimit: byteLimit, at: now)
        }
    }

    /// Starts the next key or map that is due, wanted and permitted by its host. Returns whether there was one.
    private mutating func startDueResource(
        at now: Duration, where isWanted: (SegmentResource) -> Bool
    ) -> Bool {
        let admission = requests.admission(at: now)
        let due = cache.start(as: requests.nextID, at: now) { isWanted($0) && admission.admits($0.request.url) }
        guard let due else { return false }
        let timeouts = cache.retrySchedule(of: due)?.timeouts ?? 0
        requests.start(
            due.request, for: .resource(due.request), timeouts: timeouts, revalidation: cache.revalidation(of: due),
            at: now)
        return true
    }

    // MARK: - Choice of the next segment

    /// The largest lead of a rendition over another one, in target durations.
    private static let lead = 2
    /// The largest lead of subtitles, which begin before the video and so have more of their playlist at the same moment.
    private static let subtitleLead = 16

    private func nextStart(_ admission: FetchAdmission) -> (index: Int, startable: SegmentQueue.Startable)? {
        let places = min(policy.maxInFlight, policy.maxConnections ?? policy.maxInFlight)
        let mayStartFurther = furtherInFlight < max(1, places / 2)
        let media = renditions.indices.filter {
            let role = renditions[$0].role
            return !role.isSubtitles && mayStart($0) && (mayStartFurther || !role.isFurther)
        }
        let candidates = media.filter(isInStep).compactMap { index in
            startable(index, admission).map { (index: index, startable: $0) }
        }
        let (hasRoom, room) = (expectedBytes < policy.limits.aheadBytes, roomAhead)
        let mayStartHead = delivering.byteCount == 0 || room >= 0
        return candidates.filter { candidate in
            candidate.startable.isHead && !renditions[candidate.index].role.isFurtherVideo
                ? mayStartHead : hasRoom && room > renditions[candidate.index].queue.totals.recentSize
        }.min {
            renditions[$0.index].queue.totals.startedDuration < renditions[$1.index].queue.totals.startedDuration
        }
    }

    private func startable(_ index: Int, _ admission: FetchAdmission) -> SegmentQueue.Startable? {
        renditions[index].queue.startable(admission, isFinished: renditions[index].cursor.hasEnded)
    }

    /// Whether the main rendition was joined, which all others belong to.
    private func mayStart(_ index: Int) -> Bool { index == 0 || renditions[0].isJoined }

    /// Whether the rendition is not far ahead of another one that has segments to fetch.
    ///
    /// Media that is presented together arrives together, even if the segments of one rendition are small. A rendition
    /// that has subtitles delays no other. Nor does one of a live channel that fails, or is beside the leading track: of a
    /// finished playlist nothing falls behind.
    private func isInStep(_ index: Int) -> Bool {
        let isSubtitles = renditions[index].role.isSubtitles
        let lead = renditions[index].assumedTargetDuration * (isSubtitles ? Self.subtitleLead : Self.lead)
        let own = renditions[index].queue.totals
        return renditions.allSatisfy { other in
            if other.role.isSubtitles || other.queue.isEmpty { return true }
            if !other.cursor.hasEnded, other.role.isFurther || other.queue.isRetrying { return true }
            let totals = other.queue.totals
            // A segment that fails holds up those after it, which were started.
            let isFar = other.cursor.hasEnded && own.deliveredDuration - totals.deliveredDuration > lead
            return !isFar && own.startedDuration - totals.startedDuration <= lead
        }
    }

    /// The largest body of a segment; nil: the configured one. If another segment is delivered before it, the body would
    /// be held: then it is smaller, and a larger one is fetched again when it comes next. A further variant has no more
    /// than what the others leave, whichever of its segments it is.
    private func byteLimit(of startable: SegmentQueue.Startable, in rendition: RenditionTracker) -> Int? {
        let largest = policy.limits.headBytes(of: rendition.role)
        if rendition.role.isSubtitles { return largest }
        if rendition.role.isFurtherVideo { return min(largest, roomAhead) }
        guard startable.isHead else { return min(largest, heldLimit(of: rendition), roomAhead) }
        return rendition.role == .main ? nil : largest
    }

    /// The largest body that is held: an equal part of the room, or twice the size of the last ones.
    private func heldLimit(of rendition: RenditionTracker) -> Int {
        max(policy.limits.aheadBytes / max(1, policy.maxInFlight - 1), rendition.queue.totals.recentSize * 2)
    }

    private var mediaQueues: some Sequence<SegmentQueue> {
        renditions.lazy.filter { !$0.role.isSubtitles }.map(\.queue)
    }

    /// The bytes that may still be fetched ahead of the segments to deliver next.
    private var roomAhead: Int {
        mediaQueues.reduce(policy.limits.aheadBytes - delivering.byteCount) {
            $0 - $1.totals.heldBytes - $1.reservedBytes
        }
    }

    /// Segments in flight of the audio and video beside the leading track, which leave room for it.
    private var furtherInFlight: Int {
        renditions.reduce(0) { $0 + ($1.role.isFurther ? $1.queue.inFlight : 0) }
    }

    private var mediaInFlight: Int { mediaQueues.reduce(0) { $0 + $1.inFlight } }

    /// Audio and video bytes held, and in flight if those segments are as large as the largest of the last two.
    private var expectedBytes: Int {
        mediaQueues.reduce(0) { $0 + $1.totals.heldBytes + ($1.inFlight + 1) * $1.totals.recentSize }
    }

    // MARK: - Answers

    /// Failed attempts for one segment after which another redundant variant is tried (RFC 8216 §4.3.4.2).
    private static let failuresPerVariant = 4

    mutating func settleSegment(
        _ role: RenditionRole, _ request: FetchRequest, _ answer: SessionRequests.Answer,
        at now: Duration
    ) -> Remedy {
        guard let index = renditions.firstIndex(where: { $0.role == role }),
            let (settlement, superseded) = renditions[index].queue.settle(answer.id, request, answer.outcome, at: now)
        else { return Remedy() }
        requests.cancel(superseded)
        switch settlement {
        case .fetched: recordSuccess(of: request, took: answer.took, at: now)
        case .postponed: renditions[index].counts[.postponedSegments] += 1
        case .failed(let attempt):
            renditions[index].counts[.failedAttempts] += 1
            if role == .main { stall.recordFailure(attempt.failure.lossReason) }
            var remedy = reportFailure(attempt, of: request, at: now)
            let isCounted = attempt.failure.prospect != .hostLimited && !role.isOptional
            remedy.needsNextVariant = isCounted && attempt.failures % Self.failuresPerVariant == 0
            return remedy
        }
        return Remedy()
    }

    mutating func settleResource(
        _ request: FetchRequest, _ answer: SessionRequests.Answer, at now: Duration
    ) -> Remedy {
        if let attempt = cache.settle(answer.id, answer.outcome, at: now) {
            failedResourceTries += 1
            stall.recordFailure(request.lossReason(attempt.failure))
            return reportFailure(attempt, of: request, at: now)
        }
        recordSuccess(of: request, took: answer.took, at: now)
        if request.purpose == .key { requests.report(.keyFetched(url: request.url)) }
        return Remedy()
    }

    /// Retries at once what failed on the host that has answered.
    private mutating func recordSuccess(of request: FetchRequest, took duration: Duration, at now: Duration) {
        requests.recordSuccess(of: request, took: duration)
        let host = URIReference.host(of: request.url)
        for index in renditions.indices { renditions[index].queue.retryEarly(on: host, at: now) }
        cache.retryEarly(on: host, at: now)
    }

    private mutating func reportFailure(
        _ attempt: FailedAttempt, of request: FetchRequest, at now: Duration
    ) -> Remedy {
        requests.recordFailure(attempt.failure, of: request, at: now)
        // A limited host was reported when its limit began. Of many failures fewer and fewer are reported, and a URL that
        // stays refused is looked up less and less often.
        let (isRare, prospect) = (attempt.failures.nonzeroBitCount == 1, attempt.failure.prospect)
        if isRare && prospect != .hostLimited || attempt.isLast {
            requests.report(.fetchFailed(request, attempt.failure, failures: attempt.failures, isLast: attempt.isLast))
        }
        return Remedy(needsFreshURLs: isRare && prospect == .newURL)
    }

    // MARK: - Deliveries

    /// Delivers, for each rendition, what is ready before the first segment that is waited for: audio and subtitles before
    /// the video that they belong to.
    private mutating func deliver(at now: Duration) {
        // Without its playlist, the audio in the main rendition may take its place.
        if renditions.contains(where: { $0.role == .audio && $0.isUnopened }) { return }
        let isHeld = holdsBurst(at: now)
        for index in renditions.indices where !renditions[index].role.isVideo { deliver(index, at: now) }
        for index in renditions.indices where renditions[index].role.isVideo && !isHeld { deliver(index, at: now) }
    }

    private mutating func deliver(_ index: Int, at now: Duration) {
        let role = renditions[index].role
        while let ready = nextReady(index, at: now) {
            switch ready {
            case .segment(let segment):
                delivering.append(segment, of: role)
                requests.deliver(.segment(segment), of: role)
                guard role == .main else { continue }
                listedGaps.recordDelivery(at: now)
                deliveredEnd = segment.segment.programDateTime?.advanced(by: segment.segment.duration)
                // It waits for its audio and subtitles.
                for other in renditions.indices.dropFirst() {
                    renditions[other].queue.otherDelivered(cache, at: now)
                }
            case .lost(let loss):
                requests.report(.lost(role, loss))
                if role == .main { recordMainLoss(loss) }
                requests.deliver(.lost(loss.withoutListedTime), of: role)
            }
        }
    }

    private mutating func holdsBurst(at now: Duration) -> Bool {
        guard let main = renditions.first, !main.cursor.hasEnded, renditions.contains(where: { !$0.role.isVideo })
        else {
            return false
        }
        let awaitsOthers = renditions.contains { !$0.role.isVideo && $0.isOnItsWay }
        return burstHold.holds(isBurst: main.queue.count > 1, awaitsOthers: awaitsOthers, at: now)
    }

    /// Returns what is ready next, after requesting the keys and maps that it waits for.
    private mutating func nextReady(_ index: Int, at now: Duration) -> SegmentQueue.Ready? {
        for resource in renditions[index].queue.headResources { cache.request(resource, at: now) }
        renditions[index].queue.updateReadiness(cache, at: now)
        if index == 0, let loss = loseLateSegment(at: now) { return .lost(loss) }
        if let ready = renditions[index].popReady(cache, at: now) { return ready }
        guard let loss = nextLoss(of: index), loss.at <= now else { return nil }
        for id in renditions[index].queue.headRequests { requests.cancel(id) }
        if renditions[index].queue.acceptHeldBody() { return renditions[index].popReady(cache, at: now) }
        return loseHead(of: index, loss.cause).map { .lost($0) }
    }

    /// Records that missing time of the main rendition was listed as a gap.
    mutating func recordListedGap(_ duration: Duration) { listedGaps.recordGap(duration) }

    private mutating func recordMainLoss(_ loss: SegmentLoss) {
        if loss.cause != .late { stall.recordFailure(loss.reason) }
        let isListed = loss.duration > .zero
        let count = Int(min(loss.count, Self.mostLost))
        listedGaps.recordLoss(isListed ? loss.duration : renditions[0].assumedTargetDuration * count)
    }

    /// Segments of which the time is counted that a list has left out: more last longer than any outage.
    private static let mostLost: UInt64 = 86_400

    /// Removes the main rendition's next segment if its time was listed as a gap.
    private mutating func loseLateSegment(at now: Duration) -> SegmentLoss? {
        guard listedGaps.isPending, !renditions[0].cursor.hasEnded, let listed = renditions[0].queue.listedDurations,
            listedGaps.isLate(
                listed.head, offset: headOffset, listed: listed.all,
                targetDuration: renditions[0].assumedTargetDuration, at: now)
        else { return nil }
        for id in renditions[0].queue.headRequests { requests.cancel(id) }
        return loseHead(of: 0, .late)
    }

    /// From the end of the main rendition's last delivered segment to the next one, by their dates; nil without dates.
    private var headOffset: Duration? {
        guard let end = deliveredEnd, let start = renditions[0].queue.headDates?.lowerBound else { return nil }
        return .milliseconds(start - end.millisecondsSince1970)
    }

    private mutating func loseHead(of index: Int, _ cause: SegmentLoss.Cause) -> SegmentLoss? {
        if index == 0, let dates = renditions[0].queue.headDates {
            lostDates = lostDates.suffix(Self.mostLostDates - 1) + [dates]
        }
        return renditions[index].loseHead(cause, cache)
    }

    /// Whether the next segment of a rendition failed and belongs to media of the main rendition that was lost.
    private func isUseless(_ head: SegmentPatience.Head, of index: Int) -> Bool {
        guard index > 0, head.firstFailureAt != nil, let dates = renditions[index].queue.headDates else { return false }
        let middle = dates.lowerBound + (dates.upperBound - dates.lowerBound) / 2
        return lostDates.contains { $0.contains(middle) }
    }

    /// When the next segment of a rendition is lost, unless it arrives before.
    private func nextLoss(of index: Int) -> SegmentPatience.Loss? {
        // Once the video has ended, nothing of the others falls behind, and they must not keep the session for ever.
        let main = renditions[0]
        let isFinished = renditions[index].cursor.hasEnded || main.cursor.hasEnded && main.queue.isEmpty
        let patience = renditions[index].patience(policy.patience, isFinished: isFinished)
        guard var head = renditions[index].queue.patienceHead(cache) else { return nil }
        if isPassedOver, index == 0, main.queue.nextReady != nil {
            return SegmentPatience.Loss(at: .zero, cause: .overtaken)
        }
        if isUseless(head, of: index), let failedAt = head.firstFailureAt {
            return SegmentPatience.Loss(at: failedAt, cause: .overtaken)
        }
        // A session that begins in an outage has listed none itself.
        head.gapAt = listedGaps.isUnderWay ? .zero : renditions[index].gapAt
        return patience.loss(of: head)
    }

    /// Until when tracks beside the leading one are waited for that do not end with the main rendition: as long as for a
    /// segment. nil while that is not drained.
    private var trackEndLimit: Duration? {
        guard let main = renditions.first, let mainDrainedAt else { return nil }
        return mainDrainedAt
            + SegmentPatience.limit(configured: policy.patience, targetDuration: main.assumedTargetDuration)
    }

    /// Delivers the ends of renditions that are drained, and ends the session after the last one.
    ///
    /// A companion that does not end with the main rendition is waited for until its outage.
    mutating func endIfDrained(at now: Duration) {
        let mainIsDrained = renditions.first?.isDrained(at: now) ?? false
        mainDrainedAt = mainIsDrained ? mainDrainedAt ?? now : nil
        let isPast = trackEndLimit.map { $0 <= now } ?? false
        for index in renditions.indices where !renditions[index].hasDeliveredEnd {
            let isOver = isPast && renditions[index].role.isFurther && renditions[index].queue.isEmpty
            let isAbandoned =
                mainIsDrained && !renditions[index].isBeingOpened && (renditions[index].isSilent || isOver)
            guard renditions[index].isDrained(at: now) || isAbandoned else { continue }
            renditions[index].hasDeliveredEnd = true
            requests.deliver(.ended(dateRanges: renditions[index].dateRangesAtEnd), of: renditions[index].role)
        }
        if renditions.allSatisfy(\.hasDeliveredEnd) { requests.finish(.drained) }
    }

    // MARK: - Publications

    /// Starts to wait for a publication after the main playlist was read.
    mutating func expectMedia(at now: Duration) {
        guard policy.fetchesMedia, let main = renditions.first else { return }
        if main.cursor.hasEnded { return stall.stop() }
        if !main.queue.isEmpty { stall.expectMedia(targetDuration: main.assumedTargetDuration, at: now) }
    }

    /// Records the outcome of a delivery. A refused audio segment does not count, because silence replaces it.
    ///
    /// - Returns: the length of the outage that ended, if one did.
    mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) -> Duration? {
        delivering.remove(delivery)
        guard let main = renditions.first, delivery.rendition == .main || outcome == .published else { return nil }
        defer { if main.cursor.hasEnded { stall.stop() } }
        return stall.recordOutcome(
            outcome, hasPending: !main.queue.isEmpty, targetDuration: main.assumedTargetDuration, at: now)
    }
}

/// The segments that were handed downstream and are not processed yet. Their bodies take memory until then.
private struct DeliveringSegments: Sendable {
    private struct Entry: Sendable {
        let role: RenditionRole
        let mediaSequence: UInt64
        let byteCount: Int
    }

    private var entries: [Entry] = []

    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

    mutating func append(_ segment: TrackedSegment, of role: RenditionRole) {
        guard !role.isSubtitles else { return }
        entries.append(
            Entry(role: role, mediaSequence: segment.segment.mediaSequence, byteCount: segment.body.count))
    }

    mutating func remove(_ delivery: Delivery) {
        guard case .segment(let segment) = delivery.content else { return }
        entries.removeAll { $0.role == delivery.rendition && $0.mediaSequence == segment.segment.mediaSequence }
    }
}
