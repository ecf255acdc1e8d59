import Playlist
import Support

/// The largest numbers that a channel may have.
private enum Most {
    /// Sources in `url`, and in `backups`.
    static let sources = 16
    static let headers = 32
    static let groups = 16
    static let addresses = 64
    static let connections = 1000
    static let tokens = 1000
}

extension ConfigurationReader {
    /// Reads a channel: a URL, a list of them, or a map of keys.
    mutating func channelEntry(_ node: ConfigurationNode) -> ChannelEntry {
        var entry = ChannelEntry()
        switch node.content {
        case .map(let entries): read(entries, into: &entry, scope: .channel)
        case .nothing, .scalar, .list: entry.sources = sources(node)
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
        read(entries, keys: scope.keys) { reader, key, node in
            if !key.isPermitted(in: reader.origin) {
                return reader.record(.onlyInFile(key.rawValue), at: node.position)
            }
            if reader.readDescription(key, node, into: &entry) { return }
            if reader.readRequest(key, node, into: &entry.requests) { return }
            if reader.readUpstreamOption(key, node, into: &entry.options) { return }
            reader.readOption(key, node, into: &entry.options)
        }
        checkMemory(entry.options, entries)
    }

    /// - Returns: false if the key is for something else; as the functions below.
    private mutating func readDescription(
        _ key: ConfigurationKey, _ node: ConfigurationNode, into entry: inout ChannelEntry
    ) -> Bool {
        switch key {
        case .name: entry.name = text(node, .text)
        case .group: entry.groups = list(node, limit: Most.groups, of: "groups") { $0.text($1, .text) }
        case .logo: entry.logo = text(node, .logo)
        case .number: entry.number = text(node, .number)
        case .guideID: entry.guideID = text(node, .text)
        case .guideName: entry.guideName = text(node, .text)
        case .guideShift: entry.guideShift = text(node, .shift)
        case .radio: entry.isRadio = bool(node)
        case .url: entry.sources = sources(node)
        case .backups: entry.backups = sources(node, mayBeEmpty: true)
        default: return false
        }
        return true
    }

    private mutating func readRequest(
        _ key: ConfigurationKey, _ node: ConfigurationNode, into requests: inout RequestOptions
    ) -> Bool {
        switch key {
        case .headers: readHeaders(node, into: &requests)
        case .userAgent:
            if let value = text(node, .headerValue) { setHeader("User-Agent", value, in: &requests, at: node.position) }
        case .cookie:
            if let value = text(node, .cookie) { setHeader("Cookie", value, in: &requests, at: node.position) }
        case .proxy: requests.proxy = text(node, .proxy)
        default: return false
        }
        return true
    }

    private mutating func readUpstreamOption(
        _ key: ConfigurationKey, _ node: ConfigurationNode, into options: inout ChannelOptions
    ) -> Bool {
        switch key {
        case .variant: options.variant = text(node, .variant).flatMap { VariantChoice($0) }
        case .maxConnections: options.maxConnections = integer(node, in: 1...Most.connections)
        case .polite: options.isPolite = bool(node)
        case .memoryLimit: options.memoryLimitBytes = memoryLimit(node)
        case .maxSegment: options.maxSegmentBytes = byteCount(node)
        case .maxPlaylist: options.maxPlaylistBytes = byteCount(node)
        case .denyPrivate: options.deniesPrivate = bool(node)
        case .allowAddress:
            options.permittedAddresses = list(node, limit: Most.addresses, of: "addresses") { $0.ipAddress($1) }
        case .giveUp: options.giveUp = duration(node)
        case .patience: options.patience = duration(node)
        default: return false
        }
        return true
    }

    private mutating func memoryLimit(_ node: ConfigurationNode) -> Int? {
        guard let bytes = byteCount(node) else { return nil }
        guard bytes < MemoryBudget.smallestLimit else { return bytes }
        record(.badValue(nil, expected: "at least \(MemoryBudget.smallestLimit >> 20)MiB"), at: node.position)
        return nil
    }

    /// The memory has to have room for the largest segment and the largest playlist, if both are given in one place.
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

    private mutating func readOption(
        _ key: ConfigurationKey, _ node: ConfigurationNode, into options: inout ChannelOptions
    ) {
        switch key {
        case .audio: options.audio = choice(node, of: ChannelOptions.AudioMode.self)
        case .fillSilence: options.fillsSilence = bool(node)
        case .require: options.requiresVideo = choice(node, of: RequiredKind.self).map { $0 == .video }
        case .slate: options.slate = filePath(node)
        case .window: options.window = duration(node)
        case .dvr: options.rewind = duration(node)
        case .rewind: readRewind(node, into: &options)
        case .burst: options.burst = duration(node)
        case .spool: options.spool = filePath(node)
        case .record: options.record = filePath(node)
        case .token, .tokens:
            let tokens = list(node, limit: Most.tokens, of: "tokens") { $0.text($1, .token).map { Secret($0) } }
            options.tokens = (options.tokens ?? []) + tokens
        case .always: options.isAlways = bool(node)
        case .idle: options.idle = duration(node)
        default: break
        }
    }

    private enum RequiredKind: String, CaseIterable { case video, any }

    /// A length, which the channel always keeps, or `when-watched`.
    private mutating func readRewind(_ node: ConfigurationNode, into options: inout ChannelOptions) {
        if case .scalar("when-watched", let kind) = node.content, kind != .number {
            options.keepsRewind = false
        } else if let length = duration(node) {
            (options.rewind, options.keepsRewind) = (length, true)
        }
    }

    private mutating func ipAddress(_ node: ConfigurationNode) -> String? {
        let expected = "an IP address"
        guard let (written, text) = scalar(node, [.plain, .text], expected: expected) else { return nil }
        if IPAddressText.isAddress(text) { return text }
        record(.badValue(Self.excerpt(written), expected: expected), at: node.position)
        return nil
    }
}

// MARK: - Sources

extension ConfigurationReader {
    private mutating func sources(_ node: ConfigurationNode, mayBeEmpty: Bool = false) -> [ChannelEntry.Source] {
        if case .list(let list) = node.content, list.isEmpty, !mayBeEmpty {
            record(.noValue, at: node.position)
            return []
        }
        return list(node, limit: Most.sources, of: "URLs of one channel") { $0.source($1) }
    }

