import ChannelList
import Playlist

/// A channel as the API shows it.
struct ChannelDocument: Encodable, Sendable {
    /// All channels, in their order.
    struct List: Encodable, Sendable {
        package let channels: [ChannelDocument]

        package init(_ overview: ChannelHost.Overview) {
            channels = overview.directory.channels.map { ChannelDocument($0, overview.channels[$0.slug]) }
        }
    }

    /// Its name in paths.
    let channel: String
    /// As in `/status.json`.
    let state: String
    /// Why it failed.
    let reason: String?
    /// The keys of `channels.yaml`, with what `defaults` adds, but for those that only a file can have. A PUT of it
    /// changes nothing.
    let configuration: ChannelConfigurationDocument

    init(_ listing: ChannelHost.ListedState) { self.init(listing.channel, listing.entry) }

    private init(_ listed: ListedChannel, _ entry: ChannelSupervisor.Entry?) {
        channel = listed.slug
        state = ServeStatus.state(of: entry)
        reason = if case .failed(let reason, _)? = entry?.state { reason } else { nil }
        configuration = ChannelConfigurationDocument(listed)
    }
}

/// The keys of a channel in `channels.yaml`; nil where it has none.
struct ChannelConfigurationDocument: Encodable, Sendable {
    struct Source: Encodable, Sendable {
        let url: String
        let headers: [String: String]?
        let proxy: String?

        init(_ source: ListedSource) {
            url = source.url
            headers =
                source.headers.isEmpty
                ? nil : Dictionary(source.headers.map { ($0.name, $0.value) }) { first, _ in first }
            proxy = source.proxy
        }
    }

    private let channel: ListedChannel

    init(_ channel: ListedChannel) { self.channel = channel }

    private struct Key: CodingKey {
        let key: ConfigurationKey
        var stringValue: String { key.rawValue }
        var intValue: Int? { nil }
        init(_ key: ConfigurationKey) { self.key = key }
        init?(stringValue: String) { nil }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        func encode(_ value: (some Encodable)?, _ key: ConfigurationKey) throws {
            try container.encodeIfPresent(value, forKey: Key(key))
        }
        try encode(channel.name, .name)
        try encode(channel.groups.isEmpty ? nil : channel.groups, .group)
        try encode(channel.logo, .logo)
        try encode(channel.number, .number)
        try encode(channel.guideID, .guideID)
        try encode(channel.guideName, .guideName)
        try encode(channel.guideShift, .guideShift)
        try encode(channel.isRadio ? true : nil, .radio)
        try encode(channel.sources.first.map(Source.init), .url)
        try encode(channel.sources.count > 1 ? channel.sources.dropFirst().map(Source.init) : nil, .backups)
        for key in ConfigurationKey.allCases where key.isPermitted(in: .request) {
            guard let value = channel.options.written(key) else { continue }
            try container.encode(value, forKey: Key(key))
        }
    }
}
