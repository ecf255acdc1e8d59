package import Support

/// A configuration of channels: the content of `channels.yaml`.
package struct ChannelConfiguration: Sendable {
    /// The channels of the configuration itself, with their slugs.
    package let channels: [ListedChannel]
    /// The lists in order: those of `playlist`, then the accounts of `xtream`.
    package let lists: [ConfiguredList]
    /// The number of connections of each account in `accounts`.
    let accounts: [String: Int]
    package let guides: [String]
    private let defaults: ChannelEntry
    /// Lines about keys with former names.
    package let notices: [String]

    /// The tokens of channels without tokens of their own; nil: none.
    package var defaultTokens: [Secret]? { defaults.options.tokens }

    /// A configuration that contains only one list.
    /// - Parameter options: the options of the command line, for all channels.
    package init(playlist: String, defaults options: ChannelOptions = ChannelOptions()) {
        (channels, guides, defaults, accounts, notices) = ([], [], ChannelEntry(options: options), [:], [])
        lists = ConfiguredList.namingAccounts(of: [ConfiguredList(location: playlist)])
    }

    /// A configuration of one channel.
    package init(channel: ListedChannel) {
        (channels, lists, guides, defaults, accounts, notices) = ([channel], [], [], ChannelEntry(), [:], [])
    }

    /// - Parameter options: the options of the command line, for channels and `defaults` that do not say otherwise.
    /// - Throws: all mistakes, or only the first one if the text is not YAML.
    package init(
        yaml text: String, from origin: ConfigurationOrigin = .file(),
        defaults options: ChannelOptions = ChannelOptions()
    ) throws(ConfigurationError) {
        let document: ConfigurationNode?
        do { document = try YAMLDocument.read(text) } catch { throw ConfigurationError(issues: [error]) }
        var reader = DocumentReader(origin, defaults: options)
        if let document { reader.read(document) }
        (channels, lists, guides, accounts, defaults) = try reader.finish()
        notices = reader.notices
    }

    /// Reads one channel from a request to the API, where values keep their types and no variables are expanded.
    /// - Throws: all mistakes.
    package func channel(slug: String, _ node: ConfigurationNode) throws(ConfigurationError) -> ListedChannel {
        var reader = ConfigurationReader(.request)
        guard case .map = node.content else {
            throw ConfigurationError(issues: [ConfigurationIssue(.badValue(nil, expected: "an object"))])
        }
        let entry = reader.channelEntry(node)
        let known = Set(accounts.keys).union(lists.compactMap(\.account))
        if let account = entry.options.account { reader.checkAccount(account, known: known) }
        try reader.finish()
        return entry.channel(slug: slug, key: slug, defaults: defaults)
    }

    /// The channels of the configuration, followed by the channels of its lists with its defaults.
    ///
    /// If the slug of a listed channel is taken, the channel gets a number.
    /// - Parameters:
    ///   - lists: the channels of each list, in the order of `lists`.
    ///   - previous: the channels before a reload, whose slugs are kept.
    package func channels(
        with lists: [[ListedChannel]], keeping previous: [ListedChannel] = []
    ) -> [ListedChannel] {
        let listed = zip(self.lists, lists).flatMap { list, channels in channels.map(list.completing) }
            .map(defaults.completing)
        return channels + ChannelSlug.assign(to: listed, keeping: previous, except: Set(channels.map(\.slug)))
    }

    /// The connections of each account: from `accounts`, or else as the panel of the account's list states.
    /// - Parameter limits: the limits of the lists that were read, in the order of `lists`.
    package func connections(of limits: [Int?]) -> [String: Int] {
        zip(lists, limits).reduce(into: accounts) { connections, pair in
            guard let account = pair.0.account, accounts[account] == nil, let limit = pair.1 else { return }
            connections[account] = min(connections[account] ?? limit, limit)
        }
    }

    /// The reason why a channel may not have a slug; nil if it may.
    package static func refusal(ofSlug slug: String) -> ConfigurationIssue? {
        var patterns = PatternMatcher()
        guard patterns.matches(slug, .slug) else {
            return ConfigurationIssue(
                .badValue(ConfigurationReader.excerpt(slug), expected: ConfigurationPattern.slug.expected))
        }
        return ChannelSlug.reserved.contains(slug) ? ConfigurationIssue(.reservedName(slug)) : nil
    }
}

