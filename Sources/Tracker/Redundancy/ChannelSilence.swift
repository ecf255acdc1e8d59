// What a channel does while nothing comes, and when it does something next.

extension ChannelSession {
    /// The source that is published; when none is, the one that was published or tried last.
    var currentSource: Int { onAir.member?.source ?? rota.last }

    /// Gives up, or gives out what is missing by now.
    mutating func bearSilence(at now: Duration) {
        guard !onAir.isOver, !output.isAwaited else { return }
        if let end = givesUp(at: now) { return finish(end) }
        for content in output.missing(at: now) {
            effects.append(.deliver(Delivery(rendition: .main, content: content, source: currentSource)))
        }
    }

    /// No source brought anything for too long, or none could be opened in the first place. Of a channel with one source
    /// its session says so.
    private func givesUp(at now: Duration) -> SessionEnd? {
        guard roster.hasBackups else { return nil }
        let isHopeless = onAir.member == nil && trial == nil && record.failures.count == roster.urls.count
        if isHopeless, !output.hasViewers, let first = record.failures[0] { return .failed(first) }
        guard let deadline = giveUpDeadline, deadline <= now else { return nil }
        let silence = now - output.silentSince
        var reason = TrackerError.Reason.silent(for: silence)
        if case .media(let why) = trouble?.cause { reason = .nothingUsable(for: silence, why) }
        return .gaveUp(TrackerError(reason, url: roster.urls[currentSource]))
    }

    private var giveUpDeadline: Duration? {
        guard roster.hasBackups, onAir.isInOutage else { return nil }
        return policy.session.giveUp.map { output.silentSince + $0 }
    }

    /// What one member waits for no more may have been in the way of another.
    mutating func yieldConnections(at now: Duration) {
        guard !onAir.isOver, gate.isLimiting, trial != nil || home.member != nil else { return }
        hand(.wake, at: now) { _ in true }
    }

    mutating func arm(at now: Duration) {
        guard !onAir.isOver else { return }
        var deadlines = [onAir.member?.wakeAt, giveUpDeadline, output.nextMissingAt]
        deadlines += trial?.deadlines ?? []
        deadlines += [home.member?.wakeAt, home.member?.healthySince.map { $0 + policy.homeAfter }]
        if roster.hasBackups, onAir.member?.source != 0 { deadlines.append(home.nextAt) }
        if roster.hasBackups, onAir.isInOutage, trial == nil { deadlines.append(rota.nextAt) }
        effects.arm(for: deadlines, after: now)
    }
}
