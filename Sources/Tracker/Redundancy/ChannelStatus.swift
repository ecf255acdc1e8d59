extension ChannelSession {
    package var status: UpstreamStatus {
        var status = onAir.status ?? UpstreamStatus.idle
        if onAir.isOver { status.phase = .over }
        status.add(earlier)
        (status.trouble, status.hasPublished) = (trouble, output.hasPublished)
        (status.meteredAnswers, status.meteredHosts) = (gate.meteredAnswers, gate.status)
        status.redundancy = UpstreamStatus.Redundancy(
            source: currentSource, isPublished: onAir.member != nil, tried: trial?.source,
            watchedSince: home.member?.healthySince, switches: switches, missing: output.filled)
        return status
    }

    var trouble: UpstreamStatus.Trouble? {
        guard let member = onAir.member else { return onAir.loss.map(outage) }
        let status = member.status
        guard output.isFilling, status.phase == .opening || member.listedEnd != nil else { return status.trouble }
        // An earlier process's viewers are there, or those of a backup that has ended, and nothing comes.
        return outage(
            because: member.listedEnd != nil
                ? .sourceLost(member.source, nil) : status.trouble?.cause ?? .opening(nil))
    }

    private func outage(because cause: UpstreamStatus.Trouble.Cause) -> UpstreamStatus.Trouble {
        UpstreamStatus.Trouble(cause: cause, step: .outage, since: output.silentSince)
    }
}
