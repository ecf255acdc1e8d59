// What a channel's members are told, and what becomes of what they say.

extension ChannelSession {
    mutating func perform(_ input: UpstreamSession.Input, at now: Duration) {
        switch input {
        case .start: start(at: now)
        case .answered(let id, _): forward(input, at: now) { $0.owns(id) }
        case .delivered(let delivery, let reception): recordOutcome(delivery, reception, at: now)
        case .probed(let delivery, let reception): recordProbe(delivery, reception)
        case .wake:
            effects.wakeFired()
            forward(input, at: now) { $0.isDue(at: now) }
        }
    }

    private mutating func start(at now: Duration) {
        output.start(at: now)
        active = .source(makeSession(for: 0))
        forwardToActive(.start, at: now)
    }

    /// What was handed downstream is published, or cannot be.
    private mutating func recordOutcome(_ delivery: Delivery, _ reception: DeliveryOutcome, at now: Duration) {
        guard delivery.isMedia else { return }
        output.recordOutcome(delivery, reception, at: now)
        if reception == .published {
            failoverOrder.resetBackoff()
            history.clearOutage()
        }
        if active.session?.source == delivery.source { forwardToActive(.delivered(delivery, reception), at: now) }
        // What is held, for its sound or for a picture to begin with, comes: but not for ever.
        let comes = reception == .published || reception == .held && !active.isInOutage
        if comes { output.recordProgress(with: delivery, at: now) }
    }

    /// What the source on trial brought could be published, or not.
    private mutating func recordProbe(_ delivery: Delivery, _ reception: DeliveryOutcome) {
        guard trial?.source == delivery.source else { return }
        trial?.recordProbe(reception)
        guard case .refused(let why) = reception else { return }
        let error = TrackerError(.nothingUsable(for: .zero, why), url: sources.urls[delivery.source])
        effects.report(history.recordFailure(of: delivery.source, error))
    }

    /// To each member that it concerns; to the one that is published first.
    mutating func forward(
        _ input: UpstreamSession.Input, at now: Duration, where concerns: (SourceSession) -> Bool
    ) {
        if let member = active.session, concerns(member) { forwardToActive(input, at: now) }
        if let trial, concerns(trial.member) { forwardToTrial(input, at: now) }
        if let member = primaryMonitor.member, concerns(member) {
            effects.append(primaryMonitor.handle(input, at: now, limiter: &limiter))
        }
    }

    private mutating func forwardToActive(_ input: UpstreamSession.Input, at now: Duration) {
        publish(active.handle(input, at: now, limiter: &limiter))
    }

    mutating func forwardToTrial(_ input: UpstreamSession.Input, at now: Duration) {
        for effect in trial?.handle(input, at: now, limiter: &limiter) ?? [] {
            if case .end(let end) = effect { trialEnded(end, at: now) } else { effects.append(effect) }
        }
    }
}

// MARK: - What they say

extension ChannelSession {
    /// Effects of the source that is published.
    mutating func publish(_ published: [UpstreamSession.Effect]) {
        for effect in published where !active.hasEnded {
            switch effect {
            case .fetch, .cancel, .wake, .probe: break
            case .deliver(let delivery): output.record(delivery)
            case .report(let event): output.record(event)
            case .end(let end):
                activeSourceEnded(end)
                continue
            }
            effects.append(effect)
        }
    }

    /// The channel ends with its own upstream; a backup that ends, or a source that fails, is replaced.
    private mutating func activeSourceEnded(_ end: SessionEnd) {
        guard sources.hasBackups, let member = active.session else { return finish(end) }
        if member.source == 0, case .drained = end { return finish(end) }
        effects.report(history.recordEnd(of: member, end))
        failoverOrder.resume(after: member.source)
        active.recordEnd(end)
    }

    /// The source on trial has nothing to give. Of the channel's own upstream all was published then, of this source or
    /// of another.
    private mutating func trialEnded(_ end: SessionEnd, at now: Duration) {
        guard let ended = trial else { return }
        trial = nil
        if ended.source == 0, case .drained = end {
            publish(ended.heldEffects)
            return finish(.drained)
        }
        if case .failed(let error) = end { effects.report(history.recordFailure(of: ended.source, error)) }
        failoverOrder.backOff(from: now)
    }

    mutating func finish(_ end: SessionEnd) {
        effects.append(active.end(limiter: &limiter))
        dropTrial()
        effects.append(primaryMonitor.stop(limiter: &limiter))
        effects.append(.end(end))
    }
}
