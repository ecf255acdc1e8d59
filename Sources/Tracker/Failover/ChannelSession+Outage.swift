// What a channel does while nothing comes, and when it does something next.

extension ChannelSession {
    /// The source that is published; when none is, the one that was published or tried last.
    var currentSource: Int { active.session?.source ?? failoverOrder.last }

    /// Gives up, or gives out what is missing by now.
    mutating func handleOutage(at now: Duration) {
        guard !active.hasEnded, !output.awaitsOutcome else { return }
        if let end = giveUpReason(at: now) { return finish(end) }
        for content in output.dueGaps(at: now) {
            effects.append(.deliver(Delivery(rendition: .main, content: content, source: currentSource)))
        }
    }

    /// No source brought anything for too long, or none could be opened in the first place. Of a channel with one source
    /// its session says so.
    private func giveUpReason(at now: Duration) -> SessionEnd? {
        guard sources.hasBackups else { return nil }
        let isHopeless = active.session == nil && trial == nil && history.failures.count == sources.urls.count
        if isHopeless, !output.hasViewers, let first = history.failures[0] { return .failed(first) }
        guard let deadline = giveUpDeadline, deadline <= now else { return nil }
        let silence = now - output.silentSince
        var reason = TrackerError.Reason.silent(for: silence)
        if case .media(let why) = stall?.cause { reason = .nothingUsable(for: silence, why) }
        return .gaveUp(TrackerError(reason, url: sources.urls[currentSource]))
    }

    private var giveUpDeadline: Duration? {
        guard sources.hasBackups, active.isInOutage else { return nil }
        return policy.session.giveUp.map { output.silentSince + $0 }
    }

    /// What one member waits for no more may have been in the way of another.
    mutating func releaseConnections(at now: Duration) {
        guard !active.hasEnded, limiter.isLimiting, trial != nil || primaryMonitor.member != nil else { return }
        forward(.wake, at: now) { _ in true }
    }

    mutating func arm(at now: Duration) {
        guard !active.hasEnded else { return }
        var deadlines = [active.session?.wakeAt, giveUpDeadline, output.nextGapAt]
        deadlines += trial?.deadlines ?? []
        deadlines += [
            primaryMonitor.member?.wakeAt, primaryMonitor.member?.healthySince.map { $0 + policy.failbackDelay },
        ]
        if sources.hasBackups, active.session?.source != 0 { deadlines.append(primaryMonitor.nextAt) }
        if sources.hasBackups, active.isInOutage, trial == nil { deadlines.append(failoverOrder.nextAt) }
        effects.scheduleWake(for: deadlines, after: now)
    }
}
