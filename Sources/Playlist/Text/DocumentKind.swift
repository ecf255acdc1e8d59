/// The kind of a document where one of another kind was expected.
package enum DocumentKind: Equatable, Sendable {
    /// An HLS media playlist: one channel, or a recording.
    case mediaPlaylist
    /// An HLS multivariant playlist: one channel.
    case multivariantPlaylist
    /// An M3U list of channels.
    case channelList
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

    /// Whether it is one channel.
    package var isChannel: Bool { [.mediaPlaylist, .multivariantPlaylist, .dashManifest].contains(self) }
}

extension DocumentKind: CustomStringConvertible {
    /// A phrase with its article: "a web page".
    package var description: String {
        switch self {
        case .mediaPlaylist: "an HLS media playlist, which is one channel"
        case .multivariantPlaylist: "an HLS multivariant playlist, which is one channel"
        case .channelList: "a list of channels"
        case .dashManifest: "a DASH manifest, which is one channel"
        case .webPage: "a web page"
        case .guide: "an XMLTV guide"
        case .xml: "an XML document"
        case .json: "a JSON document"
        case .pls: "a list in the PLS format"
        case .compressed: "a compressed file"
        case .transportStream: "a transport stream"
        case .nothing: "empty"
        case .unknown(let beginning): "something that begins with “\(beginning)”"
        }
    }
}
