import Playlist
import Support

extension ConfigurationReader {
    /// Reads a channel: a URL, a list of them, or a map of keys.
    mutating func channelEntry(_ node: ConfigurationNode) -> ChannelEntry {
        var entry = ChannelEntry()
        switch node.content {
        case .map(let entries): read(entries, into: &entry, scope: .channel)
        case .nothing, .scalar, .list: entry.sources = sources(node, .url)
        }
        let hasURL = if case .map(let entries) = node.content { entries.contains { $0.key == "url" } } else { true }
        if !hasURL { record(.missingKey("url"), at: node.position) }
        return entry
    }

    mutating func defaultsEntry(_ node: ConfigurationNode) -> ChannelEntry {
        var entry = ChannelEntry()
        if let entries = entries(node, expected: "a map of keys") { read(entries, into: &entry, scope: .defaults) }
        return entry
    }

    private mutating func read(
        _ entries: [ConfigurationNode.Entry], into entry: inout ChannelEntry, scope: ConfigurationKey.Scope
    ) {
        let entries = entries.map { entry in
            guard let key = ConfigurationKey.formerNames[entry.key] else { return entry }
            formerKeys.insert(entry.key)
            return ConfigurationNode.Entry(key: key.rawValue, position: entry.position, value: entry.value)
        }
        read(entries, keys: scope.keys) { reader, key, node in
            if !key.isPermitted(in: reader.origin) {
                return reader.record(.onlyInFile(key.rawValue), at: node.position)
            }
            switch key {
            case .headers, .userAgent, .cookie, .proxy, .insecure: reader.readRequest(key, node, into: &entry.requests)
            case .url: entry.sources = reader.sources(node, key)
            case .backups: entry.backups = reader.sources(node, key)
            case .rewind: reader.readRewind(node, into: &entry.options)
            case .token, .tokens: entry.options.tokens = (entry.options.tokens ?? []) + reader.tokens(node, key)
            default: entry.options[key] = reader.value(node, key.row.form)
            }
        }
        checkMemory(entry.options, entries)
    }

    /// Reads a value that stands for itself.
    private mutating func value(
        _ node: ConfigurationNode, _ form: ConfigurationKey.Form
    ) -> (any Hashable & Sendable)? {
        switch form {
        case .flag: return bool(node)
        case .span: return duration(node)
        case .shortSpan: return duration(node, .shortSpan)
        case .hours(let range): return duration(node, hours: range)
        case .path: return filePath(node)
        case .variant: return text(node, .variant).flatMap { VariantChoice($0) }
        case .count(let range): return integer(node, in: range)
        case .bytes(let least): return byteCount(node, atLeast: least)
        case .text(let pattern): return text(node, pattern)
        case .choice(let words): return choice(node, of: words)
        case .texts(let pattern, let limit):
            let texts = list(node, limit: limit, of: "groups") { $0.text($1, pattern) }
            return texts.isEmpty ? nil : texts
        case .addresses(let limit): return list(node, limit: limit, of: "addresses") { $0.ipAddress($1) }
        case .recording: return recording(node)
        case .split: return split(node)
        case .zone: return clock(node)
        case .storage(let least): return storage(node, atLeast: least)
        case .store: return store(node)
        case .tokens, .headers, .sources, .rewind: return nil
        }
    }

    private mutating func tokens(_ node: ConfigurationNode, _ key: ConfigurationKey) -> [Secret] {
        guard case .tokens(let limit) = key.row.form else { return [] }
        return list(node, limit: limit, of: "tokens") { $0.text($1, .token).map { Secret($0) } }
    }

    /// Checks that the memory limit permits the largest segment and the largest playlist, if they are given in the same
    /// place.
    private mutating func checkMemory(_ options: ChannelOptions, _ entries: [ConfigurationNode.Entry]) {
        guard let limit = options.memoryLimitBytes else { return }
        let needed = [
            (ConfigurationKey.maxSegment, options.maxSegmentBytes.map(MemoryBudget.limit(forSegment:))),
            (.maxPlaylist, options.maxPlaylistBytes.map(MemoryBudget.limit(forPlaylist:))),
        ]
        for case (let key, let bytes?) in needed where bytes > limit {
            let position = entries.first { $0.key == key.rawValue }?.value.position
            let expected = "possible with less than \((bytes + (1 << 20) - 1) >> 20)MiB of memory-limit"
            below(key.rawValue) { $0.record(.badValue(nil, expected: expected), at: position) }
        }
    }

