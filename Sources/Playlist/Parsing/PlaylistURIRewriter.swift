/// The addresses in a playlist's text, put in other words: of the rest not a byte changes, whole playlist or not.
///
/// An address is a URI line, a quoted attribute value whose name ends in URI, URL or LIST, and whatever begins with http://
/// or https:// in a tag or a comment, quoted or not. Variables (draft-pantos-hls-rfc8216bis §4.3) are replaced before an address is judged; one that changes is
/// written without them.
package struct PlaylistURIRewriter {
    /// How a playlist is rewritten.
    package struct Rules {
        /// A URI as it stands, its variables replaced, to what shall stand there.
        package let replace: (String) -> String
        /// EXT-X-DEFINE keeps its names and loses its values: they are as telling as the addresses made of them. So are
        /// EXT-X-SESSION-DATA and comments, of which nothing stays.
        package let redactsText: Bool

        package init(hidesTexts: Bool = false, replace: @escaping (String) -> String) {
            self.redactsText = hidesTexts
            self.replace = replace
        }
    }

    private let rules: Rules
    private var scope: VariableScope

    /// - Parameters:
    ///   - address: of the playlist, after redirects.
    ///   - imported: variables of the multivariant playlist that named it.
    /// - Returns: the text, and the variables it defines; bytes that are no playlist come back as they are.
    package static func rewrite(
        _ bytes: [UInt8], url: String, imported: [VariableDefinition] = [], rules: Rules
    ) -> (bytes: [UInt8], variables: [VariableDefinition]) {
        guard (try? PlaylistLines(playlist: bytes)) != nil else { return (bytes, []) }
        var rewriting = PlaylistURIRewriter(
            rules: rules, scope: VariableScope(address: url, imported: imported))
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var written = bytes.startIndex
        for line in PlaylistLines(bytes) {
            guard let replacement = rewriting.replacement(for: line) else { continue }
            result += bytes[written..<line.receivedRange.lowerBound]
            result += replacement.utf8
            written = line.receivedRange.upperBound
        }
        return (result + bytes[written...], rewriting.scope.definitions)
    }

    /// nil for a line that stays.
    private mutating func replacement(for line: PlaylistLine) -> String? {
        switch line.content {
        case .blank: return nil
        case .uri: return replacement(for: line.text, line.number)
        case .tag(.define, let value):
            try? scope.define(value, line: line.number)
            return rules.redactsText ? redactedDefine(value, line.number) : nil
        case .other where rules.redactsText && !line.text.hasPrefix("#EXT"): return line.text == "#" ? nil : "#"
        case .tag, .other: return replacement(inTag: line)
        }
    }

    private func replacement(for address: String, _ line: Int) -> String? {
        let expanded = (try? scope.substitute(address, tag: .extinf, line: line)) ?? address
        let replaced = rules.replace(expanded)
        return replaced == (rules.redactsText ? address : expanded) ? nil : replaced
    }

    private func replacement(inTag line: PlaylistLine) -> String? {
        let pieces = line.text.split(separator: "\"", omittingEmptySubsequences: false)
        let hidesValues = rules.redactsText && line.text.hasPrefix("#EXT-X-SESSION-DATA")
        // Every other piece stands between quotes; one that does not close is none.
        let rewritten = pieces.indices.map { index in
            let piece = pieces[index]
            guard index % 2 == 1, index + 1 < pieces.count else { return rewritingURLs(in: piece, line.number) }
            let name = Self.attributeName(endOf: pieces[index - 1])
            if hidesValues, name == "VALUE" { return "" }
            if Self.isURIAttribute(name) || Self.beginsWithURL(piece) {
                return replacement(for: String(piece), line.number) ?? String(piece)
            }
            return rewritingURLs(in: piece, line.number)
        }.joined(separator: "\"")
        return rewritten == line.text ? nil : rewritten
    }

    /// A text that may hold addresses: each ends where no address can go on. A comma can be part of one, so what stands
    /// behind a comma is taken for it: better too much of an unquoted line is hidden than too little.
    private func rewritingURLs(in text: Substring, _ line: Int) -> String {
        var (rest, result) = (text, "")
        while let start = rest.indices.first(where: { Self.beginsWithURL(rest[$0...]) }) {
            let end = rest[start...].firstIndex { $0.isWhitespace || "<>'\\".contains($0) } ?? rest.endIndex
            let address = String(rest[start..<end])
            result += rest[..<start] + (replacement(for: address, line) ?? address)
            rest = rest[end...]
        }
        return result + rest
    }

    /// `NAME` of `…,NAME=`.
    private static func attributeName(endOf text: Substring) -> String {
        guard text.last == "=" else { return "" }
        let name = text.dropLast().reversed().prefix { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        return String(name.reversed()).uppercased()
    }

    private static func isURIAttribute(_ attribute: String) -> Bool {
        ["URI", "URL", "LIST"].contains { attribute.hasSuffix($0) }
    }

    private static func beginsWithURL(_ text: Substring) -> Bool {
        guard text.first == "h" || text.first == "H" else { return false }
        let scheme = text.prefix(8).lowercased()
        return scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
    }

    private func redactedDefine(_ value: ArraySlice<UInt8>, _ line: Int) -> String? {
        guard let list = try? AttributeList(parsing: value, line: line, tag: PlaylistTag.define.rawValue) else {
            return nil
        }
        guard let name = list["NAME"] ?? list["QUERYPARAM"] else { return nil }
        let kept = [
            AttributeList.Attribute(name: "NAME", value: name, isQuoted: true),
            AttributeList.Attribute(name: "VALUE", value: "", isQuoted: true),
        ]
        return "#\(PlaylistTag.define.rawValue):\(AttributeList(kept).text)"
    }
}
