/// A channel's sources: their URLs, and how a session with one of them is opened.
struct ChannelSources: Sendable {
    /// Absolute URLs: the primary, then its backups. A source is identified by its index.
    let urls: [String]
    private let policy: UpstreamSession.Policy
    /// Sessions opened so far, with all sources.
    private var openedSessions: UInt64 = 0

    init(upstream: String, policy channelPolicy: ChannelSession.Policy) {
        urls = [upstream] + channelPolicy.backups
        var policy = channelPolicy.session
        if urls.count > 1 {
            policy.giveUp = nil
        } else if channelPolicy.resumedTargetDuration != nil {
            (policy.openingTries, policy.openingLimit) = (.max, policy.giveUp ?? Self.oneYear)
        }
        self.policy = policy
    }

    var hasBackups: Bool { urls.count > 1 }

    private static let oneYear = Duration.seconds(366 * 86_400)

    /// Creates a session with `source`.
    /// - Parameter fetchesMedia: false to follow only its playlists.
    mutating func makeSession(for source: Int, joinPoint: JoinPoint, fetchesMedia: Bool = true) -> SourceSession {
        var policy = policy
        policy.fetchesMedia = fetchesMedia
        policy.joinPoint = joinPoint
        policy.pacesFiles = source > 0
        defer { openedSessions += 1 }
        return SourceSession(source: source, url: urls[source], policy: policy, number: openedSessions)
    }
}
