/// The changes of a reload, channel by channel. A channel is known by its slug.
package struct ChannelListDifference: Equatable, Sendable {
    package struct Change: Equatable, Sendable {
        package let before: ListedChannel
        package let after: ListedChannel

        /// Whether the channel has to be fetched in another way. If not, only what it is called has changed, and a running
        /// channel goes on.
        package var affectsSources: Bool { before.isRelayedDifferently(from: after) }
    }

    /// In the order of the new list.
    package private(set) var added: [ListedChannel] = []
    /// In the order of the old list.
    package private(set) var removed: [ListedChannel] = []
    package private(set) var changed: [Change] = []
    package private(set) var unchanged: [ListedChannel] = []

    /// - Parameters: both lists with unique slugs; the new one parsed with `keeping: old`.
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
    /// Whether a run of the channel would be another one with `other`: its sources or its options differ. What only
    /// guides and people read may differ, how long it runs without viewers, and who its viewers are.
    func isRelayedDifferently(from other: ListedChannel) -> Bool {
        var options = options
        options.idle = other.options.idle
        options.tokens = other.options.tokens
        return sources != other.sources || options != other.options
    }
}
