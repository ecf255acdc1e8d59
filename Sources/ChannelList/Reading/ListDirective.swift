import Playlist

/// A line of a list that begins with `#`, or that should.
struct ListDirective {
    /// `#EXTINF` and so on, in capitals; `#HTTP` or `#HTTPS` for a commented URL; `#` for any other comment.
    let name: String
    /// The text after the colon or the space that ends the name; of a commented URL, the URL.
    let value: Substring
    let isMissingNumberSign: Bool

    /// - Returns: nil for a line that is to be a URL.
    init?(_ line: String) {
        if line.first != "#" {
            let start = line.prefix(8).uppercased()
            guard start == "EXTM3U" || start.hasPrefix("EXTM3U ") || start.hasPrefix("EXTINF:") else { return nil }
            (name, value) = ("#" + start.prefix(6), line.dropFirst(6).drop { $0 == ":" })
            isMissingNumberSign = true
            return
        }
        isMissingNumberSign = false
        let text = line.dropFirst().trimmingWhiteSpace
        let word = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        let name = word.uppercased()
        let rest = text[word.endIndex...]
        if name == "HTTP" || name == "HTTPS", rest.hasPrefix("://") {
            (self.name, value) = ("#" + name, text)
        } else if Self.isKnown(name) {
            self.name = "#" + name
            value = rest.first == ":" ? rest.dropFirst() : rest
        } else {
            (self.name, value) = ("#", text)
        }
    }

    private static func isKnown(_ name: String) -> Bool {
        name.hasPrefix("EXT") || name == "KODIPROP" || name == "WEBPROP"
    }

    /// The kind of HLS playlist in which alone the tag occurs; nil for any other line.
    var playlistKind: DocumentKind? {
        switch name {
        case "#EXT-X-TARGETDURATION", "#EXT-X-MEDIA-SEQUENCE": .mediaPlaylist
        case "#EXT-X-STREAM-INF", "#EXT-X-MEDIA", "#EXT-X-I-FRAME-STREAM-INF": .multivariantPlaylist
        default: nil
        }
    }
}
