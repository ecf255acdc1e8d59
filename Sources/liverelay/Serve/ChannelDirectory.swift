import ChannelList

/// The channels of a list by their slugs.
struct ChannelDirectory: Sendable {
    let channels: [ListedChannel]
    private let indexes: [String: Int]

    /// - Parameter channels: with slugs that differ; of two channels with one slug, the first is found.
    init(_ channels: [ListedChannel]) {
        self.channels = channels
        indexes = Dictionary(channels.enumerated().map { ($1.slug, $0) }) { first, _ in first }
    }

    subscript(slug: String) -> ListedChannel? { indexes[slug].map { channels[$0] } }

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
