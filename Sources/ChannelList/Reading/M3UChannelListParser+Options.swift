import Playlist

extension M3UChannelListParser {
    /// Reads a directive that says how to ask for the next source.
    mutating func readOptions(_ directive: ListDirective, line: Int) {
        switch directive.name {
        case "#EXTVLCOPT": readPlayerOption(directive.value, line: line)
        case "#KODIPROP": readProperty(directive.value, line: line)
        case "#EXTHTTP": readJSON(directive.value, line: line)
        case "#EXTENC", "#EXTIMG", "#EXTALB", "#EXTART", "#EXTGENRE", "#EXTBYT", "#EXTBIN", "#EXT-X-VERSION": break
        default: issues.record(.unknownDirective(String(directive.name.prefix(40))), line: line)
        }
    }

    private mutating func readPlayerOption(_ text: Substring, line: Int) {
        let (key, value) = Self.pair(text)
        switch key {
        case "http-user-agent": set("User-Agent", to: value, line: line)
        case "http-referrer", "http-referer": set("Referer", to: value, line: line)
        case "http-origin": set("Origin", to: value, line: line)
        case "http-cookie", "http-cookies": set("Cookie", to: value, line: line)
        case "http-header", "http-headers": setField(value, line: line)
        case "http-proxy": setProxy(value, line: line)
        default: issues.record(.unknownOption(String(key.prefix(40))), line: line)
        }
    }

    private mutating func readProperty(_ text: Substring, line: Int) {
        let (key, value) = Self.pair(text)
        switch key {
        case "inputstream.adaptive.stream_headers", "inputstream.adaptive.manifest_headers",
            "inputstream.adaptive.common_headers":
            for pair in HeaderPairs.read(value) { set(pair, line: line) }
        case "inputstream", "inputstreamaddon", "inputstreamclass", "mimetype", "inputstream.adaptive.manifest_type":
            break
        default: issues.record(.unknownOption(String(key.prefix(60))), line: line)
        }
    }

    private mutating func set(_ pair: HeaderPairs.Pair, line: Int) {
        switch pair {
        case .header(let name, let value): set(name, to: value, line: line)
        case .option(let name): issues.record(.unknownOption(name), line: line)
        case .malformed(let text): issues.record(.malformedHeader(String(text.prefix(40))), line: line)
        }
    }

    private mutating func readJSON(_ text: Substring, line: Int) {
        guard let members = HeaderJSON.read(text.trimmingWhiteSpace) else {
            issues.record(.malformedHeader("#EXTHTTP"), line: line)
            return
        }
        for member in members { set(member.name, to: member.value, line: line) }
    }

    /// `Name: value` or `Name=value`.
    private mutating func setField(_ text: Substring, line: Int) {
        let field = text.removingQuotes
        let end = field.firstIndex { $0 == ":" || $0 == "=" } ?? field.endIndex
        set(field[..<end], to: field[end...].dropFirst(), line: line)
    }

    private mutating func set(_ name: some StringProtocol, to value: some StringProtocol, line: Int) {
        if pending.set(name, to: value) { return }
        issues.record(.malformedHeader(String(name.prefix(40))), line: line)
    }

    private mutating func setProxy(_ text: Substring, line: Int) {
        let proxy = String(text.removingQuotes)
        guard !proxy.isEmpty, !proxy.contains(where: \.isWhitespace) else {
            issues.record(.malformedHeader("http-proxy"), line: line)
            return
        }
        pending.proxy = proxy
    }

    /// `key=value`, the key in lower case.
    private static func pair(_ text: Substring) -> (key: String, value: Substring) {
        let equals = text.firstIndex(of: "=") ?? text.endIndex
        var key = text[..<equals].trimmingWhiteSpace
        if key.first == ":" { key = key.dropFirst() }
        return (key.lowercased(), text[equals...].dropFirst().trimmingWhiteSpace)
    }
}
