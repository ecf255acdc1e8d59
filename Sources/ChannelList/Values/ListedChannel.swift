/// A channel of a list: what people and guides call it, and where it comes from.
package struct ListedChannel: Equatable, Sendable {
    /// The channel's name in paths: `a`…`z`, digits and dashes, unique in its list. Empty until `ChannelSlug.assign`.
    package var slug: String
    package var name: String
    /// The channel number, as `7` or `5.1`; not necessarily unique.
    package var number: String?
    /// An absolute URL, or a `data:` URL.
    package var logo: String?
    /// The groups in which the channel is listed; unique, in order.
    package var groups: [String]
    /// The `id` of the channel in an XMLTV guide (`tvg-id`); several channels may have the same one.
    package var guideID: String?
    /// The name of the channel in a guide (`tvg-name`).
    package var guideName: String?
    /// Hours by which the guide's times are shifted, as written: `-4.5`.
    package var guideShift: String?
    package var isRadio: Bool
    /// The attributes `tvc-*` of Channels DVR, in order.
    package var stationAttributes: [ListedAttribute]
    /// The primary source and its backups, in order; at least one for a channel that a parser returned.
    package var sources: [ListedSource]
    /// The options of its configuration; empty for a channel of an M3U list.
    package var options: ChannelOptions
    /// The archive that the provider of its first source has; nil: none that is known.
    package var providerArchive: ProviderArchive?

    package init(
        slug: String = "", name: String, number: String? = nil, logo: String? = nil, groups: [String] = [],
        guideID: String? = nil, guideName: String? = nil, guideShift: String? = nil, isRadio: Bool = false,
        stationAttributes: [ListedAttribute] = [], sources: [ListedSource], options: ChannelOptions = ChannelOptions()
    ) {
        self.slug = slug
        self.name = name
        self.number = number
        self.logo = logo
        self.groups = groups
        self.guideID = guideID
        self.guideName = guideName
        self.guideShift = guideShift
        self.isRadio = isRadio
        self.stationAttributes = stationAttributes
        self.sources = sources
        self.options = options
    }
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
    package var headers: [ListedHeader]
    /// The proxy's URL.
    package var proxy: String?
    /// The words after `$` in `http://host/path$label`: names the source for people.
    var label: String?
    /// Whether the credentials that the process was given for all sources stay away from this one.
    package var withholdsCredentials = false

    package init(url: String, headers: [ListedHeader] = [], proxy: String? = nil, label: String? = nil) {
        self.url = url
        self.headers = headers
        self.proxy = proxy
        self.label = label
    }
}
