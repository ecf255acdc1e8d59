package import ChannelList
package import HTTP
import Support

/// The channels of a list by their slugs.
package struct ChannelDirectory: Sendable {
    let channels: [ListedChannel]
    /// The number of each channel in the lineup, the same for every viewer; as many as `channels`.
    let guideNumbers: [String]
    /// The number of each channel's stream for clients of Xtream Codes, the same for every viewer; as many as
    /// `channels`.
    let streamNumbers: [Int]
    /// The numbers of connections of limited accounts.
    let connections: [String: Int]
    /// Counts the changes of the list.
    var version: UInt64 = 0
    private let indexes: [String: Int]
    private let numberIndexes: [String: Int]
    private let streamIndexes: [Int: Int]
    /// The tokens of the channels that have tokens of their own.
    private let tokens: [String: Set<TokenDigest>]
    private let knownTokens: Set<TokenDigest>

    /// - Parameters:
    ///   - channels: should have unique slugs; of two channels with the same slug, the first is found.
    ///   - connections: the numbers of connections of limited accounts.
    package init(_ channels: [ListedChannel], connections: [String: Int] = [:]) {
        let pairs = channels.compactMap { channel in
            channel.options.tokens.map { (channel.slug, Set($0.compactMap { TokenDigest(of: $0.value) })) }
        }
        self.init(
            channels: channels, connections: connections, guideNumbers: TunerDevice.guideNumbers(of: channels),
            streamNumbers: XtreamCatalog.streamNumbers(of: channels),
            tokens: Dictionary(pairs) { first, _ in first })
    }

    private init(
        channels: [ListedChannel], connections: [String: Int], guideNumbers: [String], streamNumbers: [Int],
        tokens: [String: Set<TokenDigest>]
    ) {
        self.channels = channels
        self.connections = connections
        self.guideNumbers = guideNumbers
        self.streamNumbers = streamNumbers
        self.tokens = tokens
        indexes = Self.indexes(channels.map(\.slug))
        numberIndexes = Self.indexes(guideNumbers)
        streamIndexes = Self.indexes(streamNumbers)
        knownTokens = tokens.values.reduce(into: []) { $0.formUnion($1) }
    }

    private static func indexes<Name: Hashable>(_ names: [Name]) -> [Name: Int] {
        Dictionary(zip(names, names.indices)) { first, _ in first }
    }

    /// The directory of the channels that a viewer may watch. The numbers of channels are the same as for all viewers.
    func opened(to viewer: Viewer) -> ChannelDirectory {
        if viewer.reach == .everything { return self }
        let open = channels.indices.filter { isOpen(channels[$0].slug, to: viewer) }
        return ChannelDirectory(
            channels: open.map { channels[$0] }, connections: connections, guideNumbers: open.map { guideNumbers[$0] },
            streamNumbers: open.map { streamNumbers[$0] }, tokens: tokens.filter { isOpen($0.key, to: viewer) })
    }

    /// A channel of the list, or a range of its provider's archive.
    subscript(slug: String) -> ListedChannel? {
        if let index = indexes[slug] { return channels[index] }
        guard let range = ProviderRange(name: slug), let index = indexes[range.slug] else { return nil }
        return range.channel(of: channels[index], at: WallClock.milliseconds / 1000)
    }

    /// Whether the list names the channel. A range of a provider's archive is not listed.
    func lists(_ slug: String) -> Bool { indexes[slug] != nil }

    package var hasTokens: Bool { !tokens.isEmpty }

    package func knows(_ token: TokenDigest) -> Bool { knownTokens.contains(token) }

    /// Whether a viewer may watch a channel, and know that it exists.
    func isOpen(_ slug: String, to viewer: Viewer) -> Bool {
        let slug = ProviderRange(name: slug)?.slug ?? slug
        return switch viewer.reach {
        case .everything: true
        case .openChannels(let token): tokens[slug].map { has($0, token) } ?? (indexes[slug] != nil)
        case .channels(let token): tokens[slug].map { has($0, token) } ?? false
        }
    }

    /// Whether a viewer may read the list, which then contains only the channels that the viewer may watch.
    func isListed(to viewer: Viewer) -> Bool {
        if case .channels(let token) = viewer.reach { has(knownTokens, token) } else { true }
    }

    /// The channel with a number of the lineup; nil if the viewer may watch no such channel. The time of the look-up
    /// reveals nothing about the list.
    func channel(numbered number: String, for viewer: Viewer) -> ListedChannel? {
        numberIndexes[number].map { channels[$0] }.flatMap { isOpen($0.slug, to: viewer) ? $0 : nil }
    }

    /// The channel of a stream, like `channel(numbered:for:)`.
    func channel(ofStream number: Int, for viewer: Viewer) -> ListedChannel? {
        streamIndexes[number].map { channels[$0] }.flatMap { isOpen($0.slug, to: viewer) ? $0 : nil }
    }

    /// The reach of a viewer. Tokens that open nothing are ignored, so two viewers with equal reaches see the same
    /// channels.
    func reach(of viewer: Viewer) -> Viewer.Reach {
        switch viewer.reach {
        case .openChannels(let token?) where !knows(token): .openChannels(and: nil)
        case .channels(let token?) where !knows(token): .channels(of: nil)
        case let reach: reach
        }
    }

    private func has(_ tokens: Set<TokenDigest>, _ token: TokenDigest?) -> Bool {
        token.map { tokens.contains($0) } ?? false
    }

    /// When channels run, for the channels whose configuration states it.
    var demands: [String: ChannelSupervisor.Demand] {
        channels.reduce(into: [:]) { demands, channel in
            let demand = channel.demand
            if demand != ChannelSupervisor.Demand() { demands[channel.slug] = demand }
        }
    }
}

extension ListedChannel {
    var demand: ChannelSupervisor.Demand {
        ChannelSupervisor.Demand(isAlways: options.runsAlways, idle: options.idle, account: options.account)
    }
}

/// The access policy of a process. The health, the files of the page and the API, which has a token of its own, are open. The metrics and the guide name every channel: if any tokens exist, only the server's tokens open
/// them.
extension ChannelDirectory: AccessPolicy {
    package func permits(_ route: Route, to viewer: Viewer) -> Bool {
        switch route {
        case .health, .readiness, .api: return true
        case .channel(nil, let resource) where resource.traits.kind == .health: return true
        case .pageFile(let path): return PageFile(path: path) != nil || isListed(to: viewer)
        case .page, .channelList, .status, .tuner: return isListed(to: viewer)
        case .tunerStream(let number, _): return channel(numbered: number, for: viewer) != nil
        case .guide, .library, .metrics, .notFound: return false
        case .xtream(let request): return permits(request.resource, to: viewer)
        case .folder(let name): return isOpen(name, to: viewer)
        case .channel(_, .pageFile(let path)) where PageFile(path: path) != nil: return true
        case .channel(let name, _): return name.map { isOpen($0, to: viewer) } ?? false
        }
    }

    private func permits(_ resource: XtreamRequest.Resource, to viewer: Viewer) -> Bool {
        switch resource {
        case .guide: false
        case .stream(let number, _), .archive(let number, _):
            channel(ofStream: number, for: viewer) != nil
        default: isListed(to: viewer)
        }
    }
}
