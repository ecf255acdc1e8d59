/// A channel of a list: what people and guides call it, and where it comes from.
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
    /// The primary source and its backups, in order; at least one for a channel that a parser returned.
    package var sources: [ListedSource]
    /// The options of its configuration; empty for a channel of an M3U list.
    package var options = ChannelOptions()
    /// The archive that the provider of its first source has; nil: none that is known.
    package var providerArchive: ProviderArchive?
}

/// An attribute that is passed on as it is.
package struct ListedAttribute: Hashable, Sendable {
    /// In lower case.
    let name: String
    let value: String
}

/// A header field that a list asks to send with the requests for a source.
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
    /// Whether the certificates of its hosts are not verified.
    package var isInsecure = false
    /// The words after `$` in `http://host/path$label`: names the source for people.
    var label: String?
    /// Whether the credentials that the process was given for all sources stay away from this one.
    package var withholdsCredentials = false
}

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
