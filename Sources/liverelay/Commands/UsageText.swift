import Support

/// The text of an error in the command line, without the secrets of that command line and without control characters.
enum UsageText {
    /// Options whose values are secrets as a whole.
    private static let secretOptions = ["--cookie", "--proxy", "--token", "--api-token"]
    /// Options whose values are a name and a secret.
    private static let headerOptions = ["--header", "--http-header"]

    /// - Parameters:
    ///   - text: the parser's text, which may quote any word.
    ///   - words: the command line.
    static func redacted(_ text: String, words: [String]) -> String {
        let secrets = replacements(in: words).sorted { $0.word.utf8.count > $1.word.utf8.count }
        let redacted = secrets.reduce(text) { $0.replacing($1.word, with: $1.replacement) }
        return redacted.escapingControlCharacters(keepingLines: true)
    }

    private static func replacements(in words: [String]) -> [(word: String, replacement: String)] {
        words.indices.flatMap { index -> [(word: String, replacement: String)] in
            let word = words[index]
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let before = index > 0 ? words[index - 1] : ""
            let (option, value) = word.hasPrefix("--") && sides.count == 2 ? (sides[0], sides[1]) : (before, word)
            guard !value.isEmpty else { return [] }
            if secretOptions.contains(option) { return [(value, "…")] }
            if headerOptions.contains(option) { return [(value, redactedHeader(value))] }
            let url = URIReference.redacted(value)
            return url == value ? [] : [(value, url)]
        }
    }

    /// `Name: …`, if there is a name.
    private static func redactedHeader(_ header: String) -> String {
        header.firstIndex { $0 == ":" || $0 == "=" }.map { "\(header[...$0])…" } ?? "…"
    }
}
