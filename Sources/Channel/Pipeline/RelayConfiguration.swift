package import Conformance
package import Export
package import Fetch
package import LiveRing
package import Playlist
package import Splice
package import Support
package import Tracker
package import Transcode

/// An operator's settings for one channel.
package struct RelayConfiguration: Sendable {
    package var upstream: String
    /// URLs of backups, in failover order.
    package var backups: [String]
    package var variant: VariantChoice
    /// The variants that are republished beside that one.
    package var ladder = LadderChoice.one
    /// Whether those are followed whether somebody asks for them or not.
    package var followsWholeLadder = false
    /// Silence after which the channel is given up; nil: never.
    package var giveUp: Duration?
    /// How long the first segments of the upstream are waited for.
    package var opening = OpeningPatience()
    /// Directory of the ring. Its parent exists.
    package var spool: String
    package var retention: RetentionPolicy
    /// The file system of the spool.
    package var fileSystem = FileSystem.system
    package var requests: CurlConfiguration
    /// How each backup is requested, in their order; a backup without one is requested as the primary.
    package var backupRequests: [CurlConfiguration] = []
    package var memory: MemoryBudget
    /// Concurrent requests to one host; nil: no limit.
    package var maxConnections: Int?
    package var audio: AudioSettings
    /// Whether media without video counts as unusable.
    package var requiresVideo = false
    /// Whether captions of CEA-608 and teletext subtitles are published as WebVTT too.
    package var captionsToWebVTT = false
    /// Fills outages; nil: gaps do.
    package var slate: SlateSource?
    /// How ad breaks are presented to those who do not ask for something else. Without a slate none is replaced.
    package var ads = AdPresentation.keep
    package var interstitials = Interstitials.keep
    /// Where the timeline begins if the spool has no past. What is published does not depend on it, except for its times.
    package var beginning = TimelinePosition.beginning
    /// program_number of the program that is followed of a transport stream; nil: the first one with video.
    package var program: UInt16?
    /// Whether `maxConnections` is one limit for all hosts: they are those of an account.
    package var sharesConnections = false
    /// How the channel's own output is checked while it runs; nil: not at all.
    package var outputCheck: PublicationChecker.Depth?
    /// Whether stills of the channel are made.
    package var offersStills = true
    /// How long segments of a transport stream are held back, so that a reconnection is not noticed.
    package var hold = Duration.zero
    /// Whether a media file begins again when it has ended.
    package var loopsFiles = false
    /// How far the published edge may fall behind for one missing segment; nil: as `SegmentPatience` chooses.
    package var patience: Duration?
    /// For the jitter between attempts, so that relays of one origin do not retry in step.
    package var retrySeed: UInt64 = 0
    /// Asked before an entry becomes visible; nil: each entry may.
    package var permit: PublicationPermit?
    /// How reloads of audio and video playlists are timed.
    package var polling: PollingMode

    package init(
        upstream: String, backups: [String] = [], variant: VariantChoice = .highest,
        giveUp: Duration? = .seconds(60), spool: String, retention: RetentionPolicy,
        requests: CurlConfiguration = CurlConfiguration(), maxConnections: Int? = nil,
        patience: Duration? = nil, audio: AudioSettings = AudioSettings(),
        slate: SlateSource? = nil, polling: PollingMode = .standard, memory: MemoryBudget = MemoryBudget()
    ) {
        self.memory = memory
        self.upstream = upstream
        self.backups = backups
        self.variant = variant
        self.giveUp = giveUp
        self.spool = spool
        self.retention = retention
        self.requests = requests
        self.maxConnections = maxConnections
        self.patience = patience
        self.audio = audio
        self.slate = slate
        self.polling = polling
    }

    /// The URLs of sources whose certificates are not verified.
    package var insecureURLs: [String] {
        let all = [requests] + backups.indices.map { $0 < backupRequests.count ? backupRequests[$0] : requests }
        return zip([upstream] + backups, all).filter { !$0.1.verifiesCertificates }.map(\.0)
    }

    /// The memory with the shares that the channel needs.
    var channelMemory: MemoryBudget { ladder == .one ? memory : memory.withLadder }

    /// Whether the variants beside the leading one are followed only while somebody asks for them. An archive has all of them.
    package var followsLadderOnDemand: Bool { ladder != .one && !followsWholeLadder && retention.archive == nil }

    /// The policy of a session that starts without an earlier process.
    package var policy: ChannelSession.Policy {
        var session = UpstreamSession.Policy(variant: variant)
        session.giveUp = giveUp
        session.opening = opening
        session.limits = IntakeLimits(channelMemory)
        session.maxConnections = maxConnections
        session.followsAudio = audio.policy != .drop
        session.patience = patience
        session.audioTracks = audio.tracks
        session.ladder = ladder
        session.followsLadderOnDemand = followsLadderOnDemand
        session.seed = retrySeed
        session.polling = polling
        session.program = program
        session.countsAllHosts = sharesConnections
        session.hold = hold
        session.loopsFiles = loopsFiles
        var policy = ChannelSession.Policy(session: session)
        policy.backups = backups
        policy.gapTolerance = .beforeGaps
        return policy
    }

    /// Returns the policy of a live channel's session, which continues after what an earlier process published.
    ///
    /// A replay uses `policy` instead, or its output would depend on the content of its spool.
    package func policy(after previous: PreviousRing?) -> ChannelSession.Policy {
        var policy = policy
        guard let previous else { return policy }
        policy.joinPoint = JoinPoint(after: previous.lastPublished)
        if !previous.hasEnded { policy.resumedTargetDuration = .seconds(previous.targetDuration) }
        return policy
    }
}

extension JoinPoint {
    /// The point at which the channel's own upstream continues after `last`.
    ///
    /// An entry written by an earlier version names no source; then the point is the date of the entry's end.
    fileprivate init(after last: RingEntry) {
        guard let source = last.resumePoint.upstream else {
            self.init(date: last.programDateTimeEnd)
            return
        }
        self.init(date: source.programDateTime, mediaSequence: source.sourceIndex == 0 ? source.mediaSequence : nil)
    }
}
