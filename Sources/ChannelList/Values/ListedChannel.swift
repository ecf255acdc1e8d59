/// A channel of a list: what people and guides call it, and where it comes from.
package struct ListedChannel: Hashable, Sendable {
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
    /// How the upstream offers its past programs; nil if the list does not say that it does.
    package var catchup: ListedCatchup?
    /// The attributes `tvc-*` of Channels DVR, in order.
    package var stationAttributes: [ListedAttribute]
    /// The primary source and its backups, in order; at least one for a channel that a parser returned.
    package var sources: [ListedSource]
    /// What its configuration says about relaying it; nothing for a channel of an M3U list.
    package var options: ChannelOptions

    package init(
        slug: String = "", name: String, number: String? = nil, logo: String? = nil, groups: [String] = [],
        guideID: String? = nil, guideName: String? = nil, guideShift: String? = nil, isRadio: Bool = false,
        catchup: ListedCatchup? = nil, stationAttributes: [ListedAttribute] = [], sources: [ListedSource],
        options: ChannelOptions = ChannelOptions()
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
        self.catchup = catchup
        self.stationAttributes = stationAttributes
        self.sources = sources
        self.options = options
    }

    /// Whether a run of the channel would be another one with `other`: its sources or its options differ. What only
    /// guides and people read may differ, how long it runs without viewers, and who its viewers are.
    package func isRelayedDifferently(from other: ListedChannel) -> Bool {
        var options = options
        options.idle = other.options.idle
        options.tokens = other.options.tokens
        return sources != other.sources || options != other.options
    }
}

/// An attribute that is passed on as it is.
package struct ListedAttribute: Hashable, Sendable {
    /// In lower case.
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The attributes `catchup*` of a channel, as written.
package struct ListedCatchup: Hashable, Sendable {
    /// `default`, `append`, `shift`, `flussonic`, `xc`, `vod`, …
    package var mode: String?
    /// How far back the upstream goes, in days.
    package var days: String?
    /// The template of the URL.
    package var source: String?
    /// Hours that are added to the times in the URL.
    package var correction: String?

    package init(mode: String? = nil, days: String? = nil, source: String? = nil, correction: String? = nil) {
        self.mode = mode
        self.days = days
        self.source = source
        self.correction = correction
    }
}
