package import Playlist

/// Why bytes are no list of channels.
package enum ChannelListError: Error, Equatable, Sendable {
    /// The bytes are something else. The line is where that is seen, 1-based.
    case notAList(DocumentKind, line: Int)
    case tooLarge(bytes: Int, limit: Int)
    /// A list without a channel that can be used.
    /// - Parameter firstIssue: what cost it the first one, if anything did.
    case noChannels(firstIssue: ListIssue?)
}
