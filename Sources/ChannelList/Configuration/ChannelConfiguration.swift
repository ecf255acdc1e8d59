import Playlist
package import Support

/// A configuration of channels: what `channels.yaml` says.
package struct ChannelConfiguration: Sendable {
    /// The channels that the configuration itself has, with their slugs.
    package let channels: [ListedChannel]
    /// Files and URLs of M3U lists, in order. Relative paths are resolved.
    package let playlists: [String]
    /// URLs of XMLTV guides.
    package let guides: [String]
    private let defaults: ChannelEntry

    /// The tokens of channels that have none of their own; nil: they have none.
    package var defaultTokens: [Secret]? { defaults.options.tokens }

    /// A configuration of one list and nothing else.
    package init(playlist: String) {
        (channels, playlists, guides, defaults) = ([], [playlist], [], ChannelEntry())
    }

    /// Reads a configuration.
    /// - Throws: every mistake, or the first one if the text is not YAML.
    package init(
        yaml text: String, from origin: ConfigurationOrigin = .file()
    ) throws(ConfigurationError) {
        let document: ConfigurationNode?
        do { document = try YAMLDocument.read(text) } catch { throw ConfigurationError(issues: [error]) }
        var reader = DocumentReader(origin)
        if let document { reader.read(document) }
        (channels, playlists, guides, defaults) = try reader.finish()
    }

    /// Reads one channel from a request to the API, where values keep their types and no variables are expanded.
    /// - Throws: every mistake.
    package func channel(slug: String, _ node: ConfigurationNode) throws(ConfigurationError) -> ListedChannel {
        var reader = ConfigurationReader(.request)
        guard case .map = node.content else {
            throw ConfigurationError(issues: [ConfigurationIssue(.badValue(nil, expected: "an object"))])
        }
        let entry = reader.channelEntry(node)
        try reader.finish()
        return entry.channel(slug: slug, key: slug, defaults: defaults)
    }

    /// The channels of the configuration, and then those of its lists with its defaults.
    ///
    /// A channel of a list whose name in paths is taken gets a number.
    /// - Parameters:
    ///   - lists: the channels of each list, in the order of `playlists`.
    ///   - previous: the channels before a reload, whose slugs are kept.
    package func channels(
        with lists: [[ListedChannel]], keeping previous: [ListedChannel] = []
    ) -> [ListedChannel] {
        let listed = lists.joined().map(defaults.completing)
        return channels + ChannelSlug.assign(to: listed, keeping: previous, except: Set(channels.map(\.slug)))
    }

    /// Why a slug cannot be given to a channel; nil if it can.
    package static func refusal(ofSlug slug: String) -> ConfigurationIssue? {
        var patterns = PatternMatcher()
        guard patterns.matches(slug, .slug) else {
            return ConfigurationIssue(
                .badValue(ConfigurationReader.excerpt(slug), expected: ConfigurationPattern.slug.expected))
        }
        return ChannelSlug.reserved.contains(slug) ? ConfigurationIssue(.reservedName(slug)) : nil
    }
}

/// Reads the document of a configuration.
private struct DocumentReader {
    private enum Key: String, CaseIterable { case defaults, playlist, guide, channels }

    private static let mostLists = 64
    private static let mostChannels = 50_000

    private var reader: ConfigurationReader
    private var defaults = ChannelEntry()
    private var playlists: [String] = []
    private var guides: [String] = []
    private var channels: [(slug: String, key: String, entry: ChannelEntry)] = []
    /// The line of each slug.
    private var lines: [String: Int?] = [:]

    init(_ origin: ConfigurationOrigin) { reader = ConfigurationReader(origin) }

    mutating func read(_ document: ConfigurationNode) {
        guard let entries = reader.entries(document, expected: "a map with the keys channels, playlist and defaults")
        else { return }
        var found: [(Key, ConfigurationNode)] = []
        reader.read(entries, keys: Key.allCases) { found.append(($1, $2)) }
        for (key, node) in found {
            switch key {
            case .defaults: defaults = reader.below(key.rawValue) { $0.defaultsEntry(node) }
            case .playlist:
                playlists = reader.below(key.rawValue) {
                    $0.list(node, limit: Self.mostLists, of: "lists") { $0.location($1) }
                }
            case .guide:
                guides = reader.below(key.rawValue) {
                    $0.list(node, limit: Self.mostLists, of: "guides") { $0.text($1, .url) }
                }
            case .channels: readChannels(node)
            }
        }
    }

    mutating func finish() throws(ConfigurationError) -> ([ListedChannel], [String], [String], ChannelEntry) {
        if channels.isEmpty, playlists.isEmpty, reader.issueCount == 0 { reader.record(.nothingListed, at: nil) }
        try reader.finish()
        return (
            channels.map { $0.entry.channel(slug: $0.slug, key: $0.key, defaults: defaults) }, playlists, guides,
            defaults
        )
    }

    /// A map of channels by name, or a list of channels with names.
    private mutating func readChannels(_ node: ConfigurationNode) {
        switch node.content {
        case .nothing: break
        case .map(let entries):
            for entry in entries.prefix(Self.mostChannels) {
                readChannel(called: entry.key, at: entry.position, pathKey: entry.key, entry.value)
            }
            checkCount(entries.count, at: node.position)
        case .list(let items):
            for (index, item) in items.prefix(Self.mostChannels).enumerated() {
                readChannel(called: nil, at: item.position, pathKey: String(index), item)
            }
            checkCount(items.count, at: node.position)
        case .scalar:
            reader.below("channels") {
                $0.record(.badValue(nil, expected: "a map of channels by name"), at: node.position)
            }
        }
    }

    private mutating func checkCount(_ count: Int, at position: ConfigurationNode.Position?) {
        if count > Self.mostChannels { reader.record(.tooMany("channels", limit: Self.mostChannels), at: position) }
    }

    private mutating func readChannel(
        called key: String?, at position: ConfigurationNode.Position?, pathKey: String, _ node: ConfigurationNode
    ) {
        let entry = reader.below("channels") { $0.below(pathKey) { $0.channelEntry(node) } }
        guard let name = key ?? entry.options.name else {
            return record(.missingKey("name"), of: pathKey, at: position)
        }
        let slug = ChannelSlug.slug(ofName: name)
        if ChannelSlug.reserved.contains(slug) { record(.reservedName(slug), of: pathKey, at: position) }
        if let line = lines[slug] {
            record(.repeatedName(slug: slug, firstLine: line), of: pathKey, at: position)
        } else {
            lines[slug] = .some(position?.line)
            channels.append((slug, name, entry))
        }
    }

    private mutating func record(
        _ kind: ConfigurationIssue.Kind, of pathKey: String, at position: ConfigurationNode.Position?
    ) {
        reader.below("channels") { $0.below(pathKey) { $0.record(kind, at: position) } }
    }
}

extension ConfigurationReader {
    /// A URL, or the path of a file.
    fileprivate mutating func location(_ node: ConfigurationNode) -> String? {
        let expected = "a file or a URL of an M3U list"
        guard case .scalar(let text, _) = node.content else {
            record(.badValue(nil, expected: expected), at: node.position)
            return nil
        }
        return text.contains("://") || !origin.isOperator ? self.text(node, .url) : filePath(node)
    }
}