    /// Reads a URL, or a map with a URL and what is sent with its requests.
    private mutating func source(_ node: ConfigurationNode) -> ChannelEntry.Source? {
        guard case .map(let entries) = node.content else {
            return text(node, .url).map { ChannelEntry.Source(url: $0) }
        }
        var source = ChannelEntry.Source(url: "")
        read(entries, keys: ConfigurationKey.Scope.source.keys) { reader, key, node in
            if key == .url { source.url = reader.text(node, .url) ?? "" }
            _ = reader.readRequest(key, node, into: &source.requests)
        }
        if !entries.contains(where: { $0.key == "url" }) { record(.missingKey("url"), at: node.position) }
        return source.url.isEmpty ? nil : source
    }

    private mutating func readHeaders(_ node: ConfigurationNode, into requests: inout RequestOptions) {
        guard let entries = entries(node, expected: "a map of header names and values") else { return }
        guard entries.count <= Most.headers else {
            return record(.tooMany("headers of one URL", limit: Most.headers), at: node.position)
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

/// The values of one channel, or of `defaults`, as written.
struct ChannelEntry {
    var name: String?
    var groups: [String] = []
    var logo: String?
    var number: String?
    var guideID: String?
    var guideName: String?
    var guideShift: String?
    var isRadio: Bool?
    var requests = RequestOptions()
    var sources: [Source] = []
    var backups: [Source] = []
    var options = ChannelOptions()

    /// A URL of a channel, and what is written about it alone.
    struct Source {
        var url: String
        var requests = RequestOptions()
    }

    /// - Parameters:
    ///   - slug: of the channel.
    ///   - key: what it is called, unless it has a name.
    func channel(slug: String, key: String, defaults: ChannelEntry) -> ListedChannel {
        let common = requests.filled(from: defaults.requests)
        return ListedChannel(
            slug: slug, name: name ?? key, number: number, logo: logo,
            groups: groups.isEmpty ? defaults.groups : groups, guideID: guideID, guideName: guideName,
            guideShift: guideShift ?? defaults.guideShift, isRadio: isRadio ?? defaults.isRadio ?? false,
            sources: (sources + backups).map { source in
                let requests = source.requests.filled(from: common)
                return ListedSource(url: source.url, headers: requests.headers, proxy: requests.proxy)
            },
            options: options.filled(from: defaults.options))
    }

    /// A channel of an included list, with these values as its defaults.
    func completing(_ channel: ListedChannel) -> ListedChannel {
        var channel = channel
        if channel.groups.isEmpty { channel.groups = groups }
        channel.guideShift = channel.guideShift ?? guideShift
        channel.isRadio = channel.isRadio || isRadio == true
        channel.options = channel.options.filled(from: options)
        for index in channel.sources.indices {
            var own = RequestOptions(channel.sources[index])
            own = own.filled(from: requests)
            (channel.sources[index].headers, channel.sources[index].proxy) = (own.headers, own.proxy)
        }
        return channel
    }
}
