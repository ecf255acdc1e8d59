import Support

/// Reads the attributes of `#EXTM3U` and `#EXTINF`, and the name after them, in the spellings that people use.
///
/// A value may stand in `"`, `'` or typographic quotes, or in none. A quote ends a value only where the value can end:
/// before the next attribute, a comma or the end of the line. Therefore quotes and commas inside names and logos stay.
struct ListAttributeScanner {
    struct Result: Equatable {
        /// In order; names in lower case.
        var attributes: [ListedAttribute] = []
        /// The text after the comma that ends the attributes, trimmed; nil if there is no such comma.
        var name: String?
        /// Text that is neither an attribute nor follows a comma: the name, if the comma is missing.
        var remainder = ""
        var issues: [ListIssue.Kind] = []
    }

    private let text: [Unicode.Scalar]
    private var position = 0
    /// The positions at which well-known attributes begin, in ascending order.
    private let starts: [Int]
    /// For each kind of quote, the positions at which a value may end. They are found once, so that searching for a
    /// closing quote does not read the line again.
    private var quotes: [Unicode.Scalar: QuotePlaces] = [:]
    private var result = Result()

    /// The positions of one kind of quote, in ascending order.
    private struct QuotePlaces {
        /// Quotes at which a value can end.
        var ending: [Int] = []
        /// Quotes before a blank or the end of the line.
        var beforeBlank: [Int] = []
    }

    /// - Parameter line: the text after `#EXTINF:` and the duration, or after `#EXTM3U`.
    private init(_ line: Substring) {
        text = Array(line.unicodeScalars)
        starts = Self.attributeStarts(in: text)
        for (index, scalar) in text.enumerated() where Self.closingQuotes[scalar] != nil {
            let isBeforeBlank = index + 1 >= text.count || text[index + 1] == " "
            if endsValue(at: index + 1) { quotes[scalar, default: QuotePlaces()].ending.append(index) }
            if isBeforeBlank { quotes[scalar, default: QuotePlaces()].beforeBlank.append(index) }
        }
    }

    /// - Parameter hasName: whether a comma may end the attributes.
    static func scan(_ line: Substring, hasName: Bool) -> Result {
        var scanner = ListAttributeScanner(line)
        scanner.scan(hasName: hasName)
        return scanner.result
    }

    private mutating func scan(hasName: Bool) {
        var remainderStart: Int?
        for _ in 0..<Self.mostParts {
            position = afterBlanks(position)
            guard position < text.count else { break }
            if text[position] == "," {
                position += 1
                if !hasName || isAttribute(at: afterBlanks(position)) { continue }
                result.name = trimmed(position..<text.count)
                return
            }
            let start = position
            if scanAttribute() {
                remainderStart = nil
            } else {
                remainderStart = remainderStart ?? start
            }
        }
        guard hasName, let remainderStart else { return }
        result.remainder = trimmed(remainderStart..<text.count)
        result.issues.removeAll { if case .strayWord = $0 { true } else { false } }
    }

    /// The most attributes, words and commas of one line. Text after them is skipped.
    private static let mostParts = 256

    /// - Returns: false for a word without a value.
    private mutating func scanAttribute() -> Bool {
        let start = position
        while position < text.count, Self.isKeyPart(text[position]) { position += 1 }
        let key = string(start..<position).lowercased()
        let equals = afterBlanks(position)
        if !key.isEmpty, equals < text.count, text[equals] == "=" {
            position = afterBlanks(equals + 1)
            append(key, scanValue(of: key))
            return true
        }
        skipWord(from: start)
        result.issues.append(.strayWord(String(string(start..<position).prefix(40))))
        return false
    }

    /// Skips a word without "=", with the quoted text after it: `tvg-name "TVC HN"`.
    private mutating func skipWord(from start: Int) {
        while position < text.count, text[position] != " ", text[position] != "," { position += 1 }
        let next = afterBlanks(position)
        guard next < text.count, text[next] == "\"", isWellKnown(start..<position) else { return }
        position = next
        _ = scanValue(of: "")
    }

    private mutating func append(_ key: String, _ value: String) {
        guard !value.isEmpty, !result.attributes.contains(where: { $0.name == key }) else { return }
        result.attributes.append(ListedAttribute(name: key, value: value))
    }
}

extension ListAttributeScanner {
    private mutating func scanValue(of key: String) -> String {
        guard position < text.count, let closing = Self.closingQuotes[text[position]] else { return scanBareValue() }
        let start = position + 1
        let end = closingQuote(from: start, among: closing)
        position = min(end.index + (end.isClosed ? 1 : 0), text.count)
        if !end.isClosed { result.issues.append(.unclosedQuote(attribute: String(key.prefix(40)))) }
        return trimmed(start..<end.index)
    }

    private mutating func scanBareValue() -> String {
        let start = position
        while position < text.count, text[position] != " ", text[position] != "," { position += 1 }
        return string(start..<position)
    }

