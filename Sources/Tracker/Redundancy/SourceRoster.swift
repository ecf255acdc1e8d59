/// A channel's sources: where they are, and how a session with one of them is opened.
struct SourceRoster: Sendable {
    /// Absolute addresses: the channel's own upstream, and its backups behind it. A source is known by its index.
    let urls: [String]
    private let policy: UpstreamSession.Policy
    /// Sessions opened so far, with all sources.
    private var opened: UInt64 = 0

    init(upstream: String, policy channel: ChannelSession.Policy) {
        urls = [upstream] + channel.backups
        var policy = channel.session
        if urls.count > 1 {
            policy.giveUp = nil
        } else if channel.resumedTargetDuration != nil {
            (policy.openingTries, policy.openingLimit) = (.max, policy.giveUp ?? Self.forEver)
        }
        self.policy = policy
    }

    var hasBackups: Bool { urls.count > 1 }

    /// A year.
    private static let forEver = Duration.seconds(366 * 86_400)

    /// - Parameter fetchesMedia: false to watch its playlists only.
    mutating func member(of source: Int, joinsAt point: JoinPoint, fetchesMedia: Bool = true) -> SourceMember {
        var policy = policy
        policy.fetchesMedia = fetchesMedia
        policy.joinsAt = point
        defer { opened += 1 }
        return SourceMember(source: source, url: urls[source], policy: policy, number: opened)
    }
}
