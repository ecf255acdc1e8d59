extension ListedChannel {
    /// Shorter rewinds hold no whole program.
    private static let shortestArchive = Duration.seconds(3600)
    /// Clients list the programs of every day.
    private static let mostDays = 366

    /// The days of past programs that clients may ask for; nil: the channel offers no catch-up.
    ///
    /// A channel that always runs has everything of its rewind. One that runs for its viewers has what somebody watched,
    /// and offers nothing. Clients count whole days: a rewind of some hours is one, and a longer one loses its last part.
    /// - Parameter defaultRewind: the rewind of channels that do not say theirs; nil: without a limit.
    package func catchupDays(defaultRewind: Duration?) -> Int? {
        guard options.runsAlways else { return nil }
        guard let rewind = options.rewind ?? defaultRewind else { return Self.mostDays }
        guard rewind >= Self.shortestArchive else { return nil }
        return Int(min(max(1, rewind.components.seconds / 86_400), Int64(Self.mostDays)))
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
