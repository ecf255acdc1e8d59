extension ListedChannel {
    /// Shorter rewinds hold no whole program.
    private static let shortestArchive = Duration.seconds(3600)
    /// Clients list the programs of every day.
    private static let longestArchive = Duration.seconds(366 * 86_400)

    /// How far back clients may ask for past programs; nil: the channel offers no catch-up.
    ///
    /// A channel that always runs has everything of its rewind. One that runs for its viewers has what somebody watched,
    /// and offers nothing.
    /// - Parameter defaultRewind: the rewind of channels that do not say theirs; nil: without a limit.
    package func archive(defaultRewind: Duration?) -> Duration? {
        guard options.runsAlways else { return nil }
        let archive = min(options.rewind ?? defaultRewind ?? Self.longestArchive, Self.longestArchive)
        return archive >= Self.shortestArchive ? archive : nil
    }

    /// The archive in the days that clients count by: one of some hours is one day, and a longer one loses its last part.
    func catchupDays(defaultRewind: Duration?) -> Int? {
        archive(defaultRewind: defaultRewind).map { Int(max(1, $0.components.seconds / 86_400)) }
    }
}

extension StreamFormat {
    /// The path of a channel's archive below the base URL, as a template: every client fills in the start in seconds since
    /// 1970, and the length in seconds.
    func catchupPath(ofSlug slug: String) -> String {
        switch self {
        case .ts: "\(slug)/archive-{utc}-{duration}.ts"
        case .hls: "\(slug)/archive-{utc}-{duration}.m3u8"
        }
    }
}
