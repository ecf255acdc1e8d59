import Support

extension DocumentKind {
    /// The kind of bytes that cannot be an M3U list or an HLS playlist by their beginning; nil if they may be one.
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

    /// The kind of bytes that are neither a list nor a playlist, unless they begin as those do.
    package init?(unreadable bytes: [UInt8]) {
        let text = Self.beginning(of: bytes)
        if text.hasPrefix("#extm3u") || text.hasPrefix("extm3u") || text.hasPrefix("#extinf") { return nil }
        self = text.isEmpty ? .nothing : .unknown(beginning: Self.visibleBeginning(of: bytes))
    }

    /// The kind of a document that stands where an HLS playlist was expected and does not begin as one does.
    init(notAPlaylist bytes: [UInt8]) {
        self =
            DocumentKind(foreign: bytes) ?? DocumentKind(unreadable: bytes)
            ?? .unknown(beginning: Self.visibleBeginning(of: bytes))
    }

    /// Whether a text with #EXTM3U that is no playlist is a list of channels: it has entries, and no tag of HLS.
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
        // Comments and declarations come before the element that says what the document is.
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
