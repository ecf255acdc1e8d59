package import Support

/// The form in which clients fetch a channel from this server.
package enum StreamFormat: String, Sendable, CaseIterable {
    /// One endless transport stream.
    case ts
    case hls

    /// The path of a channel below the base URL.
    package func path(ofSlug slug: String) -> String {
        switch self {
        // A path of one component would match no catch-up template of Kodi, and players judge by the extension.
        case .ts: "\(slug)/live.ts"
        case .hls: "\(slug)/live.m3u8"
        }
    }

    /// The path of a channel's archive below the base URL, as a template in which every client fills in the start in
    /// seconds since 1970 and the length in seconds.
    ///
    /// Players on libavformat 5 cannot seek in playlists of fragmented MP4. All players of docs/catchup.md begin with the
    /// first frame of a transport stream, and most of them at the live edge of a playlist that grows.
    fileprivate func catchupPath(ofSlug slug: String) -> String {
        switch self {
        case .ts: "\(slug)/archive-{utc}-{duration}.ts"
        case .hls: "\(slug)/ts/archive-{utc}-{duration}.m3u8"
        }
    }
}

/// The user name and the password of a client of Xtream Codes, in the URLs of a list.
package struct XtreamCredentials: Sendable {
    private let user: Secret
    private let password: Secret

    package init(user: Secret, password: Secret) { (self.user, self.password) = (user, password) }

    /// `username=…&password=…`
    package var query: Secret {
        Secret("username=\(PercentEncoding.encode(user.value))&password=\(PercentEncoding.encode(password.value))")
    }

    /// `live/USER/PASSWORD/7.ts`
    func path(ofStream number: Int, _ format: StreamFormat) -> String {
        let (user, password) = (PercentEncoding.encode(user.value), PercentEncoding.encode(password.value))
        return "live/\(user)/\(password)/\(number).\(format == .ts ? "ts" : "m3u8")"
    }
}

