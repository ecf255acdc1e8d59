extension ChannelSession {
    package struct Policy: Equatable, Sendable {
        /// Of the session with each source.
        package var session: UpstreamSession.Policy
        /// Absolute addresses, in the order in which they are tried.
        package var backups: [String]
        /// Silence after which time is given out as missing; nil: it never is.
        package var gapTolerance: OutageGapTimer.Tolerance?
        /// How long the channel's own upstream has to be healthy before it is taken back.
        package var failbackDelay: Duration
        /// How long a source on trial may take to show that it is alive, and that what it brings can be published.
        package var trialLimit: Duration
        /// Where an earlier process of this channel stopped; the number is of its own upstream.
        package var joinPoint = JoinPoint.edge
        /// Target duration that viewers of an earlier process were told; nil when there are none. They are there before
        /// the upstream is: as long as it cannot be opened, the channel is in an outage.
        package var resumedTargetDuration: Duration?

        package init(
            session: UpstreamSession.Policy, backups: [String] = [], fillsAfter: OutageGapTimer.Tolerance? = nil,
            homeAfter: Duration = .seconds(60), trialLimit: Duration = .seconds(30)
        ) {
            self.session = session
            self.backups = backups
            self.gapTolerance = fillsAfter
            self.failbackDelay = homeAfter
            self.trialLimit = trialLimit
        }
    }
}
