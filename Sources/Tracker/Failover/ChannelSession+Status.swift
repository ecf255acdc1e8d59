extension ChannelSession {
    package var status: UpstreamStatus {
        var status = active.status ?? UpstreamStatus.idle
        if active.hasEnded { status.phase = .over }
        status.add(retiredCounts)
        (status.stall, status.hasPublished) = (stall, output.hasPublished)
        (status.meteredAnswers, status.rateLimitedHosts) = (limiter.rateLimitedAnswers, limiter.status)
        status.failover = UpstreamStatus.Failover(
            source: currentSource, isPublished: active.session != nil, trialSource: trial?.source,
            primaryHealthySince: primaryMonitor.member?.healthySince, switches: switches,
            gapDuration: output.gapDuration)
        return status
    }

    var stall: UpstreamStatus.Stall? {
        guard let member = active.session else { return active.loss.map(outage) }
        let status = member.status
        guard output.isEmittingGaps, status.phase == .opening || member.endIdentity != nil else { return status.stall }
        // An earlier process's viewers are there, or those of a backup that has ended, and nothing comes.
        return outage(
            because: member.endIdentity != nil
                ? .sourceLost(member.source, nil) : status.stall?.cause ?? .opening(nil))
    }

    private func outage(because cause: UpstreamStatus.Stall.Cause) -> UpstreamStatus.Stall {
        UpstreamStatus.Stall(cause: cause, step: .outage, since: output.silentSince)
    }
}
