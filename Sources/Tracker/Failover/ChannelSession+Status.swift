import Fetch

extension ChannelSession {
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
    var stall: UpstreamStatus.Stall? {
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
}