    /// The index at which a quoted value ends.
    private func closingQuote(from start: Int, among closing: [Unicode.Scalar]) -> (index: Int, isClosed: Bool) {
        let nextAttribute = Self.first(of: starts, from: start)
        let end = nextAttribute ?? text.count
        let places = closing.compactMap { quotes[$0] }
        for list in [\QuotePlaces.ending, \QuotePlaces.beforeBlank] {
            let first = places.compactMap { Self.first(of: $0[keyPath: list], from: start) }.min()
            if let first, first < end { return (first, true) }
        }
        // The closing quote is missing: the value ends before the next attribute, or else at the comma before the name.
        if let nextAttribute { return (nextAttribute, false) }
        return (text[start...].firstIndex(of: ",") ?? text.count, false)
    }

    /// Whether the text after a quote can follow a value: another attribute, the end, or the comma before the name.
    private func endsValue(at index: Int) -> Bool {
        let next = afterBlanks(index)
        guard next < text.count else { return true }
        if text[next] == "," {
            // A comma before further attributes is part of the value, unless an attribute follows directly.
            return isAttribute(at: afterBlanks(next + 1)) || (starts.last ?? 0) < next
        }
        return isAttribute(at: next) || isListWord(at: next)
    }

    /// Whether a word such as `tvg-name` begins at `index`, with or without "=". Such a word occurs in no name.
    private func isListWord(at index: Int) -> Bool {
        guard index + 4 <= text.count, text[index] == "t" || text[index] == "T", text[index + 3] == "-" else {
            return false
        }
        return ["tvg-", "tvc-", "tvh-"].contains(string(index..<index + 4).lowercased())
    }

    /// The first of ascending `places` that is not before `index`.
    private static func first(of places: [Int], from index: Int) -> Int? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            StepCounter.add(1)
            if places[middle] < index { low = middle + 1 } else { high = middle }
        }
        return low < places.count ? places[low] : nil
    }

    /// Whether `key=` stands at `index`: a well-known key, or any key with a quoted value.
    private func isAttribute(at index: Int) -> Bool {
        var end = index
        while end < text.count, end - index < 64, Self.isKeyPart(text[end]) { end += 1 }
        StepCounter.add(1 + end - index)
        guard end > index, case let equals = afterBlanks(end), equals < text.count, text[equals] == "=" else {
            return false
        }
        if isWellKnown(index..<end) { return true }
        return equals == end && equals + 1 < text.count && Self.closingQuotes[text[equals + 1]] != nil
    }

    private func isWellKnown(_ range: Range<Int>) -> Bool { Self.isWellKnown(string(range).lowercased()) }

    private static func isWellKnown(_ key: String) -> Bool {
        wellKnown.contains(key) || prefixes.contains { key.hasPrefix($0) }
    }

    private static let prefixes = ["tvg-", "tvc-", "tvh-", "catchup", "group-title", "provider", "x-tvg-"]
    private static let wellKnown: Set<String> = [
        "url-tvg", "channel-id", "channelid", "channel-number", "cuid", "ch-number", "logo", "radio", "timeshift",
        "media", "audio-track", "aspect-ratio", "parent-code", "censored", "group-logo", "group-author", "refresh",
    ]

    /// The positions of well-known keys with "=" after a blank, a quote or a comma, but not in the query of a URL.
    private static func attributeStarts(in text: [Unicode.Scalar]) -> [Int] {
        var starts: [Int] = []
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, isKeyPart(text[index]) { index += 1 }
            if index > start, isStart(start..<index, in: text) { starts.append(start) }
            index = max(index, start + 1)
            StepCounter.add(index - start)
        }
        return starts
    }

    private static func isStart(_ key: Range<Int>, in text: [Unicode.Scalar]) -> Bool {
        guard key.count < 64 else { return false }
        if key.lowerBound > 0 {
            let before = text[key.lowerBound - 1]
            guard before == " " || before == "\t" || before == "," || closingQuotes[before] != nil else { return false }
        }
        var next = key.upperBound
        while next < text.count, text[next] == " " { next += 1 }
        StepCounter.add(next - key.upperBound)
        guard next < text.count, text[next] == "=" else { return false }
        return isWellKnown(String(String.UnicodeScalarView(text[key])).lowercased())
    }

    private static func isKeyPart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
        default: false
        }
    }

    private static let closingQuotes: [Unicode.Scalar: [Unicode.Scalar]] = [
        "\"": ["\"", "”"], "'": ["'"], "“": ["”", "“", "\""], "”": ["”", "“", "\""], "„": ["“", "”", "\""],
        "‘": ["’", "'"], "’": ["’", "'"],
    ]

    private func afterBlanks(_ start: Int) -> Int {
        var index = start
        while index < text.count, text[index] == " " || text[index] == "\t" { index += 1 }
        StepCounter.add(1 + index - start)
        return index
    }

    private func string(_ range: Range<Int>) -> String {
        StepCounter.add(range.count)
        return String(String.UnicodeScalarView(text[range]))
    }

    private func trimmed(_ range: Range<Int>) -> String {
        String(string(range).trimmingWhiteSpace)
    }
}
