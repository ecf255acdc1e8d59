import Support

/// The actual kind of a document that was expected to be of another kind.
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
    /// gzip or xz. The caller decompresses gzip.
    case compressed
    case transportStream
    case nothing
    /// Any other text or bytes.
    /// - Parameter beginning: up to 40 characters, without control characters.
    case unknown(beginning: String)

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

// MARK: - Recognition

extension DocumentKind {
    /// The kind of bytes whose beginning rules out an M3U list and an HLS playlist; nil if they may be either.
    package init?(foreign bytes: [UInt8]) {
        if bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
            self = .compressed
        } else if bytes.count > 376, bytes[0] == 0x47, bytes[188] == 0x47, bytes[376] == 0x47 {
            self = .transportStream
        } else if let kind = Self.text(Self.beginning(of: bytes), byteCount: bytes.count) {
            self = kind
        } else {
            return nil
        }
    }

    /// The kind of bytes that are neither a list nor a playlist; nil if they begin like either.
    package init?(unreadable bytes: [UInt8]) {
        let text = Self.beginning(of: bytes)
        if text.hasPrefix("#extm3u") || text.hasPrefix("extm3u") || text.hasPrefix("#extinf") { return nil }
        self = text.isEmpty ? .nothing : .unknown(beginning: Self.visibleBeginning(of: bytes))
    }

    /// The kind of a document that was expected to be an HLS playlist and does not begin like one.
    init(notAPlaylist bytes: [UInt8]) {
        self =
            DocumentKind(foreign: bytes) ?? DocumentKind(unreadable: bytes)
            ?? .unknown(beginning: Self.visibleBeginning(of: bytes))
    }

    /// Whether a text with #EXTM3U that is not a playlist is a list of channels: it contains entries, but no HLS tag.
    static func isChannelList(_ bytes: [UInt8]) -> Bool {
        var hasEntry = false
        for line in PlaylistLines(bytes) {
            if line.bytes.starts(with: "#EXT-X-".utf8) { return false }
            hasEntry = hasEntry || line.bytes.starts(with: "#EXTINF:".utf8)
        }
        return hasEntry
    }

    private static func text(_ text: String, byteCount: Int) -> DocumentKind? {
        guard let first = text.first else { return byteCount > text.utf8.count ? nil : .nothing }
        if first == "<" { return markup(text) }
        if text.hasPrefix("[playlist]") { return .pls }
        return first == "{" || text.hasPrefix("[{") || text.hasPrefix("[\"") ? .json : nil
    }

    private static func markup(_ text: String) -> DocumentKind {
        // Comments and declarations precede the element that identifies the document.
        let elements: [(mark: String, kind: DocumentKind)] = [
            ("<mpd", .dashManifest), ("<tv", .guide), ("<html", .webPage), ("<!doctype html", .webPage),
            ("<head", .webPage), ("<body", .webPage),
        ]
        let found = elements.first { element in
            text.ranges(of: element.mark).contains { range in
                guard range.upperBound < text.endIndex else { return true }
                return !text[range.upperBound].isLetter
            }
        }
        return found?.kind ?? (text.hasPrefix("<?xml") ? .xml : .webPage)
    }

    /// Up to 1 KiB in lower case, without byte order mark and white space before it.
    private static func beginning(of bytes: [UInt8]) -> String {
        let text = bytes.starts(with: ASCII.byteOrderMark) ? bytes.dropFirst(ASCII.byteOrderMark.count) : bytes[...]
        let start = text.firstIndex { $0 > 32 } ?? text.endIndex
        return String(decoding: text[start...].prefix(1024), as: UTF8.self).lowercased()
    }

    private static func visibleBeginning(of bytes: [UInt8]) -> String {
        let visible = String(decoding: bytes.prefix(256), as: UTF8.self).unicodeScalars
            .map { $0.value < 32 || 127..<160 ~= $0.value ? " " : $0 }
        return String(String(String.UnicodeScalarView(visible)).trimmingBlanks.prefix(40))
    }
}
