/// Why bytes are no list of channels.
package enum ChannelListError: Error, Equatable, Sendable {
    /// The bytes are something else. The line is where that is seen, 1-based.
    case notAList(Content, line: Int)
    case tooLarge(bytes: Int, limit: Int)
    /// A list without a channel that can be used.
    /// - Parameter firstIssue: what cost it the first one, if anything did.
    case noChannels(firstIssue: ListIssue?)

    /// What is given where a list was expected.
    package enum Content: Equatable, Sendable {
        /// An HLS media playlist: one channel, or a recording.
        case mediaPlaylist
        /// An HLS multivariant playlist: one channel.
        case multivariantPlaylist
        case dashManifest
        case webPage
        /// An XMLTV guide.
        case guide
        case xml, json
        /// A list in the PLS format.
        case pls
        /// gzip or xz. Gzip is for the caller to undo.
        case compressed
        case transportStream
        case nothing
        /// Any other text or bytes.
        /// - Parameter beginning: up to 40 characters, without control characters.
        case unknown(beginning: String)
    }
}
