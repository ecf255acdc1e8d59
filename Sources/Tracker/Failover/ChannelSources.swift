/// A channel's sources: where they are, and how a session with one of them is opened.
struct ChannelSources: Sendable {
    /// Absolute addresses: the channel's own upstream, and its backups behind it. A source is known by its index.
    let urls: [String]
    private let policy: UpstreamSession.Policy
    /// Sessions opened so far, with all sources.
    private var openedSessions: UInt64 = 0

    init(upstream: String, policy channel: ChannelSession.Policy) {
        urls = [upstream] + channel.backups
        var policy = channel.session
        if urls.count > 1 {
            policy.giveUp = nil
        } else if channel.resumedTargetDuration != nil {
            (policy.openingTries, policy.openingLimit) = (.max, policy.giveUp ?? Self.oneYear)
        }
        self.policy = policy
    }

    var hasBackups: Bool { urls.count > 1 }

    /// A year.
    private static let oneYear = Duration.seconds(366 * 86_400)

    /// - Parameter fetchesMedia: false to watch its playlists only.
    mutating func makeSession(for source: Int, joinPoint point: JoinPoint, fetchesMedia: Bool = true) -> SourceSession {
        var policy = policy
        policy.fetchesMedia = fetchesMedia
        policy.joinPoint = point
        defer { openedSessions += 1 }
        return SourceSession(source: source, url: urls[source], policy: policy, number: openedSessions)
    }
}
