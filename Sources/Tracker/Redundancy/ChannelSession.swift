import Playlist

/// One channel's intake: its upstream, and the backups that stand in for it when it is silent.
///
/// One source is published. When it is in an outage, because it lists nothing new or because nothing of what it lists can
/// be published, the next one is opened beside it, and takes over once it is seen to be alive and what it brings could
/// be published; whichever brings media first decides. While a backup is published the channel's own upstream is watched
/// without its media, and comes back when it was healthy for a while. Time during which nothing came is given out as
/// missing, so that the output can go on. Sources that have dates are joined where what was published ends.
package struct ChannelSession: Sendable {
    package struct Policy: Equatable, Sendable {
        /// Of the session with each source.
        package var session: UpstreamSession.Policy
        /// Absolute addresses, in the order in which they are tried.
        package var backups: [String]
        /// Silence after which time is given out as missing; nil: it never is.
        package var fillsAfter: OutageFill.Patience?
        /// How long the channel's own upstream has to be healthy before it is taken back.
        package var homeAfter: Duration
        /// How long a source that was opened in an outage may take to show that it is alive.
        package var candidateLimit: Duration
        /// Where an earlier process of this channel stopped; the number is of its own upstream.
        package var resumption = JoinPoint.edge
        /// Target duration that viewers of an earlier process were told; nil when there are none. They are there before
        /// the upstream is: as long as it cannot be opened, the channel is in an outage.
        package var resumedTargetDuration: Duration?

        package init(
            session: UpstreamSession.Policy, backups: [String] = [], fillsAfter: OutageFill.Patience? = nil,
            homeAfter: Duration = .seconds(60), candidateLimit: Duration = .seconds(30)
        ) {
            self.session = session
            self.backups = backups
            self.fillsAfter = fillsAfter
            self.homeAfter = homeAfter
            self.candidateLimit = candidateLimit
        }
    }

    /// A source on trial: what it brings is held until it takes over.
    private struct Candidate: Sendable {
        var member: SourceMember
        let deadline: Duration
        /// The channel's own upstream, back after a while of health, while the backup is still alive.
        let isHomecoming: Bool
        var held: [UpstreamSession.Effect] = []
        var hasMedia = false
        /// Something of it was examined, and can be published.
        var isUsable = false
        /// Examined, and none of it can be published.
        var refusals = 0
    }

    /// Segments that cannot be published, until a source on trial is not tried any longer.
    private static let mostRefusals = 3

    private let policy: Policy
    private let sources: [String]
    /// The source that is published; nil when it has failed and no other has taken over.
    private var active: SourceMember?
    private var candidate: Candidate?
    /// The channel's own upstream, while a backup is published: its playlists only.
    private var watch: SourceMember?
    private var lastTried = 0
    private var candidateBackoff = Backoff()
    private var nextCandidateAt = Duration.zero
    private var watchBackoff = Backoff()
    private var nextWatchAt = Duration.zero
    private var members: UInt64 = 0
    private var gate: HostGate
    private var fill: OutageFill
    private var published: PublishedEdge
    /// When something was published; before, when the session began.
    private var lastMediaAt = Duration.zero
    private var hasMedia = false
    /// Segments delivered of which it was not heard yet what became of them: nothing is given up for want of them.
    private var unheard = 0
    private var targetDuration: Duration?
    private var lastStatus: UpstreamStatus?
    /// What sources counted that were published before the one that is.
    private var earlier = IntakeCounts()
    private var switches = 0
    private var record = SourceRecord()
    private var isOver = false
    private var armedWake: Duration?
    private var requests: [UpstreamSession.Effect] = []
    private var outputs: [UpstreamSession.Effect] = []

    /// - Parameter upstream: absolute address of the channel's own multivariant or media playlist.
    package init(upstream: String, policy: Policy) {
        self.policy = policy
        sources = [upstream] + policy.backups
        fill = OutageFill(patience: policy.fillsAfter)
        gate = HostGate(maxConnections: policy.session.maxConnections)
        published = PublishedEdge(policy.resumption)
    }

    package mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration
    ) -> [UpstreamSession.Effect] {
        guard !isOver else { return [] }
        switch input {
        case .start:
            lastMediaAt = now
            if let target = policy.resumedTargetDuration { fill.delivered(target, targetDuration: target, at: now) }
            var member = member(of: 0)
            let effects = member.handle(.start, at: now, through: &gate)
            active = member
            publish(effects, at: now)
        case .answered(let id, let outcome): answered(id, outcome, at: now)
        case .received(let delivery, let reception): received(delivery, reception, at: now)
        case .examined(let delivery, let reception): examined(delivery, reception)
        case .wake:
            armedWake = nil
            wakeMembers(at: now)
        }
        if !isOver { decide(at: now) }
        // What one member waits for no more may have been in the way of another.
        if !isOver, gate.isLimiting, candidate != nil || watch != nil { wakeMembers(at: now, ifDue: false) }
        if !isOver { arm(at: now) }
        defer { (requests, outputs) = ([], []) }
        return requests + outputs
    }

    private var hasBackups: Bool { sources.count > 1 }

    /// A year.
    private static let forEver = Duration.seconds(366 * 86_400)

    /// What is given out as missing is counted in these.
    private var missingDuration: Duration? { targetDuration ?? policy.resumedTargetDuration }

    /// - Parameter fetchesMedia: false to watch its playlists only.
    private mutating func member(of source: Int, fetchesMedia: Bool = true) -> SourceMember {
        var session = policy.session
        if hasBackups {
            session.giveUp = nil
        } else if policy.resumedTargetDuration != nil {
            (session.openingTries, session.openingLimit) = (.max, session.giveUp ?? Self.forEver)
        }
        session.fetchesMedia = fetchesMedia
        session.joinsAt = published.joinPoint(of: source)
        defer { members += 1 }
        return SourceMember(source: source, url: sources[source], policy: session, number: members)
    }
}

