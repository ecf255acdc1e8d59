/// The changes of a reload, channel by channel. Channels are identified by their slugs.
package struct ChannelListDifference: Equatable, Sendable {
    package struct Change: Equatable, Sendable {
        package let before: ListedChannel
        package let after: ListedChannel

        /// Whether the channel must be fetched in another way. If not, only its description has changed, and a running
        /// channel continues.
        package var affectsSources: Bool { before.isRelayedDifferently(from: after) }
    }

    /// In the order of the new list.
    package private(set) var added: [ListedChannel] = []
    /// In the order of the old list.
    package private(set) var removed: [ListedChannel] = []
    package private(set) var changed: [Change] = []
    package private(set) var unchanged: [ListedChannel] = []

    /// - Parameters: both lists with unique slugs. The new list must have been parsed with `keeping: old`.
    package init(from old: [ListedChannel], to new: [ListedChannel]) {
        let before = Dictionary(old.map { ($0.slug, $0) }) { first, _ in first }
        let slugs = Set(new.map(\.slug))
        for channel in new {
            switch before[channel.slug] {
            case nil: added.append(channel)
            case .some(let known) where known == channel: unchanged.append(channel)
            case .some(let known): changed.append(Change(before: known, after: channel))
            }
        }
        removed = old.filter { !slugs.contains($0.slug) }
    }
}

extension ListedChannel {
    /// Whether a run of the channel would differ with `other`: the sources or the options differ. Differences that only
    /// guides and people see, the idle time, and the viewers' tokens do not count.
    func isRelayedDifferently(from other: ListedChannel) -> Bool {
        var options = options
        options.idle = other.options.idle
        options.tokens = other.options.tokens
        return sources != other.sources || options != other.options
    }
}
