/// One channel's intake: its upstream, and the backups that stand in for it when it is silent.
///
/// One source is published. When it is in an outage, because it lists nothing new or because nothing of what it lists can
/// be published, the next one is opened beside it, on trial, and takes over once it is seen to be alive and what it
/// brings could be published; whichever brings media first decides. While a backup is published the channel's own
/// upstream is watched without its media, and comes back when it was healthy for a while.
///
///     home is published ──outage──▸ next source on trial ──passed──▸ backup is published, home is watched
///             ▴                          │ in vain: the one behind it          │ healthy for a while
///             └──────────passed────────  home on trial  ◂──────────────────────┘
///
/// Time during which nothing came is given out as missing, so that the output can go on. Sources that have dates are
/// joined where what was published ends.
package struct ChannelSession: Sendable {
    let policy: Policy
    var sources: ChannelSources
    var active = ActiveSource.vacant(after: nil)
    /// Beside it, in an outage or before the channel's own upstream is taken back.
    var trial: SourceTrial?
    var failoverOrder = FailoverOrder()
    /// While a backup is published.
    var primaryMonitor = PrimaryMonitor()
    var output: ChannelOutput
    var history = SourceHistory()
    /// What sources counted that were published before the one that is.
    var retiredCounts = IngestCounts()
    var switches = 0
    /// Of all sources: they may be on one host.
    var limiter: HostLimiter
    var effects = EffectBuffer()

    /// - Parameter upstream: absolute address of the channel's own multivariant or media playlist.
    package init(upstream: String, policy: Policy) {
        self.policy = policy
        sources = ChannelSources(upstream: upstream, policy: policy)
        output = ChannelOutput(policy)
        limiter = HostLimiter(maxConnections: policy.session.maxConnections)
    }

    package mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration
    ) -> [UpstreamSession.Effect] {
        guard !active.hasEnded else { return [] }
        perform(input, at: now)
        while !active.hasEnded, let step = nextTransition(at: now) { perform(step, at: now) }
        handleOutage(at: now)
        releaseConnections(at: now)
        arm(at: now)
        return effects.drain()
    }
}

// MARK: - Which source is published

extension ChannelSession {
    /// What is done about the sources.
    private enum Transition: Equatable {
        /// The source on trial is published from now on.
        case takeOver
        /// The trial was in vain.
        case dropTrial
        /// The source whose turn it is is opened.
        case tryNext
        /// The channel's own upstream is opened, to be taken back.
        case failBack
        /// It is followed by its playlists.
        case monitorPrimary
        /// It is not, for a while.
        case pausePrimaryMonitor
    }

    /// What is to be done first, as they stand now; nil when nothing is.
    private func nextTransition(at now: Duration) -> Transition? {
        guard sources.hasBackups else { return nil }
        if let trial {
            let hasEnded = history.wasPublishedToEnd(trial.member)
            if trial.hasPassed, !hasEnded { return .takeOver }
            if hasEnded || trial.hasFailed(isNeeded: active.isInOutage, at: now) { return .dropTrial }
        } else if active.isInOutage, failoverOrder.nextAt <= now {
            return .tryNext
        }
        let isAway = active.session.map { $0.source != 0 } ?? false
        return isAway && trial?.source != 0 ? nextPrimaryTransition(at: now) : nil
    }

    /// Of a channel whose backup is published, and whose own upstream is not on trial.
    private func nextPrimaryTransition(at now: Duration) -> Transition? {
        guard let watched = primaryMonitor.member else { return primaryMonitor.isDue(at: now) ? .monitorPrimary : nil }
        if let since = watched.healthySince, since + policy.failbackDelay <= now { return .failBack }
        return watched.endIdentity != nil ? .pausePrimaryMonitor : nil
    }

    private mutating func perform(_ step: Transition, at now: Duration) {
        switch step {
        case .takeOver: takeOver(at: now)
        case .dropTrial:
            dropTrial()
            failoverOrder.backOff(from: now)
        case .tryNext:
            let source = failoverOrder.next(of: sources.urls.count, excluding: active.session?.source)
            if source == 0 { effects.append(primaryMonitor.stop(limiter: &limiter)) }
            open(source, on: .outage, at: now)
        case .failBack:
            effects.append(primaryMonitor.stop(limiter: &limiter))
            dropTrial()
            open(0, on: .failback, at: now)
        case .monitorPrimary:
            let member = makeSession(for: 0, fetchesMedia: false)
            effects.append(primaryMonitor.start(member, at: now, limiter: &limiter))
        case .pausePrimaryMonitor: effects.append(primaryMonitor.pause(at: now, limiter: &limiter))
        }
    }

    private mutating func takeOver(at now: Duration) {
        guard let trial else { return }
        self.trial = nil
        if let left = active.status { retiredCounts += IngestCounts(left) }
        effects.append(active.replace(with: trial.member, limiter: &limiter))
        switches += 1
        failoverOrder.resume(after: trial.source)
        history.recordTakeover(of: trial.source)
        effects.report(.sourceSwitched(to: trial.source, url: sources.urls[trial.source]))
        publish(output.edge.trimming(trial.heldEffects))
        if trial.source == 0 { effects.append(primaryMonitor.stop(limiter: &limiter)) }
    }

    private mutating func open(_ source: Int, on occasion: SourceTrial.Trigger, at now: Duration) {
        trial = SourceTrial(makeSession(for: source), on: occasion, until: now + policy.trialLimit)
        effects.report(history.recordTrial(of: source, url: sources.urls[source]))
        forwardToTrial(.start, at: now)
    }

    mutating func dropTrial() {
        effects.append(trial?.abandon(&limiter) ?? [])
        trial = nil
    }

    /// A session that goes on where the channel was published.
    mutating func makeSession(for source: Int, fetchesMedia: Bool = true) -> SourceSession {
        sources.makeSession(for: source, joinPoint: output.edge.joinPoint(of: source), fetchesMedia: fetchesMedia)
    }
}