/// Writes the list of our channels in a form that every known reader understands.
///
/// Clients identify a channel by its URL, so the URL contains the base URL and the slug, and nothing that changes.
/// Values contain no comma and no quote, and names no comma and no dash between spaces, because readers cut there.
package struct ChannelListWriter {
    private let baseURL: String
    private let format: StreamFormat
    private let archiveFormat: StreamFormat
    private let guideURL: String?
    private let suffix: String
    private let defaultRewind: Duration?
    private let credentials: XtreamCredentials?
    private let hasAttributes: Bool

    /// - Parameters:
    ///   - baseURL: an absolute URL, with or without a slash at the end.
    ///   - archiveFormat: the form of archives; nil: the channels' form.
    ///   - guideURL: the URL of the XMLTV guide; nil without one.
    ///   - query: a query that all URLs of this server carry, percent-coded.
    ///   - defaultRewind: the rewind of channels without a setting of their own; nil: unlimited.
    ///   - credentials: the credentials of a client of Xtream Codes, which constructs archive URLs itself.
    ///   - isPlain: whether the list contains only names and URLs.
    package init(
        baseURL: String, format: StreamFormat, archiveFormat: StreamFormat? = nil, guideURL: String? = nil,
        query: String? = nil,
        defaultRewind: Duration? = .zero, credentials: XtreamCredentials? = nil, isPlain: Bool = false
    ) {
        self.baseURL = Self.withSlash(baseURL)
        (self.format, self.archiveFormat) = (format, archiveFormat ?? format)
        self.guideURL = isPlain ? nil : guideURL
        suffix = Self.suffix(query)
        self.defaultRewind = defaultRewind
        (self.credentials, hasAttributes) = (credentials, !isPlain)
    }

    /// The list in the form of `get.php` of Xtream Codes.
    /// - Parameter streamNumbers: one number for each channel.
    package func write(_ channels: [ListedChannel], streamNumbers: [Int]) -> String {
        zip(channels, streamNumbers).reduce(into: header) { $0 += entry(of: $1.0, streamNumber: $1.1) }
    }

    /// - Parameter group: only the channels of this group, compared without case; nil for all.
    package func write(_ channels: [ListedChannel], group: String? = nil) -> String {
        let group = group?.lowercased()
        var text = header
        for channel in channels where group == nil || channel.groups.contains(where: { $0.lowercased() == group }) {
            text += entry(of: channel)
        }
        return text
    }

    private var header: String {
        guard let guideURL else { return "#EXTM3U\n" }
        let url = Self.withoutCommas(guideURL) + suffix
        return "#EXTM3U x-tvg-url=\"\(url)\" url-tvg=\"\(url)\"\n"
    }

    /// The `id` of the channel in this list and its guide: the id in the channel's own guide, or else an id made from
    /// the slug, in the form of a domain name as XMLTV requires.
    package static func guideID(of channel: ListedChannel) -> String {
        let id = plain(channel.guideID ?? "")
        return id.isEmpty ? channel.slug + ".liverelay" : id
    }

    /// The name in a form that every reader shows completely.
    package static func displayName(of channel: ListedChannel) -> String {
        let words = plain(channel.name).split(separator: " ")
        var name = words.map { $0 == "-" ? "–" : $0 }.joined(separator: " ")
        if name.hasPrefix("#") { name = String(name.drop { $0 == "#" || $0 == " " }) }
        return name.isEmpty ? channel.slug : name
    }

    static func suffix(_ query: String?) -> String { query.map { "?" + $0 } ?? "" }

    static func withSlash(_ url: String) -> String { url.hasSuffix("/") ? url : url + "/" }

    private func entry(of channel: ListedChannel, streamNumber: Int? = nil) -> String {
        let listed = hasAttributes ? attributes(of: channel) : []
        let attributes = listed.map { " \($0.name)=\"\($0.value)\"" }.joined()
        var text = "#EXTINF:-1\(attributes),\(Self.displayName(of: channel))\n"
        if format == .ts, hasAttributes { text += "#KODIPROP:mimetype=video/mp2t\n" }
        let path = streamNumber.flatMap { credentials?.path(ofStream: $0, format) } ?? format.path(ofSlug: channel.slug)
        return text + baseURL + path + suffix + "\n"
    }

    private func attributes(of channel: ListedChannel) -> [ListedAttribute] {
        var attributes: [ListedAttribute] = []
        func add(_ name: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            attributes.append(ListedAttribute(name: name, value: value))
        }
        add("tvg-id", Self.guideID(of: channel))
        add("tvg-name", Self.plain(channel.guideName ?? channel.name))
        add("tvg-logo", Self.logo(channel.logo))
        add("tvg-chno", channel.number)
        add("tvg-shift", channel.guideShift.map(Self.plain))
        if channel.isRadio { add("radio", "true") }
        if let days = channel.catchupDays(defaultRewind: defaultRewind) {
            add("catchup", "default")
            add("catchup-days", String(days))
            // Only segments are redirected to a store.
            let form = channel.options.redirectsArchive == true ? format : archiveFormat
            add("catchup-source", baseURL + form.catchupPath(ofSlug: channel.slug) + suffix)
        }
        for attribute in channel.stationAttributes { add(attribute.name, Self.plain(attribute.value)) }
        add("group-title", channel.groups.map(Self.plain).joined(separator: ";"))
        return attributes
    }

    /// An http URL; a `data:` URL is left out, because it needs its comma.
    package static func logo(_ url: String?) -> String? {
        guard let url, url.lowercased().hasPrefix("http") else { return nil }
        return withoutCommas(url)
    }

    private static func withoutCommas(_ url: String) -> String {
        url.map { $0 == "," ? "%2C" : $0 == "\"" ? "%22" : $0 == "'" ? "%27" : String($0) }.joined()
    }

    /// The text without commas and quotes, on one line. An apostrophe becomes a typographic one.
    private static func plain(_ text: String) -> String {
        let characters = text.map { character -> Character in
            switch character {
            case "'", "‘", "`": "’"
            case ",", "\"", "“", "”", "„": " "
            default: character.isNewline || character.isWhitespace ? " " : character
            }
        }
        return String(characters).split(separator: " ").joined(separator: " ")
    }
}
