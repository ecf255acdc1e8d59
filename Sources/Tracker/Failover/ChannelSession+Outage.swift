// What the channel does while nothing is published.

extension ChannelSession {
    /// The active source; if there is none, the one that was active or tried last.
    var currentSource: Int { state.active?.source ?? failoverOrder.last }

    /// When the channel gives up; nil if it does not. A channel with one source leaves that to its session.
    var giveUpDeadline: Duration? {
        guard sources.hasBackups, state.isInOutage else { return nil }
        return policy.session.giveUp.map { output.silentSince + $0 }
    }

    /// Ends the channel, or delivers the outage gaps that are due.
    mutating func handleOutage(at now: Duration) {
        guard !state.hasEnded, !output.awaitsOutcome else { return }
        if let end = giveUpReason(at: now) { return finish(end) }
        for content in output.dueGaps(at: now) {
            effects.append(.deliver(Delivery(rendition: .main, content: content, source: currentSource)))
        }
    }

    /// Why the channel ends now: every source failed before anything was published, or the silence is too long. Nil
    /// if it goes on.
    private func giveUpReason(at now: Duration) -> SessionEnd? {
        guard sources.hasBackups else { return nil }
        let hasNoSource = state.active == nil && state.trial == nil && history.failures.count == sources.urls.count
        if hasNoSource, !output.hasViewers, let first = history.failures[0] { return .failed(first) }
        guard let deadline = giveUpDeadline, deadline <= now else { return nil }
        let silence = now - output.silentSince
        var reason = TrackerError.Reason.silent(for: silence)
        if case .media(let cause) = stall?.cause { reason = .nothingUsable(for: silence, cause) }
        return .gaveUp(TrackerError(reason, url: sources.urls[currentSource]))
    }
}
