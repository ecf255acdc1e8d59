/// A rewriter for the URLs in the text of a playlist. Every other byte stays, even if the text is incomplete.
///
/// A URL is a URI line, a quoted value of an attribute whose name ends in URI, URL or LIST, or text in a tag or comment
/// that begins with http:// or https://. Variables (draft-pantos-hls-rfc8216bis §4.3) are substituted first. A URL that
/// changes is written without variables.
package struct PlaylistURIRewriter {
    private let redactsText: Bool
    private let replace: (String) -> String
    private var scope: VariableScope

    /// Rewrites the URLs in `bytes`.
    /// - Parameters:
    ///   - url: the URL of the playlist after redirects.
    ///   - imported: the variables of the multivariant playlist that lists this one.
    ///   - redactsText: whether text that can reveal URLs is removed: the values of EXT-X-DEFINE and EXT-X-SESSION-DATA,
    ///     and comments.
    ///   - replace: returns the replacement of a URL as it stands in the text, with its variables substituted.
    /// - Returns: the text, and the variables that it defines. Bytes that are no playlist are returned unchanged.
    package static func rewrite(
        _ bytes: [UInt8], url: String, imported: [VariableDefinition] = [], redactsText: Bool = false,
        replace: @escaping (String) -> String
    ) -> (bytes: [UInt8], variables: [VariableDefinition]) {
        guard (try? PlaylistLines(playlist: bytes)) != nil else { return (bytes, []) }
        var rewriter = PlaylistURIRewriter(
            redactsText: redactsText, replace: replace, scope: VariableScope(url: url, imported: imported))
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var copiedEnd = bytes.startIndex
        for line in PlaylistLines(bytes) {
            guard let replacement = rewriter.replacement(for: line) else { continue }
            result += bytes[copiedEnd..<line.receivedRange.lowerBound]
            result += replacement.utf8
            copiedEnd = line.receivedRange.upperBound
        }
        return (result + bytes[copiedEnd...], rewriter.scope.definitions)
    }

    /// The new text of `line`; nil if the line does not change.
    private mutating func replacement(for line: PlaylistLine) -> String? {
        switch line.content {
        case .blank: return nil
        case .uri: return replacement(for: line.text, line.number)
        case .tag(.define, let value):
            try? scope.define(value, line: line.number)
            return redactsText ? redactedDefine(value, line.number) : nil
        case .other where redactsText && !line.text.hasPrefix("#EXT"): return line.text == "#" ? nil : "#"
        case .tag, .other: return replacement(inTag: line)
        }
    }

    private mutating func replacement(for url: String, _ line: Int) -> String? {
        let expanded = (try? scope.substitute(url, tag: .extinf, line: line)) ?? url
        let replaced = replace(expanded)
        return replaced == (redactsText ? url : expanded) ? nil : replaced
    }

    private mutating func replacement(inTag line: PlaylistLine) -> String? {
        let parts = line.text.split(separator: "\"", omittingEmptySubsequences: false)
        let redactsValues = redactsText && line.text.hasPrefix("#EXT-X-SESSION-DATA")
        // Parts with an odd index are quoted, except a last one whose quote does not close.
        let rewritten = parts.indices.map { index in
            let part = parts[index]
            guard index % 2 == 1, index + 1 < parts.count else { return rewritingURLs(in: part, line.number) }
            let name = Self.attributeName(endOf: parts[index - 1])
            if redactsValues, name == "VALUE" { return "" }
            if ["URI", "URL", "LIST"].contains(where: { name.hasSuffix($0) }) || Self.beginsWithURL(part) {
                return replacement(for: String(part), line.number) ?? String(part)
            }
            return rewritingURLs(in: part, line.number)
        }.joined(separator: "\"")
        return rewritten == line.text ? nil : rewritten
    }

    /// `text` with its URLs rewritten. A URL may contain commas, so text after a comma counts as part of the URL. An
    /// unquoted line may thus lose too much, but never shows a secret.
    private mutating func rewritingURLs(in text: Substring, _ line: Int) -> String {
        var (rest, result) = (text, "")
        while let start = rest.indices.first(where: { Self.beginsWithURL(rest[$0...]) }) {
            let end = rest[start...].firstIndex { $0.isWhitespace || "<>'\\".contains($0) } ?? rest.endIndex
            let url = String(rest[start..<end])
            result += rest[..<start] + (replacement(for: url, line) ?? url)
            rest = rest[end...]
        }
        return result + rest
    }

    /// The `NAME` at the end of `…,NAME=`.
    private static func attributeName(endOf text: Substring) -> String {
        guard text.last == "=" else { return "" }
        let name = text.dropLast().reversed().prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return String(name.reversed()).uppercased()
    }

    private static func beginsWithURL(_ text: Substring) -> Bool {
        guard text.first == "h" || text.first == "H" else { return false }
        let scheme = text.prefix(8).lowercased()
        return scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
    }

    private func redactedDefine(_ value: ArraySlice<UInt8>, _ line: Int) -> String? {
        guard let attributes = try? AttributeList(parsing: value, line: line, tag: PlaylistTag.define.rawValue),
            let name = attributes["NAME"] ?? attributes["QUERYPARAM"]
        else { return nil }
        let redacted = [
            AttributeList.Attribute(name: "NAME", value: name, isQuoted: true),
            AttributeList.Attribute(name: "VALUE", value: "", isQuoted: true),
        ]
        return "#\(PlaylistTag.define.rawValue):\(AttributeList(redacted).text)"
    }
}
