import Support

extension FetchAnswer {
    /// The bytes of a body in which words are looked for, and the characters that are shown of them.
    private static let (wordBytes, wordCharacters) = (2048, 100)

    /// The first words of a body that is text, without markup: what a page in place of media says; empty for other bodies.
    /// - Parameter url: of the request. Words of its secrets, such as an account, are left out.
    package func words(withoutSecretsOf url: String) -> String {
        let beginning = body.prefix(Self.wordBytes)
        // Control characters below the tab are of no text.
        guard !beginning.contains(where: { $0 < 9 }) else { return "" }
        let secrets = Set(url.split(whereSeparator: Self.isSeparator))
            .subtracting(url.redacted.split(whereSeparator: Self.isSeparator))
        var (text, token) = ("", Substring())
        for character in Self.withoutMarkup(String(decoding: beginning, as: UTF8.self)) + " " {
            if Self.isSeparator(character) {
                text += secrets.contains(token) ? "…" : token
                text.append(Self.isVisible(character) ? character : " ")
                token = ""
            } else {
                token.append(character)
            }
        }
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.count > Self.wordCharacters ? line.prefix(Self.wordCharacters) + "…" : line
    }

    /// The text between the tags of a page, without scripts and styles.
    private static func withoutMarkup(_ page: String) -> String {
        let parts = page.split(separator: "<", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
            let element = part.prefix(while: \.isLetter).lowercased()
            guard let end = part.firstIndex(of: ">"), element != "script", element != "style" else { return }
            text += " " + part[part.index(after: end)...]
        }
    }

    /// Whether a terminal shows the character, and does nothing else with it.
    private static func isVisible(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
    }

    private static func isSeparator(_ character: Character) -> Bool { !character.isLetter && !character.isNumber }
}
