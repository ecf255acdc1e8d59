package import Playlist

/// The content of an M3U list of channels.
package struct M3UChannelList: Equatable, Sendable {
    /// The URLs of XMLTV guides (`x-tvg-url`, `url-tvg`); unique, in order.
    package var guides: [String]
    /// At least one channel, each with a slug of its own.
    package var channels: [ListedChannel]
    /// Lines that were not understood, or were read differently from how they are written; by line. The log is bounded.
    package var issues: [ListIssue]
    /// How many issues there were, including those that `issues` has no room for.
    package var issueCount: Int
    /// Streams that the list's account may have at once; nil: unknown, or no limit.
    package var connections: Int?

    package init(
        guides: [String] = [], channels: [ListedChannel], issues: [ListIssue] = [], issueCount: Int? = nil,
        connections: Int? = nil
    ) {
        self.guides = guides
        self.channels = channels
        self.issues = issues
        self.issueCount = issueCount ?? issues.count
        self.connections = connections
    }
}

/// Sizes beyond which a list, or a part of it, is not read.
package struct ChannelListLimits: Equatable, Sendable {
    /// Bytes of a list. A longer one is refused.
    package var bytes = 64 << 20
    /// Bytes of a line. A longer one is passed over.
    var lineBytes = 1 << 20
    /// Bytes of an attribute's or a header's value. A longer one is dropped: it is a picture as `data:` URL.
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

/// Why bytes are no list of channels.
package enum ChannelListError: Error, Equatable, Sendable {
    /// The bytes are something else. The line is where that is seen, 1-based.
    case notAList(DocumentKind, line: Int)
    case tooLarge(bytes: Int, limit: Int)
    /// A list without a channel that can be used.
    /// - Parameter firstIssue: what cost it the first one, if anything did.
    case noChannels(firstIssue: ListIssue?)
}