// MARK: - Inputs

extension ChannelSession {
    private mutating func answered(_ id: FetchID, _ outcome: FetchOutcome, at now: Duration) {
        let input = UpstreamSession.Input.answered(id, outcome)
        if active?.owns(id) == true { handleActive(input, at: now) }
        if candidate?.member.owns(id) == true { handleCandidate(input, at: now) }
        if watch?.owns(id) == true { handleWatch(input, at: now) }
    }

    /// What was delivered is published, or cannot be.
    private mutating func received(_ delivery: Delivery, _ reception: Reception, at now: Duration) {
        guard delivery.isMedia, case .segment(let tracked) = delivery.content else { return }
        unheard -= 1
        if case .refused = reception {} else { published.note(delivery) }
        if reception == .published {
            hasMedia = true
            lastMediaAt = now
            candidateBackoff.reset()
            record.calm()
        }
        if active?.source == delivery.source { handleActive(.received(delivery, reception), at: now) }
        // What is held, for its sound or for a picture to begin with, comes: but not for ever.
        let comes = reception == .published || reception == .held && active?.isInOutage == false
        if comes, delivery.rendition == .main, let targetDuration {
            fill.delivered(tracked.segment.duration, targetDuration: targetDuration, at: now)
        }
    }

    /// What a source on trial brought could be published, or not.
    private mutating func examined(_ delivery: Delivery, _ reception: Reception) {
        guard candidate?.member.source == delivery.source else { return }
        guard case .refused(let why) = reception else {
            candidate?.isUsable = true
            return
        }
        candidate?.refusals += 1
        let error = TrackerError(.nothingUsable(for: .zero, why), url: sources[delivery.source])
        tell(record.failed(delivery.source, error))
    }

    private mutating func wakeMembers(at now: Duration, ifDue: Bool = true) {
        func wants(_ member: SourceMember?) -> Bool {
            guard let member else { return false }
            return !ifDue || member.wakeAt.map { $0 <= now } ?? false
        }
        if wants(active) { handleActive(.wake, at: now) }
        if wants(candidate?.member) { handleCandidate(.wake, at: now) }
        if wants(watch) { handleWatch(.wake, at: now) }
    }

    private mutating func handleActive(_ input: UpstreamSession.Input, at now: Duration) {
        publish(active?.handle(input, at: now, through: &gate) ?? [], at: now)
    }

    private mutating func handleCandidate(_ input: UpstreamSession.Input, at now: Duration) {
        hold(candidate?.member.handle(input, at: now, through: &gate) ?? [], at: now)
    }

    private mutating func handleWatch(_ input: UpstreamSession.Input, at now: Duration) {
        look(watch?.handle(input, at: now, through: &gate) ?? [], at: now)
    }

    /// Effects of the source that is published.
    private mutating func publish(_ effects: [UpstreamSession.Effect], at now: Duration) {
        for effect in effects where !isOver {
            switch effect {
            case .fetch, .cancel, .wake: requests.append(effect)
            case .deliver(let delivery):
                if delivery.isMedia { unheard += 1 }
                if delivery.endsChannel { fill.stop() }
                outputs.append(effect)
            case .report(let event):
                note(event)
                outputs.append(effect)
            case .examine: break
            case .end(let end): activeEnded(end)
            }
        }
    }