    /// A length, which the channel always keeps, or `when-watched`.
    private mutating func readRewind(_ node: ConfigurationNode, into options: inout ChannelOptions) {
        if case .scalar("when-watched", let kind) = node.content, kind != .number {
            options.keepsRewind = false
        } else if let length = duration(node) {
            (options.rewind, options.keepsRewind) = (length, true)
        }
    }

    /// Reads the URL of a store, or a map with it.
    private mutating func store(_ node: ConfigurationNode) -> StoreOptions? {
        guard case .map(let entries) = node.content else {
            return text(node, .store).map { StoreOptions(url: $0) }
        }
        var store = StoreOptions(url: "")
        read(entries, keys: StoreOptions.Key.allCases) { reader, key, node in
            switch key {
            case .url: store.url = reader.text(node, .store) ?? ""
            case .proxy: store.proxy = reader.text(node, .proxy).map { Secret($0) }
            case .certificates: store.certificates = reader.filePath(node)
            case .credentials: store.credentials = reader.filePath(node)
            case .connections:
                store.connections = reader.integer(node, in: StoreOptions.connectionRange) ?? store.connections
            }
        }
        if !entries.contains(where: { $0.key == StoreOptions.Key.url.rawValue }) {
            record(.missingKey("url"), at: node.position)
        }
        return store.url.isEmpty ? nil : store
    }

    private mutating func recording(_ node: ConfigurationNode) -> RecordingPattern? {
        guard let path = filePath(node) else { return nil }
        do throws(RecordingPattern.Fault) { return try RecordingPattern(path) } catch {
            return refuse(node, path, expected: error.expectation)
        }
    }

    private mutating func split(_ node: ConfigurationNode) -> RecordingSplit? {
        if case .scalar(let word, let kind) = node.content, kind != .number, let split = RecordingSplit(word: word) {
            return split
        }
        return duration(node).flatMap { $0 > .zero ? .every(seconds: $0.components.seconds) : .never }
    }

    private mutating func ipAddress(_ node: ConfigurationNode) -> String? {
        let expected = "an IP address"
        guard let (written, text) = scalar(node, [.plain, .text], expected: expected) else { return nil }
        if IPAddress(text) != nil { return text }
        return refuse(node, written, expected: expected)
    }
}

// MARK: - Sources

extension ConfigurationReader {
    private mutating func sources(_ node: ConfigurationNode, _ key: ConfigurationKey) -> [ChannelEntry.Source] {
        guard case .sources(let least, let limit) = key.row.form else { return [] }
        if case .list(let list) = node.content, list.count < least {
            record(.noValue, at: node.position)
            return []
        }
        return list(node, limit: limit, of: "URLs of one channel") { $0.source($1) }
    }

    /// Reads a URL, or a map with a URL and the headers and proxy of its requests.
    private mutating func source(_ node: ConfigurationNode) -> ChannelEntry.Source? {
        guard case .map(let entries) = node.content else {
            return sourceURL(node).map { ChannelEntry.Source(url: $0) }
        }
        var source = ChannelEntry.Source(url: "")
        read(entries, keys: ConfigurationKey.Scope.source.keys) { reader, key, node in
            if !key.isPermitted(in: reader.origin) {
                return reader.record(.onlyInFile(key.rawValue), at: node.position)
            }
            if key == .url { source.url = reader.sourceURL(node) ?? "" }
            reader.readRequest(key, node, into: &source.requests)
        }
        if !entries.contains(where: { $0.key == "url" }) { record(.missingKey("url"), at: node.position) }
        return source.url.isEmpty ? nil : source
    }

    /// Reads a URL, or the path of a file if the operator wrote it.
    private mutating func sourceURL(_ node: ConfigurationNode) -> String? {
        guard origin.isOperator, case .scalar(let text, _) = node.content,
            ["/", "./", "../", "file:///"].contains(where: { text.hasPrefix($0) })
        else { return self.text(node, .source) }
        return filePath(node).map { $0.hasPrefix("file:") ? $0 : FileURL.text(ofPath: $0) }
    }