private struct DocumentReader {
    private enum Key: String, CaseIterable { case defaults, playlist, xtream, accounts, guide, channels }

    private static let mostLists = 64
    private static let mostChannels = 50_000

    private var reader: ConfigurationReader
    private var defaults: ChannelEntry
    private var playlists: [ConfiguredList] = []
    private var subscriptions: [ConfiguredList] = []
    private var accounts: [String: Int] = [:]
    private var guides: [String] = []
    private var channels: [(slug: String, key: String, entry: ChannelEntry)] = []
    /// The line of each slug.
    private var lines: [String: Int?] = [:]

    init(_ origin: ConfigurationOrigin, defaults options: ChannelOptions) {
        (reader, defaults) = (ConfigurationReader(origin), ChannelEntry(options: options))
    }

    mutating func read(_ document: ConfigurationNode) {
        guard let entries = reader.entries(document, expected: "a map with the keys channels, playlist and defaults")
        else { return }
        var found: [(Key, ConfigurationNode)] = []
        reader.read(entries, keys: Key.allCases) { found.append(($1, $2)) }
        for (key, node) in found {
            switch key {
            case .defaults:
                let options = defaults.options
                defaults = reader.below(key.rawValue) { $0.defaultsEntry(node) }
                defaults.options = defaults.options.filled(from: options)
            case .playlist:
                playlists = reader.below(key.rawValue) {
                    $0.list(node, limit: Self.mostLists, of: "lists") { $0.configuredList($1) }
                }
            case .xtream:
                subscriptions = reader.below(key.rawValue) {
                    $0.list(node, limit: Self.mostLists, of: "accounts") { $0.subscription($1) }
                }
            case .accounts: accounts = reader.below(key.rawValue) { $0.accounts(node) }
            case .guide:
                guides = reader.below(key.rawValue) {
                    $0.list(node, limit: Self.mostLists, of: "guides") { $0.text($1, .url) }
                }
            case .channels: readChannels(node)
            }
        }
    }

    var notices: [String] {
        reader.formerKeys.sorted().compactMap { former in
            ConfigurationKey.formerNames[former].map { "the key “\(former)” is called “\($0.rawValue)” now" }
        }
    }

    mutating func finish() throws(ConfigurationError) -> (
        [ListedChannel], [ConfiguredList], [String], [String: Int], ChannelEntry
    ) {
        let lists = ConfiguredList.namingAccounts(of: playlists + subscriptions)
        if channels.isEmpty, lists.isEmpty, reader.issueCount == 0 { reader.record(.nothingListed, at: nil) }
        checkAccounts(known: Set(accounts.keys).union(lists.filter(\.isAccount).compactMap(\.account)))
        try reader.finish()
        return (
            channels.map { $0.entry.channel(slug: $0.slug, key: $0.key, defaults: defaults) }, lists, guides, accounts,
            defaults
        )
    }

    /// Records an issue for each account that channels and lists name but nothing describes.
    private mutating func checkAccounts(known: Set<String>) {
        if let account = defaults.options.account {
            reader.below("defaults") { $0.checkAccount(account, known: known) }
        }
        for (index, list) in playlists.enumerated() {
            guard let account = list.account else { continue }
            reader.below("playlist") { $0.below(String(index)) { $0.checkAccount(account, known: known) } }
        }
        for (_, key, entry) in channels {
            guard let account = entry.options.account else { continue }
            reader.below("channels") { $0.below(key) { $0.checkAccount(account, known: known) } }
        }
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
