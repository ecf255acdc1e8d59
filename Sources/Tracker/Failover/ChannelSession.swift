import Fetch

/// Follows one channel: its primary upstream, and the backups that replace it in an outage.
///
/// One source is active, that is, published. It is in an outage if it lists nothing new or nothing of what it lists can
/// be published. Then the next source is opened beside it on trial, and the first of the two to deliver usable media is
/// published. While a backup is active, the playlists of the primary are monitored. After a while of health the primary
/// is tried and published again. `FailoverState` has all states and transitions.
///
/// Time without media is delivered as outage gaps, so that the output can go on. Sources that have dates are joined at
/// the published edge.
package struct ChannelSession: Sendable {
    let policy: Policy
    var sources: ChannelSources
    var state = FailoverState.idle
    var failoverOrder = FailoverOrder()
    var output: ChannelOutput
    var history = SourceHistory()
    /// Counts of the sources that were active earlier.
    var retiredCounts = IngestCounts()
    var switches = 0
    /// Shared by all sources: they may be on one host.
    var limiter: HostLimiter
    var effects = EffectBuffer()

    /// - Parameter upstream: absolute URL of the primary's multivariant or media playlist.
    package init(upstream: String, policy: Policy) {
        self.policy = policy
        sources = ChannelSources(upstream: upstream, policy: policy)
        output = ChannelOutput(policy)
        limiter = HostLimiter(maxConnections: policy.session.maxConnections)
    }

    package mutating func handle(
        _ input: UpstreamSession.Input, at now: Duration
    ) -> [UpstreamSession.Effect] {
        guard !state.hasEnded else { return [] }
        perform(input, at: now)
        while let decision = dueDecision(at: now) { perform(decision, at: now) }
        handleOutage(at: now)
        releaseConnections(at: now)
        scheduleWake(at: now)
        return effects.drain()
    }

    private func dueDecision(at now: Duration) -> FailoverState.Decision? {
        guard sources.hasBackups else { return nil }
        return state.decision(
            at: now, order: failoverOrder, history: history, failbackDelay: policy.failbackDelay)
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
        if sources.hasBackups, state.isInOutage, state.trial == nil { deadlines.append(failoverOrder.nextAt) }
        effects.scheduleWake(for: deadlines, after: now)
    }
}
