/// A channel of a list: its description for people and guides, and its sources.
package struct ListedChannel: Equatable, Sendable {
    /// The channel's name in paths: `a`…`z`, digits and dashes, unique in its list. Empty until `ChannelSlug.assign`.
    package var slug = ""
    package var name: String
    /// The channel number, as `7` or `5.1`; not necessarily unique.
    package var number: String?
    /// An absolute URL, or a `data:` URL.
    package var logo: String?
    /// The groups in which the channel is listed; unique, in order.
    package var groups: [String] = []
    /// The `id` of the channel in an XMLTV guide (`tvg-id`); several channels may have the same one.
    package var guideID: String?
    /// The name of the channel in a guide (`tvg-name`).
    package var guideName: String?
    /// Hours by which the guide's times are shifted, as written: `-4.5`.
    package var guideShift: String?
    package var isRadio = false
    /// The attributes `tvc-*` of Channels DVR, in order.
    package var stationAttributes: [ListedAttribute] = []
    /// The primary source and its backups, in order. A channel that a parser returned has at least one source.
    package var sources: [ListedSource]
    /// The options of its configuration; empty for a channel of an M3U list.
    package var options = ChannelOptions()
    /// The archive at the provider of the first source; nil if none is known.
    package var providerArchive: ProviderArchive?
}

extension ListedChannel {
    /// The only channel of a process, which has no name in paths.
    package init(sources: [String], options: ChannelOptions) {
        self.init(name: "", sources: sources.map { ListedSource(url: $0) }, options: options)
    }
}

/// An attribute that is passed on unchanged.
package struct ListedAttribute: Hashable, Sendable {
    /// In lower case.
    let name: String
    let value: String
}

/// A header field that a list specifies for the requests of a source.
package struct ListedHeader: Hashable, Sendable {
    /// A token (RFC 9110 §5.6.2). Well-known names have their usual spelling: `User-Agent`, `Referer`.
    package let name: String
    /// Without control characters and without surrounding white space.
    package let value: String
}

/// One URL under which a channel can be fetched, and how to ask for it.
package struct ListedSource: Hashable, Sendable {
    /// An absolute `http` or `https` URL, without header fields and labels.
    package var url: String
    /// At most one field of each name, compared without case.
    package var headers: [ListedHeader] = []
    package var proxy: String?
    /// Whether the certificates of the source's hosts are not verified.
    package var isInsecure = false
    /// The text after `$` in `http://host/path$label`, a name of the source for people.
    var label: String?
    /// Whether credentials given to the process for all sources are not sent to this source.
    package var withholdsCredentials = false
}

extension ListedChannel {
    /// Shorter rewinds hold no whole program.
    private static let shortestArchive = Duration.seconds(3600)
    private static let longestArchive = Duration.seconds(3600 * ConfigurationKey.archiveHours.upperBound)

    /// How far back clients may request past programs, in the channel's own archive or its provider's; nil: the channel
    /// offers no catch-up.
    ///
    /// A channel that always runs keeps all of its rewind or archive. An on-demand channel keeps only what was watched,
    /// so it offers no catch-up. The length of an archive that is limited only in bytes is unknown here, so its rewind
    /// counts.
    /// - Parameter defaultRewind: the rewind of channels without a setting of their own; nil: unlimited.
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

    /// The archive in days, the unit of clients: less than a day counts as one day, otherwise the fraction is dropped.
    func catchupDays(defaultRewind: Duration?) -> Int? {
        archive(defaultRewind: defaultRewind).map { Int(max(1, $0.components.seconds / 86_400)) }
    }
}
