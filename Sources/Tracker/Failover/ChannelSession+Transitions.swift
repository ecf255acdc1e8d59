import Fetch

// How the channel carries out a decision, and reacts to the end of a session.

extension ChannelSession {
    mutating func perform(_ decision: FailoverState.Decision, at now: Duration) {
        switch decision {
        case .switchToTrial: switchToTrial(at: now)
        case .endTrial: endTrial(at: now)
        case .tryNext:
            let source = failoverOrder.next(of: sources.urls.count, excluding: state.active?.source)
            startTrial(of: source, at: now) { .trialStarted($0) }
        case .failBack: startTrial(of: 0, at: now) { .failbackStarted($0) }
        case .monitorPrimary:
            apply(.monitorStarted(makeSession(for: 0, fetchesMedia: false)))
            effects.append(state.handleMonitor(.start, at: now, limiter: &limiter))
        case .pauseMonitor: apply(.monitorPaused(at: now))
        }
    }

    /// Opens the primary when the channel starts.
    mutating func openPrimary() { apply(.primaryOpened(makeSession(for: 0))) }

    private mutating func startTrial(
        of source: Int, at now: Duration, as event: (SourceTrial) -> FailoverState.Event
    ) {
        // With few connections to one host, requests that hang would keep the other source from being tried.
        if limiter.maxConnections != nil, state.isInOutage { forwardToActive(.pauseMedia, at: now) }
        apply(
            event(
                SourceTrial(
                    makeSession(for: source), until: now + policy.trialLimit,
                    heldLimit: policy.session.limits.aheadBytes)))
        effects.report(history.recordTrial(of: source, url: sources.urls[source]))
        forwardToTrial(.start, at: now)
    }

    private mutating func endTrial(at now: Duration) {
        apply(.trialEnded)
        failoverOrder.backOff(from: now)
        if limiter.maxConnections != nil { forwardToActive(.resumeMedia, at: now) }
    }

    private mutating func switchToTrial(at now: Duration) {
        guard let trial = state.trial else { return }
        if let status = state.activeStatus { retiredCounts += IngestCounts(status) }
        apply(.trialPassed)
        switches += 1
        failoverOrder.resume(after: trial.source)
        history.recordTakeover(of: trial.source)
        effects.report(.sourceSwitched(to: trial.source, url: sources.urls[trial.source]))
        publish(output.edge.trimming(trial.heldEffects))
        if trial.isMediaPaused { forwardToActive(.resumeMedia, at: now) }
    }

    /// Handles the end of the active session. The channel ends if the primary is drained or there is no backup.
    mutating func activeEnded(_ end: SessionEnd) {
        guard sources.hasBackups, let session = state.active else { return finish(end) }
        if session.source == 0, case .drained = end { return finish(end) }
        effects.report(history.recordEnd(of: session, end))
        failoverOrder.resume(after: session.source)
        apply(.activeEnded(end))
    }

    /// Handles the end of the session on trial: it has no usable media. If the primary is drained, all of it was
    /// published from one source or another, and the channel ends.
    mutating func trialEnded(_ end: SessionEnd, at now: Duration) {
        guard let trial = state.trial else { return }
        endTrial(at: now)
        if trial.source == 0, case .drained = end {
            publish(trial.heldEffects)
            return finish(.drained)
        }
        if case .failed(let error) = end { effects.report(history.recordFailure(of: trial.source, error)) }
    }

    mutating func finish(_ end: SessionEnd) {
        apply(.channelEnded)
        effects.append(.end(end))
    }

    /// Changes the state, and cancels the fetches of the sessions that the new state has no use for.
    private mutating func apply(_ event: FailoverState.Event) {
        guard let transition = state.transition(on: event) else {
            return assertionFailure("\(event) is not legal in \(state)")
        }
        state = transition.next
        for case var session? in transition.abandoned { effects.append(session.abandon(&limiter)) }
    }

    /// A session that joins `source` at the published edge.
    private mutating func makeSession(for source: Int, fetchesMedia: Bool = true) -> SourceSession {
        sources.makeSession(for: source, joinPoint: output.edge.joinPoint(of: source), fetchesMedia: fetchesMedia)
    }
}