    /// Of a finished programme nothing is ever missing; behind a backup that ends all that comes later is.
    private mutating func note(_ event: UpstreamEvent) {
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

    /// The channel ends with its own upstream; a backup that ends, or a source that fails, is replaced.
    private mutating func activeEnded(_ end: SessionEnd) {
        guard hasBackups, let ended = active else { return finish(end) }
        if ended.source == 0, case .drained = end { return finish(end) }
        tell(record.lostActive(ended.source, end, at: ended.listedEnd))
        lastStatus = ended.status
        lastTried = ended.source
        active = nil
    }

    /// Effects of the source on trial.
    private mutating func hold(_ effects: [UpstreamSession.Effect], at now: Duration) {
        for effect in effects {
            switch effect {
            case .fetch, .cancel, .wake: requests.append(effect)
            case .deliver(let delivery):
                if delivery.isMainSegment {
                    candidate?.hasMedia = true
                    if candidate?.isUsable == false { outputs.append(.examine(delivery)) }
                }
                candidate?.held.append(effect)
            case .report: candidate?.held.append(effect)
            case .examine: break
            case .end(let end):
                if candidate?.hasMedia == true, case .drained = end {
                    // A finished programme, handed over whole: what comes behind it is decided when it is published.
                    candidate?.held.append(effect)
                    continue
                }
                if case .drained = end, candidate?.member.source == 0 { return endAtHome(at: now) }
                if case .failed(let error) = end, let source = candidate?.member.source {
                    tell(record.failed(source, error))
                }
                candidate = nil
                nextCandidateAt = now + candidateBackoff.next()
            }
        }
    }

    private mutating func tell(_ event: UpstreamEvent?) {
        if let event { outputs.append(.report(event)) }
    }

    /// The channel's own upstream has ended, and all of it was published, of this source or of another.
    private mutating func endAtHome(at now: Duration) {
        let held = candidate?.held ?? []
        candidate = nil
        publish(held, at: now)
        finish(.drained)
    }

    /// Effects of the channel's own upstream while a backup is published: nobody needs to hear of it.
    private mutating func look(_ effects: [UpstreamSession.Effect], at now: Duration) {
        for effect in effects {
            switch effect {
            case .fetch, .cancel, .wake: requests.append(effect)
            case .deliver, .examine, .report: break
            case .end:
                watch = nil
                nextWatchAt = now + watchBackoff.next()
            }
        }
    }
}

// MARK: - Decisions

extension ChannelSession {
    private mutating func decide(at now: Duration) {
        if hasBackups {
            promote(at: now)
            chooseCandidate(at: now)
            watchHome(at: now)
        }
        guard unheard == 0 else { return }
        if hasBackups { giveUp(at: now) }
        giveOutMissing(at: now)
    }

    /// A candidate that is alive takes over.
    private mutating func promote(at now: Duration) {
        guard var candidate, candidate.isUsable, candidate.member.isAlive, !record.isOver(candidate.member) else {
            return
        }
        candidate.member.isOnTrial = false
        requests += active?.abandon(&gate) ?? []
        if let left = active?.status ?? lastStatus { earlier += IntakeCounts(left) }
        self.candidate = nil
        (active, lastStatus) = (candidate.member, nil)
        switches += 1
        lastTried = candidate.member.source
        let source = candidate.member.source
        record.tookOver(source)
        outputs.append(.report(.switched(to: source, url: sources[source])))
        publish(published.trimming(candidate.held), at: now)
        if source == 0 { dropWatch() }
    }

    /// In an outage one source after the other is tried, for as long as none brings anything.
    private mutating func chooseCandidate(at now: Duration) {
        let isNeeded = active?.isInOutage ?? true
        if let candidate {
            let isInVain =
                candidate.deadline <= now || !isNeeded && !candidate.isHomecoming || record.isOver(candidate.member)
                || candidate.refusals >= Self.mostRefusals
            guard isInVain else { return }
            dropCandidate()
            nextCandidateAt = now + candidateBackoff.next()
        }
        if isNeeded, nextCandidateAt <= now { tryNext(at: now) }
    }

    private mutating func tryNext(at now: Duration) {
        var next = (lastTried + 1) % sources.count
        if next == active?.source { next = (next + 1) % sources.count }
        lastTried = next
        if next == 0 { dropWatch() }
        open(next, isHomecoming: false, at: now)
    }

    private mutating func open(_ source: Int, isHomecoming: Bool, at now: Duration) {
        var member = member(of: source)
        member.isOnTrial = true
        let effects = member.handle(.start, at: now, through: &gate)
        candidate = Candidate(member: member, deadline: now + policy.candidateLimit, isHomecoming: isHomecoming)
        tell(record.tries(source, url: sources[source]))
        hold(effects, at: now)
    }

