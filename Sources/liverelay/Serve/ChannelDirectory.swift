import ChannelList
import HTTPSyntax
import Playlist

/// The channels of a list by their slugs.
struct ChannelDirectory: Sendable {
    let channels: [ListedChannel]
    private let indexes: [String: Int]
    /// The tokens of those channels that have some.
    private let tokens: [String: Set<TokenDigest>]
    private let knownTokens: Set<TokenDigest>

    /// - Parameter channels: with slugs that differ; of two channels with one slug, the first is found.
    init(_ channels: [ListedChannel]) {
        let pairs = channels.compactMap { channel in
            channel.options.tokens.map { (channel.slug, Set($0.compactMap { TokenDigest(of: $0.value) })) }
        }
        self.init(channels: channels, tokens: Dictionary(pairs) { first, _ in first })
    }

    private init(channels: [ListedChannel], tokens: [String: Set<TokenDigest>]) {
        self.channels = channels
        self.tokens = tokens
        indexes = Dictionary(channels.enumerated().map { ($1.slug, $0) }) { first, _ in first }
        knownTokens = tokens.values.reduce(into: []) { $0.formUnion($1) }
    }

    /// The directory of some of the channels.
    func filtered(_ isIncluded: (String) -> Bool) -> ChannelDirectory {
        ChannelDirectory(
            channels: channels.filter { isIncluded($0.slug) }, tokens: tokens.filter { isIncluded($0.key) })
    }

    subscript(slug: String) -> ListedChannel? { indexes[slug].map { channels[$0] } }

    /// Whether a channel has a token of its own.
    var hasTokens: Bool { !tokens.isEmpty }

    /// Whether the token opens a channel.
    func knows(_ token: TokenDigest) -> Bool { knownTokens.contains(token) }

    /// Whether a viewer may watch a channel, and know that it exists.
    func isOpen(_ slug: String, to viewer: Viewer) -> Bool {
        switch viewer.reach {
        case .everything: true
        case .openChannels(let token): tokens[slug].map { has($0, token) } ?? (indexes[slug] != nil)
        case .channels(let token): tokens[slug].map { has($0, token) } ?? false
        }
    }

    /// Whether a viewer may see the list, of which nothing but their channels is shown.
    func isListed(to viewer: Viewer) -> Bool {
        if case .channels(let token) = viewer.reach { has(knownTokens, token) } else { true }
    }

    /// The channels that a viewer may watch.
    func channels(openTo viewer: Viewer) -> [ListedChannel] {
        viewer.reach == .everything ? channels : channels.filter { isOpen($0.slug, to: viewer) }
    }

    private func has(_ tokens: Set<TokenDigest>, _ token: TokenDigest?) -> Bool {
        token.map { tokens.contains($0) } ?? false
    }

    /// Channels that are missing in `next`, or are relayed differently there.
    func retired(by next: ChannelDirectory) -> [String] {
        channels.filter { next[$0.slug]?.isRelayedDifferently(from: $0) ?? true }.map(\.slug)
    }

    /// When channels run, of those whose configuration says so.
    var demands: [String: ChannelSupervisor.Demand] {
        var demands: [String: ChannelSupervisor.Demand] = [:]
        for channel in channels {
            let demand = ChannelSupervisor.Demand(
                isAlways: channel.options.runsAlways, idle: channel.options.idle)
            if demand != ChannelSupervisor.Demand() { demands[channel.slug] = demand }
        }
        return demands
    }
}
