import Fetch

extension UpstreamSession {
    package var status: UpstreamStatus {
        UpstreamStatus(
            phase: phase, variant: locator.variant, audio: locator.audio, subtitles: locator.subtitles,
            renditions: trackers.map(\.status),
            failedResourceTries: failedResourceTries, multivariantReads: locator.loadCount,
            requests: Int(clamping: fetchCount), faults: faults, maxConnections: policy.maxConnections,
            meteredAnswers: limiter.rateLimitedAnswers, rateLimitedHosts: limiter.limitedHosts, stall: stall,
            hasPublished: mediaStall.hasPublished)
    }

    private var phase: UpstreamStatus.Phase {
        switch state {
        case .idle: .idle
        case .opening: .opening
        case .following: .following
        case .over: .over
        }
    }

    /// The stall of the opening, or the more severe of those of the main playlist and its media.
    private var stall: UpstreamStatus.Stall? {
        if case .opening(let opening) = state {
            return opening.failures.last.map { .init(cause: .opening($0), step: .late, since: opening.began) }
        }
        var stalls: [UpstreamStatus.Stall] = []
        if let main = trackers.first, case .expecting(let since, let step?) = main.stallEscalation.state {
            stalls.append(.init(cause: .playlist(main.load.failures.last), step: step, since: since))
        }
        if let step = mediaStall.lastStep, let since = mediaStall.silentSince {
            stalls.append(.init(cause: .media(mediaStall.reason), step: step, since: since))
        }
        return stalls.max { $0.step < $1.step }
    }
}
