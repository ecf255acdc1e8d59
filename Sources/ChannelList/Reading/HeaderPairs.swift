import Support

/// Reads `Name=value&Name=value`, the syntax after a vertical bar in a URL and in `#KODIPROP`.
///
/// Kodi requires percent-coded values, but lists also contain raw and quoted ones. Therefore "&" ends a value only if
/// the name of a header or of a Kodi option seems to follow.
enum HeaderPairs {
    enum Pair: Equatable {
        case header(name: String, value: String)
        /// An option of Kodi's transfers.
        case option(String)
        case malformed(String)
    }

    static func read(_ text: some StringProtocol) -> [Pair] {
        var fields: [Substring] = []
        let text = Substring(text)
        var start = text.startIndex
        while start < text.endIndex, fields.count < mostParts {
            let end = fieldEnd(in: text, from: start)
            if end > start { fields.append(text[start..<end]) }
            start = end < text.endIndex ? text.index(after: end) : end
        }
        return fields.map { pair(String($0)) }
    }

    /// The first separator from `start` on after which a field begins.
    private static func fieldEnd(in text: Substring, from start: Substring.Index) -> Substring.Index {
        var index = start
        while let separator = text[index...].firstIndex(where: { $0 == "&" || $0 == "|" }) {
            let next = text.index(after: separator)
            if next == text.endIndex || beginsField(text[next...]) { return separator }
            index = next
        }
        return text.endIndex
    }

    private static let mostParts = 256

    private static func pair(_ field: String) -> Pair {
        let bare = String(field.removingQuotes)
        guard let equals = field.firstIndex(of: "="), isName(field[..<equals].trimmingWhiteSpace) else {
            // There is only a value: `https://host/path|FooBar/1.2.3`.
            return bare.isEmpty ? .malformed(field) : .header(name: "User-Agent", value: decoded(bare))
        }
        var name = field[..<equals].trimmingWhiteSpace
        if options.contains(name.lowercased()) { return .option(name.lowercased()) }
        if name.first == "!" { name = name.dropFirst() }
        return .header(name: String(name), value: decoded(String(field[field.index(after: equals)...].removingQuotes)))
    }

    /// Whether `part` begins with a name: a well-known header or option, or a word with a capital or a dash. No name
    /// contains a separator, so each byte is examined for one separator only.
    private static func beginsField(_ part: Substring) -> Bool {
        let text = part.utf8.drop { $0 == UInt8(ascii: " ") }
        let first = text.first
        let word = text.dropFirst(first == UInt8(ascii: "!") ? 1 : 0).prefix(while: isWordByte)
        StepCounter.add(1 + part.utf8.distance(from: part.startIndex, to: word.endIndex))
        let isFollowed = text[word.endIndex...].first { $0 != UInt8(ascii: " ") } == UInt8(ascii: "=")
        guard isFollowed, !word.isEmpty || first == UInt8(ascii: "!") else { return false }
        let name = String(Substring(word)).lowercased()
        return first == UInt8(ascii: "!") || RequestOptions.usualName(name) != name || options.contains(name)
            || word.contains(UInt8(ascii: "-")) || (65...90).contains(word.first ?? 0)
    }

    private static func isName(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "!") || isWordByte(first) else { return false }
        return text.utf8.dropFirst().allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func decoded(_ value: String) -> String { PercentEncoding.decode(value[...]) ?? value }

    /// Names that Kodi does not treat as headers (CurlFile.cpp).
    private static let options: Set = [
        "seekable", "auth", "connection-timeout", "failonerror", "redirect-limit", "postdata", "verifypeer",
        "acceptencoding", "sslcipherlist", "customrequest",
    ]
}
