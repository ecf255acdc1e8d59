/// The channels of a list, in which a channel that comes again is one with backups.
struct ChannelMerger {
    private(set) var channels: [ListedChannel] = []
    /// The line of each channel's first entry.
    private(set) var lines: [Int] = []
    private var indexes: [Identity: Int] = [:]
    private let limits: ChannelListLimits

    /// Many stations of one provider may share a guide id, and many providers have a "News": only both together say that
    /// two entries are one channel.
    private struct Identity: Hashable {
        let guideID: String
        let name: String
    }

    init(limits: ChannelListLimits) { self.limits = limits }

    /// Appends a channel, or its sources and groups to the channel that it is.
    /// - Returns: what there is too much of, if anything.
    mutating func append(_ channel: ListedChannel, line: Int) -> ListIssue.Limit? {
        let identity = channel.guideID.map { Identity(guideID: $0, name: channel.name) }
        if let index = identity.flatMap({ indexes[$0] }) { return merge(channel, into: index) }
        guard channels.count < limits.channels else { return .channels }
        if let identity { indexes[identity] = channels.count }
        channels.append(channel)
        lines.append(line)
        return nil
    }

    private mutating func merge(_ channel: ListedChannel, into index: Int) -> ListIssue.Limit? {
        var limit: ListIssue.Limit?
        for source in channel.sources where !channels[index].sources.contains(source) {
            if channels[index].sources.count < limits.sourcesPerChannel {
                channels[index].sources.append(source)
            } else {
                limit = .sources
            }
        }
        for group in channel.groups where !channels[index].groups.contains(group) {
            if channels[index].groups.count < limits.groupsPerChannel {
                channels[index].groups.append(group)
            } else {
                limit = .groups
            }
        }
        return limit
    }
}