    /// While a backup is published, the channel's own upstream is looked after.
    private mutating func watchHome(at now: Duration) {
        guard let active, active.source != 0, candidate?.member.source != 0 else { return }
        if let since = watch?.healthySince, since + policy.homeAfter <= now {
            dropWatch()
            dropCandidate()
            return open(0, isHomecoming: true, at: now)
        }
        if watch?.listedEnd != nil {
            // It is asked whether it has another list by now.
            requests += watch?.abandon(&gate) ?? []
            watch = nil
            nextWatchAt = now + watchBackoff.next()
        }
        guard watch == nil, nextWatchAt <= now else { return }
        var member = member(of: 0, fetchesMedia: false)
        let effects = member.handle(.start, at: now, through: &gate)
        watch = member
        look(effects, at: now)
    }

    private mutating func dropWatch() {
        requests += watch?.abandon(&gate) ?? []
        watch = nil
        watchBackoff.reset()
    }

    private mutating func dropCandidate() {
        requests += candidate?.member.abandon(&gate) ?? []
        candidate = nil
    }

    /// No source brought anything for too long, or none could be opened in the first place.
    private mutating func giveUp(at now: Duration) {
        let isNew = !hasMedia && policy.resumedTargetDuration == nil
        if isNew, candidate == nil, active == nil, record.failures.count == sources.count,
            let first = record.failures[0]
        {
            return finish(.failed(first))
        }
        guard let deadline = giveUpDeadline, deadline <= now else { return }
        let silence = now - lastMediaAt
        var reason = TrackerError.Reason.silent(for: silence)
        if case .media(let why) = trouble?.cause { reason = .nothingUsable(for: silence, why) }
        finish(.gaveUp(TrackerError(reason, url: sources[active?.source ?? lastTried])))
    }

    private var giveUpDeadline: Duration? {
        guard hasBackups, active?.isInOutage ?? true else { return nil }
        return policy.session.giveUp.map { lastMediaAt + $0 }
    }

    private mutating func giveOutMissing(at now: Duration) {
        guard let missingDuration else { return }
        let count = fill.due(at: now, targetDuration: missingDuration)
        for _ in 0..<count {
            let source = active?.source ?? lastTried
            outputs.append(
                .deliver(Delivery(rendition: .main, content: .missing(missingDuration), source: source)))
        }
    }

    private mutating func finish(_ end: SessionEnd) {
        lastStatus = active?.status ?? lastStatus
        requests += active?.abandon(&gate) ?? []
        dropCandidate()
        dropWatch()
        active = nil
        isOver = true
        outputs.append(.end(end))
    }

    private mutating func arm(at now: Duration) {
        var deadlines = [active?.wakeAt, candidate?.member.wakeAt, watch?.wakeAt, giveUpDeadline, candidate?.deadline]
        deadlines.append(missingDuration.flatMap { fill.deadline($0) })
        deadlines.append(watch?.healthySince.map { $0 + policy.homeAfter })
        if hasBackups, active?.source != 0, watch == nil { deadlines.append(nextWatchAt) }
        if hasBackups, candidate == nil, active?.isInOutage ?? true { deadlines.append(nextCandidateAt) }
        let next = deadlines.compactMap { $0 }.filter { $0 > now }.min()
        guard let next, next != armedWake else { return }
        armedWake = next
        requests.append(.wake(at: next))
    }
}

// MARK: - Status

extension ChannelSession {
    package var status: UpstreamStatus {
        var status = active?.status ?? lastStatus ?? UpstreamStatus.idle
        if isOver { status.phase = .over }
        status.add(earlier)
        (status.trouble, status.hasPublished) = (trouble, hasMedia)
        (status.meteredAnswers, status.meteredHosts) = (gate.meteredAnswers, gate.status)
        status.redundancy = UpstreamStatus.Redundancy(
            source: active?.source ?? lastTried, isPublished: active != nil, tried: candidate?.member.source,
            watchedSince: watch?.healthySince, switches: switches, missing: fill.filled)
        return status
    }

    private var trouble: UpstreamStatus.Trouble? {
        guard let active else { return record.lost.map { .init(cause: $0, step: .outage, since: lastMediaAt) } }
        let status = active.status
        guard fill.isFilling, status.phase == .opening || active.listedEnd != nil else { return status.trouble }
        // An earlier process's viewers are there, or those of a backup that has ended, and nothing comes.
        let cause: UpstreamStatus.Trouble.Cause =
            active.listedEnd != nil ? .sourceLost(active.source, nil) : status.trouble?.cause ?? .opening(nil)
        return .init(cause: cause, step: .outage, since: lastMediaAt)
    }
}

extension Delivery {
    /// With the channel's own upstream.
    fileprivate var endsChannel: Bool {
        if case .ended = content { rendition == .main && source == 0 } else { false }
    }
}
