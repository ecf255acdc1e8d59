/// Recognizes what is given where a list of channels was expected.
enum ListContent {
    /// What `bytes` are by their beginning, if they cannot be a list.
    static func recognize(_ bytes: [UInt8]) -> ChannelListError.Content? {
        if bytes.starts(with: [0x1F, 0x8B]) || bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A]) {
            return .compressed
        }
        if bytes.count > 376, bytes[0] == 0x47, bytes[188] == 0x47, bytes[376] == 0x47 { return .transportStream }
        let text = beginning(of: bytes)
        guard let first = text.first else { return bytes.count > text.utf8.count ? nil : .nothing }
        if first == "<" { return markup(text) }
        if text.hasPrefix("[playlist]") { return .pls }
        if first == "{" || text.hasPrefix("[{") || text.hasPrefix("[\"") { return .json }
        return nil
    }

    /// What bytes without any channel are, unless they begin as a list does.
    static func describe(_ bytes: [UInt8]) -> ChannelListError.Content? {
        let text = beginning(of: bytes)
        if text.hasPrefix("#extm3u") || text.hasPrefix("extm3u") || text.hasPrefix("#extinf") { return nil }
        if text.isEmpty { return .nothing }
        let visible = String(decoding: bytes.prefix(256), as: UTF8.self).unicodeScalars
            .map { $0.value < 32 || 127..<160 ~= $0.value ? " " : $0 }
        return .unknown(beginning: String(String(String.UnicodeScalarView(visible)).trimmingWhiteSpace.prefix(40)))
    }

    /// Up to 1 KiB in lower case, without byte order mark and white space before it.
    private static func beginning(of bytes: [UInt8]) -> String {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let start = text.firstIndex { $0 > 32 } ?? text.endIndex
        return String(decoding: text[start...].prefix(1024), as: UTF8.self).lowercased()
    }

    private static func markup(_ text: String) -> ChannelListError.Content {
        // Comments and declarations come before the element that says what the document is.
        let elements: [(mark: String, content: ChannelListError.Content)] = [
            ("<mpd", .dashManifest), ("<tv", .guide), ("<html", .webPage), ("<!doctype html", .webPage),
            ("<head", .webPage), ("<body", .webPage),
        ]
        let found = elements.first { element in
            text.ranges(of: element.mark).contains { range in
                guard range.upperBound < text.endIndex else { return true }
                return !text[range.upperBound].isLetter
            }
        }
        return found?.content ?? (text.hasPrefix("<?xml") ? .xml : .webPage)
    }
}
