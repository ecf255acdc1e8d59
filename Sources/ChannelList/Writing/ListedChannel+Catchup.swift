extension ListedChannel {
    /// Shorter rewinds hold no whole program.
    private static let shortestArchive = Duration.seconds(3600)
    private static let longestArchive = Duration.seconds(3600 * ConfigurationKey.archiveHours.upperBound)

    /// How far back clients may ask for past programs, by the channel's own archive or its provider's; nil: the channel
    /// offers no catch-up.
    ///
    /// A channel that always runs has everything of its rewind or archive. One that runs for its viewers has what somebody
    /// watched, and offers nothing. How long an archive is that only bytes limit is not known here: its rewind counts.
    /// - Parameter defaultRewind: the rewind of channels that do not say theirs; nil: without a limit.
    package func archive(defaultRewind: Duration?) -> Duration? {
        let provided = providerArchive.map { Duration.seconds($0.days * 86_400) }
        return [ownArchive(defaultRewind: defaultRewind), provided].compactMap(\.self).max()
    }

    private func ownArchive(defaultRewind: Duration?) -> Duration? {
        guard options.runsAlways else { return nil }
        let rewind = options.rewind ?? defaultRewind ?? Self.longestArchive
        let archive = min(max(rewind, options.archive ?? .zero), Self.longestArchive)
        return archive >= Self.shortestArchive ? archive : nil
    }

    /// The archive in the days that clients count by: one of some hours is one day, and a longer one loses its last part.
    func catchupDays(defaultRewind: Duration?) -> Int? {
        archive(defaultRewind: defaultRewind).map { Int(max(1, $0.components.seconds / 86_400)) }
    }
}

extension StreamFormat {
    /// The path of a channel's archive below the base URL, as a template: every client fills in the start in seconds since
    /// 1970, and the length in seconds. Players on libavformat 5 cannot seek in playlists of fragmented MP4.
    func catchupPath(ofSlug slug: String) -> String {
        switch self {
        case .ts: "\(slug)/archive-{utc}-{duration}.ts"
        case .hls: "\(slug)/ts/archive-{utc}-{duration}.m3u8"
        }
    }
}
