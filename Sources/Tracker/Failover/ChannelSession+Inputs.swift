// How the channel passes inputs to its sessions, and their effects downstream.

extension ChannelSession {
    mutating func perform(_ input: UpstreamSession.Input, at now: Duration) {
        switch input {
        case .start:
            output.start(at: now)
            openPrimary()
            forwardToActive(.start, at: now)
        case .answered(let id, _): forward(input, at: now) { $0.owns(id) }
        // The channel itself pauses one of its sessions.
        case .pauseMedia, .resumeMedia: break
        case .delivered(let delivery, let outcome): recordOutcome(delivery, outcome, at: now)
        case .probed(let delivery, let outcome): recordProbe(delivery, outcome)
        case .wake:
            effects.wakeFired()
            forward(input, at: now) { $0.isDue(at: now) }
        }
    }

    /// Records whether a segment, which was handed downstream, could be published.
    private mutating func recordOutcome(_ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Duration) {
        guard delivery.isMedia else { return }
        output.recordOutcome(delivery, outcome, at: now)
        if outcome == .published {
            failoverOrder.resetBackoff()
            history.clearOutage()
        }
        if state.active?.source == delivery.source { forwardToActive(.delivered(delivery, outcome), at: now) }
        // A held segment waits for its audio or for a random access point. In an outage it may wait for ever.
        let isProgress = outcome == .published || outcome == .held && !state.isInOutage
        if isProgress { output.recordProgress(with: delivery, at: now) }
    }

    /// Records whether a segment of the source on trial could be published.
    private mutating func recordProbe(_ delivery: Delivery, _ outcome: DeliveryOutcome) {
        guard state.trial?.source == delivery.source else { return }
        state.recordProbe(outcome)
        guard case .refused(let reason) = outcome else { return }
        let error = TrackerError(.nothingUsable(for: .zero, reason), url: sources.urls[delivery.source])
        effects.report(history.recordFailure(of: delivery.source, error))
    }

    /// Passes `input` to each session that it concerns: first the active one, then the trial, then the monitor.
    mutating func forward(
        _ input: UpstreamSession.Input, at now: Duration, where concerns: (SourceSession) -> Bool
    ) {
        if let session = state.active, concerns(session) { forwardToActive(input, at: now) }
        if let trial = state.trial, concerns(trial.session) { forwardToTrial(input, at: now) }
        if let session = state.monitor?.session, concerns(session) {
            effects.append(state.handleMonitor(input, at: now, limiter: &limiter))
        }
    }

    mutating func forwardToActive(_ input: UpstreamSession.Input, at now: Duration) {
        publish(state.handleActive(input, at: now, limiter: &limiter))
    }

    mutating func forwardToTrial(_ input: UpstreamSession.Input, at now: Duration) {
        for effect in state.handleTrial(input, at: now, limiter: &limiter) {
            if case .end(let end) = effect { trialEnded(end, at: now) } else { effects.append(effect) }
        }
    }

    /// Passes on the effects of the active source, and records what is published.
    mutating func publish(_ activeEffects: [UpstreamSession.Effect]) {
        for effect in activeEffects where !state.hasEnded {
            switch effect {
            case .fetch, .cancel, .wake, .probe: break
            case .deliver(let delivery): output.record(delivery)
            case .report(let event): output.record(event)
            case .end(let end):
                activeEnded(end)
                continue
            }
            effects.append(effect)
        }
    }
}