    private mutating func readRequest(
        _ key: ConfigurationKey, _ node: ConfigurationNode, into requests: inout RequestOptions
    ) {
        switch key {
        case .headers: readHeaders(node, into: &requests)
        case .userAgent:
            if let value = text(node, .headerValue) { setHeader("User-Agent", value, in: &requests, at: node.position) }
        case .cookie:
            if let value = text(node, .cookie) { setHeader("Cookie", value, in: &requests, at: node.position) }
        case .proxy: requests.proxy = text(node, .proxy)
        case .insecure: requests.isInsecure = bool(node)
        default: break
        }
    }

    private static let mostHeaders = 32

    private mutating func readHeaders(_ node: ConfigurationNode, into requests: inout RequestOptions) {
        guard let entries = entries(node, expected: "a map of header names and values") else { return }
        guard entries.count <= Self.mostHeaders else {
            return record(.tooMany("headers of one URL", limit: Self.mostHeaders), at: node.position)
        }
        for entry in entries {
            below(entry.key) { reader in
                guard let value = reader.text(entry.value, .headerValue) else { return }
                reader.setHeader(entry.key, value, in: &requests, at: entry.position)
            }
        }
    }

    private mutating func setHeader(
        _ name: String, _ value: String, in requests: inout RequestOptions, at position: ConfigurationNode.Position?
    ) {
        if !requests.setUnquoted(name, to: value) { record(.malformedHeader(Self.excerpt(name)), at: position) }
    }
}

extension ChannelOptions {
    /// The options of a command line, which are like `defaults` of a configuration.
    /// - Parameter arguments: the values of each option that was given, at least one.
    package init(arguments: [ConfigurationKey: [String]]) throws(ConfigurationError) {
        var reader = ConfigurationReader(.commandLine)
        let entries = arguments.map { key, texts in
            let values = texts.map { ConfigurationNode(.scalar($0, .plain), position: nil) }
            return ConfigurationNode.Entry(
                key: key.rawValue, position: nil,
                value: values.count == 1 ? values[0] : ConfigurationNode(.list(values), position: nil))
        }
        self = reader.defaultsEntry(ConfigurationNode(.map(entries), position: nil)).options
        try reader.finish()
    }
}

/// The values of one channel, or of `defaults`, as written.
struct ChannelEntry {
    var requests = RequestOptions()
    var sources: [Source] = []
    var backups: [Source] = []
    /// Includes the properties for people and guides.
    var options = ChannelOptions()

    /// A URL of a channel, with the settings for this URL alone.
    struct Source {
        var url: String
        var requests = RequestOptions()
    }

    /// - Parameters:
    ///   - slug: the slug of the channel.
    ///   - key: the channel's name, unless `name` gives another one.
    func channel(slug: String, key: String, defaults: ChannelEntry) -> ListedChannel {
        let common = requests.filled(from: defaults.requests)
        let options = options.filled(from: defaults.options)
        return ListedChannel(
            slug: slug, name: options.name ?? key, number: options.number, logo: options.logo,
            groups: options.groups ?? [], guideID: options.guideID, guideName: options.guideName,
            guideShift: options.guideShift, isRadio: options.isRadio ?? false,
            sources: (sources + backups).map { source in
                let requests = source.requests.filled(from: common)
                return ListedSource(
                    url: source.url, headers: requests.headers, proxy: requests.proxy,
                    isInsecure: requests.isInsecure ?? false)
            },
            options: options.withoutDescription)
    }

    /// A channel of an included list, with these values as its defaults.
    func completing(_ channel: ListedChannel) -> ListedChannel {
        var channel = channel
        if channel.groups.isEmpty { channel.groups = options.groups ?? [] }
        channel.guideShift = channel.guideShift ?? options.guideShift
        channel.isRadio = channel.isRadio || options.isRadio == true
        channel.options = channel.options.filled(from: options.withoutDescription)
        for index in channel.sources.indices {
            var own = RequestOptions(channel.sources[index])
            own = own.filled(from: requests)
            (channel.sources[index].headers, channel.sources[index].proxy) = (own.headers, own.proxy)
            channel.sources[index].isInsecure = own.isInsecure ?? false
        }
        return channel
    }
}
