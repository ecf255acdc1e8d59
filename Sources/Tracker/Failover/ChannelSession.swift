import Fetch
import Playlist

/// Follows one channel: its primary upstream, and the backups that replace it in an outage.
///
/// One source is active, that is, published. It is in an outage if it lists nothing new or nothing of what it lists can
/// be published. Then the next source is opened beside it on trial, and the first of the two to deliver usable media is
/// published. While a backup is active, the playlists of the primary are monitored. After a while of health the primary
/// is tried and published again. `FailoverState` has all states and transitions.
///
/// Time without media is delivered as outage gaps, so that the output can go on. Sources that have dates are joined at
/// the published edge.
package struct ChannelSession: IngestSession {
    let policy: Policy
    /// Absolute URLs: the primary, then its backups. A source is identified by its index.
    let urls: [String]
    private var openedSessions: UInt64 = 0
    var state = FailoverState.idle
    private var failoverOrder = FailoverOrder()
    var output: ChannelOutput
    var history = SourceHistory()
    var retiredCounts = IngestCounts()
    private var switches = 0
    var variants: [Int: VariantHistory] = [:]
    /// Segments of a finished playlist that were lost since one of them was published.
    var lostInRow = 0
    /// Shared by all sources: they may be on one host.
    var limiter: HostLimiter
    var effects = EffectBuffer()
    /// Time since the last publication in which nothing could be tried.
    private var untried = Duration.zero

    /// - Parameter upstream: absolute URL of the primary's multivariant or media playlist.
    package init(upstream: String, policy: Policy) {
        self.policy = policy
        urls = [upstream] + policy.backups
        output = ChannelOutput(policy)
        limiter = HostLimiter(
            maxConnections: policy.session.maxConnections, countsAllHosts: policy.session.countsAllHosts)
    }

    package mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration
    ) -> [UpstreamSession.Effect] {
        guard !state.hasEnded else { return [] }
        let asleep = effects.beginStep(at: now)
        untried += asleep
        output.postponeGaps(by: asleep)
        perform(input, at: now)
        while let decision = dueDecision(at: now) { perform(decision, at: now) }
        handleOutage(at: now)
        releaseConnections(at: now)
        scheduleWake(at: now)
        return effects.drain()
    }

    private func dueDecision(at now: Duration) -> FailoverState.Decision? {
        guard hasBackups || state.trial != nil || state.active != nil else { return nil }
        let decision = state.decision(
            at: now, order: failoverOrder, history: history, failbackDelay: policy.failbackDelay,
            returnAt: variants[0]?.deadline, edge: output.edge)
        switch decision {
        case .tryNext: return hasCandidate ? decision : nil
        // Which media of the trial is new is known when all of the active source is published.
        case .switchToTrial: return output.awaitsOutcome ? nil : decision
        default: return decision
        }
    }

    /// Wakes a session that may have waited for a connection that another one has released.
    private mutating func releaseConnections(at now: Duration) {
        guard limiter.isLimiting, state.trial != nil || state.monitor?.session != nil else { return }
        forward(.wake, at: now) { _ in true }
    }

    private mutating func scheduleWake(at now: Duration) {
        guard !state.hasEnded else { return }
        var deadlines = [state.active?.wakeAt, giveUpDeadline, output.nextGapAt]
        deadlines += state.trial?.deadlines ?? []
        deadlines += state.monitor?.deadlines(failbackDelay: policy.failbackDelay) ?? []
        if state.isInOutage, state.trial == nil, hasCandidate { deadlines.append(failoverOrder.nextAt) }
        deadlines.append(state.variantReturn(variants[0]?.deadline, policy.failbackDelay))
        effects.scheduleWake(for: deadlines, after: now)
    }

    // MARK: - Inputs of the sessions, and their effects downstream

    private mutating func perform(_ input: UpstreamSession.Input, at now: Duration) {
        switch input {
        case .start:
            output.start(at: now)
            apply(.primaryOpened(makeSession(for: 0)))
            forwardToActive(.start, at: now)
        case .answered(let id, _), .received(let id, _): forward(input, at: now) { $0.owns(id) }
        // The channel itself pauses one of its sessions, and lists gaps.
        case .pauseMedia, .resumeMedia, .gapListed, .passOver: break
        case .demanded: forward(input, at: now) { _ in true }
        case .delivered(let delivery, let outcome): recordOutcome(delivery, outcome, at: now)
        case .probed(let delivery, let outcome): recordProbe(delivery, outcome, at: now)
        case .wake:
            effects.wakeFired()
            forward(input, at: now) { $0.isDue(at: now) }
        }
    }

    /// Records whether a segment, which was handed downstream, could be published.
    private mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        guard delivery.isMedia else { return }
        output.recordOutcome(delivery, outcome, at: now)
        if let number = delivery.variantTrial, case .refused(.foreignVideo(let codecs)) = outcome {
            if let active = state.active, active.number == number {
                reopen(active, refusing: .foreignVideo(codecs), at: now)
            }
            return
        }
        if outcome == .published {
            lostInRow = 0
            failoverOrder.resetBackoff()
            history.clearOutage()
            untried = .zero
        }
        if state.active?.source == delivery.source { forwardToActive(.delivered(delivery, outcome), at: now) }
        // A held segment waits for its audio or for a random access point. In an outage it may wait for ever.
        let isProgress = outcome == .held ? !state.isInOutage : outcome == .published || outcome == .awaitingTrack
        // Nothing is missing after the last segments of the primary.
        if isProgress, delivery.source > 0 || state.active?.endIdentity == nil {
            output.recordProgress(with: delivery, at: now)
        }
    }

    private mutating func recordProbe(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        guard let trial = state.trial, trial.source == delivery.source else { return }
        if let number = delivery.variantTrial, case .refused(.foreignVideo(let codecs)) = outcome {
            if trial.session.number == number { reopen(trial, refusing: .foreignVideo(codecs), at: now) }
            return
        }
        state.recordProbe(outcome)
        guard case .refused(let reason) = outcome, trial.otherVariant == nil else { return }
        let error = TrackerError(.nothingUsable(for: .zero, reason), url: urls[delivery.source])
        effects.report(history.recordFailure(of: delivery.source, error))
    }

    /// Passes `input` to each session that it concerns: first the active one, then the trial, then the monitor.
    private mutating func forward(
        _ input: UpstreamSession.Input, at now: Duration, where concerns: (SourceSession) -> Bool
    ) {
        if let session = state.active, concerns(session) { forwardToActive(input, at: now) }
        if let trial = state.trial, concerns(trial.session) { forwardToTrial(input, at: now) }
        if let session = state.monitor?.session, concerns(session) {
            effects.append(state.handleMonitor(input, at: now, limiter: &limiter))
        }
    }

    mutating func forwardToActive(_ input: UpstreamSession.Input, at now: Duration) {
        publish(state.handleActive(input, at: now, limiter: &limiter), at: now)
    }

    mutating func forwardToTrial(_ input: UpstreamSession.Input, at now: Duration) {
        for effect in state.handleTrial(input, at: now, limiter: &limiter) {
            if case .end(let end) = effect { trialEnded(end, at: now) } else { effects.append(effect) }
        }
    }

    /// Passes on the effects of the active source, and records what is published.
    private mutating func publish(_ activeEffects: [UpstreamSession.Effect], at now: Duration) {
        for effect in activeEffects where !state.hasEnded {
            switch effect {
            case .fetch, .cancel, .wake, .probe: break
            case .deliver(let delivery):
                if leavesVariant(after: delivery, at: now) { return }
                output.record(delivery)
            case .report(let event):
                if case .reset(.main, _, _) = event, let active = state.active, let next = active.nextNumber {
                    output.renumber(active.source, from: next)
                }
                output.record(event, at: now)
            case .end(let end):
                activeEnded(end, at: now)
                continue
            }
            effects.append(effect)
        }
    }

    // MARK: - Decisions, and the ends of sessions

    private mutating func perform(_ decision: FailoverState.Decision, at now: Duration) {
        switch decision {
        case .switchToTrial: switchToTrial(at: now)
        case .endTrial: endTrial(at: now)
        case .tryNext:
            let active = state.active
            let candidate = failoverOrder.next(
                of: urls.count, excluding: active?.source, hasVariant: active.map(hasOtherVariant) ?? false)
            switch candidate {
            case .source(let source): startTrial(of: source, at: now) { .trialStarted($0) }
            case .variant:
                if let active { startVariantTrial(beside: active, isReturn: false, at: now) { .trialStarted($0) } }
            case nil: break
            }
        case .returnVariant:
            variants[0]?.recordTrial(at: now)
            if let active = state.active {
                startVariantTrial(beside: active, isReturn: true, at: now) { .failbackStarted($0) }
            }
        case .failBack: startTrial(of: 0, at: now) { .failbackStarted($0) }
        case .monitorPrimary:
            apply(.monitorStarted(makeSession(for: 0, fetchesMedia: false)))
            effects.append(state.handleMonitor(.start, at: now, limiter: &limiter))
        case .pauseMonitor: apply(.monitorPaused(at: now))
        }
    }

    private mutating func startTrial(
        of source: Int, at now: Duration, as event: (SourceTrial) -> FailoverState.Event
    ) {
        pauseForTrial(at: now)
        apply(
            event(
                SourceTrial(
                    makeSession(for: source), until: now + policy.trialLimit,
                    heldLimit: policy.session.limits.aheadBytes)))
        effects.report(history.recordTrial(of: source, url: urls[source]))
        forwardToTrial(.start, at: now)
    }

    /// With few connections to one host, requests that hang would keep the other source from being tried.
    mutating func pauseForTrial(at now: Duration) {
        if limiter.maxConnections != nil, state.isInOutage { forwardToActive(.pauseMedia, at: now) }
    }

    private mutating func endTrial(at now: Duration) {
        if let trial = state.trial, let other = trial.otherVariant { recordEnd(of: trial, other, at: now) }
        apply(.trialEnded)
        failoverOrder.backOff(from: now)
        if limiter.maxConnections != nil { forwardToActive(.resumeMedia, at: now) }
    }

    private mutating func switchToTrial(at now: Duration) {
        guard let trial = state.trial else { return }
        let (kept, late) = output.edge.trimming(
            trial.heldEffects, otherVariantOf: trial.otherVariant == nil ? nil : trial.source)
        if trial.otherVariant != nil, let ready = state.active?.nextReady,
            let first = kept.lazy.compactMap(\.mainSegment).first,
            JoinPoint(date: first.programDateTime, mediaSequence: first.mediaSequence).relation(of: ready) == .precedes
        {
            // The variant on trial lacks what waits for a missing segment of the published one.
            forwardToActive(.passOver, at: now)
            // What waits for its audio, too, would hold up the trial.
            if output.awaitsOutcome || state.active?.nextReady != ready { return }
        }
        if let status = state.activeStatus { retiredCounts += IngestCounts(status) }
        apply(.trialPassed)
        failoverOrder.resume(after: trial.source)
        if let other = trial.otherVariant {
            recordChange(of: trial, from: other, at: now)
        } else {
            switches += 1
            history.recordTakeover(of: trial.source)
            effects.report(.sourceSwitched(to: trial.source, url: urls[trial.source]))
        }
        for loss in late {
            retiredCounts.record(loss)
            let event = UpstreamEvent.lost(.main, loss)
            effects.report(trial.source == 0 ? event : .backup(trial.source, event))
        }
        publish(kept, at: now)
        if trial.isMediaPaused { forwardToActive(.resumeMedia, at: now) }
    }

    /// Handles the end of the active session. The channel ends if the primary is drained or there is no backup.
    private mutating func activeEnded(_ end: SessionEnd, at now: Duration) {
        if let session = state.active, reopen(session, refusing: end.variantRefusal, at: now) { return }
        guard hasBackups, let session = state.active else { return finish(end) }
        if session.source == 0, case .drained = end { return finish(end) }
        effects.report(history.recordEnd(of: session, end))
        failoverOrder.resume(after: session.source)
        apply(.activeEnded(end))
    }

    /// Handles the end of the session on trial: it has no usable media. If the primary is drained, all of it was
    /// published from one source or another, and the channel ends.
    private mutating func trialEnded(_ end: SessionEnd, at now: Duration) {
        guard let trial = state.trial else { return }
        // Whether another variant is tried is decided anew.
        if trial.otherVariant == nil, reopen(trial, refusing: end.variantRefusal, at: now) { return }
        endTrial(at: now)
        // Another variant that has ended says nothing of the one that is published, which may go on.
        if trial.source == 0, trial.otherVariant == nil, case .drained = end {
            publish(trial.heldEffects, at: now)
            return finish(.drained)
        }
        if case .failed(let error) = end, trial.otherVariant == nil {
            effects.report(history.recordFailure(of: trial.source, error))
        }
    }

    private mutating func finish(_ end: SessionEnd) {
        apply(.channelEnded)
        effects.append(.end(end))
    }

    /// Changes the state, and cancels the fetches of the sessions that the new state has no use for.
    mutating func apply(_ event: FailoverState.Event) {
        guard let transition = state.transition(on: event) else {
            return assertionFailure("\(event) is not legal in \(state)")
        }
        state = transition.next
        for case var session? in transition.abandoned { effects.append(session.abandon(&limiter)) }
    }

    /// A session that joins `source` at the published edge.
    /// - Parameters:
    ///   - fetchesMedia: false to follow only its playlists.
    ///   - joinPoint: where it joins; nil: as another source does.
    ///   - excluded: variants that are not followed; nil: those that the source's history excludes.
    ///   - tracks: what is followed beside the leading rendition; nil: what is listed first.
    mutating func makeSession(
        for source: Int, fetchesMedia: Bool = true, joinPoint: JoinPoint? = nil, besides excluded: [Variant]? = nil,
        tracks: ChosenTracks? = nil
    ) -> SourceSession {
        var session = policy.session
        session.fetchesMedia = fetchesMedia
        session.joinPoint = joinPoint ?? output.edge.joinPoint(of: source)
        session.tracks = tracks
        session.channelTargetDuration = policy.resumedTargetDuration
        session.pacesFiles = source > 0
        session.refusedVariants = excluded ?? variants[source]?.excluded ?? []
        if hasBackups {
            (session.giveUp, session.opening) = (nil, OpeningPatience())
        } else if excluded != nil {
            session.opening = OpeningPatience()
        } else if policy.resumedTargetDuration != nil {
            session.opening = .enduring(giveUp: session.giveUp)
        }
        defer { openedSessions += 1 }
        return SourceSession(source: source, url: urls[source], policy: session, number: openedSessions)
    }

    var hasBackups: Bool { urls.count > 1 }

    // MARK: - Outages

    /// The active source; if there is none, the one that was active or tried last.
    private var currentSource: Int { state.active?.source ?? failoverOrder.last }

    /// When the channel gives up; nil if it does not. A channel with one source leaves that to its session.
    private var giveUpDeadline: Duration? {
        guard hasBackups, state.isInOutage else { return nil }
        return policy.session.giveUp.map { output.silentSince + untried + $0 }
    }

    private mutating func handleOutage(at now: Duration) {
        guard !state.hasEnded, !output.awaitsOutcome else { return }
        if let end = giveUpReason(at: now) { return finish(end) }
        for gap in output.dueGaps(at: now, isFetching: state.active?.isFetchingNext ?? false) {
            effects.append(.deliver(Delivery(rendition: .main, content: .outageGap(gap), source: currentSource)))
            forwardToActive(.gapListed(gap), at: now)
            // Nothing is delivered before the first segment of a trial, which is waited for no longer than that of an outage.
            if state.trial?.hasMedia == false { forwardToTrial(.gapListed(gap), at: now) }
        }
    }

    /// Why the channel ends now: every source failed before anything was published, or the silence is too long. Nil
    /// if it goes on.
    private func giveUpReason(at now: Duration) -> SessionEnd? {
        guard hasBackups else { return nil }
        let failure = output.hasViewers ? nil : history.failures[0]
        let hasNoSource = state.active == nil && state.trial == nil && history.failures.count == urls.count
        let isAwaited = policy.session.opening.isPatient && history.failures.values.contains(where: \.mayPass)
        if hasNoSource, !isAwaited, let failure { return .failed(failure) }
        guard let deadline = giveUpDeadline, deadline <= now else { return nil }
        if let failure { return .failed(failure) }
        let silence = now - output.silentSince
        var reason = TrackerError.Reason.silent(for: silence)
        if case .media(let cause) = stall?.cause { reason = .nothingUsable(for: silence, cause) }
        return .gaveUp(TrackerError(reason, url: urls[currentSource]))
    }

    // MARK: - Status

    package var status: UpstreamStatus {
        var status = state.activeStatus ?? UpstreamStatus.idle
        if state.hasEnded { status.phase = .over }
        status.add(retiredCounts)
        (status.stall, status.hasPublished) = (stall, output.hasPublished)
        (status.meteredAnswers, status.rateLimitedHosts) = (limiter.rateLimitedAnswers, limiter.limitedHosts)
        status.failover = UpstreamStatus.Failover(
            source: currentSource, isPublished: state.active != nil, trialSource: state.trial?.source,
            primaryHealthySince: state.monitor?.healthySince, switches: switches,
            gapDuration: output.gapDuration)
        return status
    }

    /// Why the channel is not on time; nil while it is.
    private var stall: UpstreamStatus.Stall? {
        guard let session = state.active else { return state.predecessor?.loss.map(outage) }
        let status = session.status
        guard output.isEmittingGaps, status.phase == .opening || session.endIdentity != nil else { return status.stall }
        // Viewers of an earlier process, or of a backup that has ended, wait for media.
        return outage(
            because: session.endIdentity != nil
                ? .sourceLost(session.source, nil) : status.stall?.cause ?? .opening(nil))
    }

    private func outage(because cause: UpstreamStatus.Stall.Cause) -> UpstreamStatus.Stall {
        UpstreamStatus.Stall(cause: cause, step: .outage, since: output.silentSince)
    }

    package struct Policy: Equatable, Sendable {
        package var session: UpstreamSession.Policy
        /// Absolute URLs, in the order in which they are tried.
        package var backups: [String] = []
        /// Silence before missing time is delivered as an outage gap; nil: it never is.
        package var gapTolerance: OutageTimer.Tolerance?
        /// How long the primary has to be healthy before it is published again.
        package var failbackDelay: Duration = .seconds(60)
        /// How long a trial may take to show that the source lists new segments and that they can be published.
        package var trialLimit: Duration = .seconds(30)
        /// Where an earlier process of this channel stopped; the media sequence number is the primary's.
        package var joinPoint = JoinPoint.edge
        /// Target duration that an earlier process published; nil if there was none. Its viewers are there before the
        /// upstream is: until the upstream can be opened, the channel is in an outage.
        package var resumedTargetDuration: Duration?
    }
}

extension ChannelSession.Policy {
    package init(session: UpstreamSession.Policy) { self.session = session }
}
