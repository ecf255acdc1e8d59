package import Playlist

package struct M3UChannelList: Equatable, Sendable {
    /// The URLs of XMLTV guides (`x-tvg-url`, `url-tvg`); unique, in order.
    package var guides: [String] = []
    /// At least one channel, each with a slug of its own.
    package var channels: [ListedChannel]
    /// Lines that were not understood, or were read differently from how they are written, in order; bounded.
    package var issues: [ListIssue] = []
    /// The total number of issues, including those that are not in `issues`.
    package var issueCount = 0
    /// The most concurrent streams of the list's account; nil: unknown, or no limit.
    package var connections: Int?
}

/// Sizes beyond which a list, or a part of it, is not read.
package struct ChannelListLimits: Equatable, Sendable {
    /// Bytes of a list. A longer list is refused.
    package var bytes = 64 << 20
    /// Bytes of a line. A longer line is skipped.
    var lineBytes = 1 << 20
    /// Bytes of the value of an attribute or header. A longer value is dropped: it is an image in a `data:` URL.
    var valueBytes = 4096
    var channels = 50_000
    var sourcesPerChannel = 16
    var headersPerSource = 32
    var groupsPerChannel = 16
    var guides = 32
    /// Issues that are kept; all of them are counted.
    var issues = 100

    package init() {}
}

package enum ChannelListError: Error, Equatable, Sendable {
    /// The bytes are a document of another kind. `line` is where that was recognized, 1-based.
    case notAList(DocumentKind, line: Int)
    case tooLarge(bytes: Int, limit: Int)
    /// The list contains no usable channel.
    /// - Parameter firstIssue: the issue of the first unusable channel, if any.
    case noChannels(firstIssue: ListIssue?)
}

/// The channels of a list. A channel that is listed again adds backups to the first one.
struct ChannelMerger {
    private(set) var channels: [ListedChannel] = []
    /// The line of each channel's first entry.
    private(set) var lines: [Int] = []
    private var indexes: [Identity: Int] = [:]
    private let limits: ChannelListLimits

    /// Many stations of one provider may share a guide id, and many providers have a "News". Therefore two entries are
    /// the same channel only if both properties are equal.
    private struct Identity: Hashable {
        let guideID: String
        let name: String
    }

    init(limits: ChannelListLimits) { self.limits = limits }

    /// Appends a channel, or merges its sources and groups into the same channel listed before.
    /// - Returns: the exceeded limit, if any.
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
