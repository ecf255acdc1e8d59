/// The addresses in a playlist's text, put in other words: of the rest not a byte changes, whole playlist or not.
///
/// An address is a URI line or a quoted attribute value that is one: URI, or anything that begins with http:// or
/// https://. Variables (draft-pantos-hls-rfc8216bis §4.3) are replaced before an address is judged; one that changes is
/// written without them.
package struct PlaylistAddresses {
    /// How a playlist is rewritten.
    package struct Rules {
        /// A URI as it stands, its variables replaced, to what shall stand there.
        package let replace: (String) -> String
        /// EXT-X-DEFINE keeps its names and loses its values: they are as telling as the addresses made of them.
        package let hidesVariables: Bool

        package init(hidesVariables: Bool = false, replace: @escaping (String) -> String) {
            self.hidesVariables = hidesVariables
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
        _ bytes: [UInt8], address: String, imported: [VariableDefinition] = [], rules: Rules
    ) -> (bytes: [UInt8], variables: [VariableDefinition]) {
        guard (try? PlaylistLines(playlist: bytes)) != nil else { return (bytes, []) }
        var rewriting = PlaylistAddresses(
            rules: rules, scope: VariableScope(address: address, imported: imported))
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var written = bytes.startIndex
        for line in PlaylistLines(bytes) {
            guard let replacement = rewriting.replacement(for: line) else { continue }
            result += bytes[written..<line.place.lowerBound]
            result += replacement.utf8
            written = line.place.upperBound
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
            return rules.hidesVariables ? hidden(value, line.number) : nil
        case .tag, .other: return replacement(forQuotedIn: line)
        }
    }

    private func replacement(for address: String, _ line: Int) -> String? {
        let expanded = (try? scope.substitute(address, tag: .extinf, line: line)) ?? address
        let replaced = rules.replace(expanded)
        return replaced == (rules.hidesVariables ? address : expanded) ? nil : replaced
    }

    private func replacement(forQuotedIn line: PlaylistLine) -> String? {
        let pieces = line.text.split(separator: "\"", omittingEmptySubsequences: false)
        guard pieces.count >= 3 else { return nil }
        var changed = false
        // Every other piece stands between quotes; one that does not close is none.
        let rewritten = pieces.indices.map { index in
            guard index % 2 == 1, index + 1 < pieces.count else { return String(pieces[index]) }
            guard Self.isAddress(pieces[index], after: pieces[index - 1]) else { return String(pieces[index]) }
            guard let replaced = replacement(for: String(pieces[index]), line.number) else {
                return String(pieces[index])
            }
            changed = true
            return replaced
        }
        return changed ? rewritten.joined(separator: "\"") : nil
    }

    private static func isAddress(_ value: Substring, after name: Substring) -> Bool {
        guard name.hasSuffix(",URI=") || name.hasSuffix(":URI=") || name.hasSuffix(" URI=") else {
            let scheme = value.prefix(8).lowercased()
            return scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
        }
        return true
    }

    private func hidden(_ value: ArraySlice<UInt8>, _ line: Int) -> String? {
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
