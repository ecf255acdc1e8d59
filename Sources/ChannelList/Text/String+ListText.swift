extension StringProtocol {
    /// The text without white space of any kind at both ends.
    package var trimmingWhiteSpace: SubSequence {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = self[start...].lastIndex { !$0.isWhitespace }
        return end.map { self[start...$0] } ?? self[start..<start]
    }

    /// The text without the quotes of any kind around it.
    var removingQuotes: SubSequence {
        let quotes: Set<Character> = ["\"", "'", "“", "”", "„", "‘", "’"]
        let text = trimmingWhiteSpace
        guard text.count > 1, let first = text.first, let last = text.last else { return text }
        guard quotes.contains(first), quotes.contains(last) else { return text }
        return text.dropFirst().dropLast().trimmingWhiteSpace
    }
}

extension String {
    /// The text without the entities that lists have from web pages.
    package var decodingEntities: String {
        guard contains("&"), contains(";") else { return self }
        let entities = [
            ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#039;", "'"), ("&lt;", "<"),
            ("&gt;", ">"), ("&amp;", "&"),
        ]
        return entities.reduce(self) { text, entity in
            text.contains(entity.0) ? text.replacing(entity.0, with: entity.1) : text
        }
    }
}
