extension ChannelSession {
    package struct Policy: Equatable, Sendable {
        /// The policy of the session with each source.
        package var session: UpstreamSession.Policy
        /// Absolute URLs, in the order in which they are tried.
        package var backups: [String]
        /// Silence before missing time is delivered as an outage gap; nil: it never is.
        package var gapTolerance: OutageGapTimer.Tolerance?
        /// How long the primary has to be healthy before it is published again.
        package var failbackDelay: Duration
        /// How long a trial may take to show that the source lists new segments and that they can be published.
        package var trialLimit: Duration
        /// Where an earlier process of this channel stopped; the media sequence number is the primary's.
        package var joinPoint = JoinPoint.edge
        /// Target duration that an earlier process published; nil if there was none. Its viewers are there before the
        /// upstream is: until the upstream can be opened, the channel is in an outage.
        package var resumedTargetDuration: Duration?

        package init(
            session: UpstreamSession.Policy, backups: [String] = [], gapTolerance: OutageGapTimer.Tolerance? = nil,
            failbackDelay: Duration = .seconds(60), trialLimit: Duration = .seconds(30)
        ) {
            self.session = session
            self.backups = backups
            self.gapTolerance = gapTolerance
            self.failbackDelay = failbackDelay
            self.trialLimit = trialLimit
        }
    }
}
