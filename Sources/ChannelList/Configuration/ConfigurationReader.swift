import Support

/// Reads the values of a configuration and collects its mistakes.
///
/// Each function returns nil for a value that it has recorded an issue about.
struct ConfigurationReader {
    private static let mostIssues = 100

    let origin: ConfigurationOrigin
    private(set) var issues: [ConfigurationIssue] = []
    private(set) var issueCount = 0
    /// The former names of keys that were read.
    var formerKeys: Set<String> = []
    private var path: [String] = []
    private var patterns = PatternMatcher()

    init(_ origin: ConfigurationOrigin) { self.origin = origin }

    mutating func record(_ kind: ConfigurationIssue.Kind, at position: ConfigurationNode.Position?) {
        issueCount += 1
        guard issues.count < Self.mostIssues else { return }
        issues.append(ConfigurationIssue(kind, at: position, path: path))
    }

    /// Records that a value is none of the expected values.
    /// - Parameter written: the value as written; nil if it may be a secret, or is not a scalar.
    mutating func refuse<Value>(
        _ node: ConfigurationNode, _ written: String? = nil, expected: String
    ) -> Value? {
        record(.badValue(written.map(Self.excerpt), expected: expected), at: node.position)
        return nil
    }

    /// The word that was probably meant; nil if the list of issues is full already.
    private func nearestWord(to word: String, among words: [String]) -> String? {
        issues.count < Self.mostIssues ? NearestWord.of(word, among: words) : nil
    }

    mutating func below<Value>(_ key: String, _ read: (inout ConfigurationReader) -> Value) -> Value {
        path.append(key)
        defer { path.removeLast() }
        return read(&self)
    }

    func finish() throws(ConfigurationError) {
        guard issueCount == 0 else { throw ConfigurationError(issues: issues, count: issueCount) }
    }
}

// MARK: - Scalars

extension ConfigurationReader {
    mutating func text(_ node: ConfigurationNode, _ pattern: ConfigurationPattern) -> String? {
        guard let (written, text) = scalar(node, [.plain, .text], expected: pattern.expected) else { return nil }
        if patterns.matches(text, pattern) { return text }
        return refuse(node, pattern.isSecret ? nil : written, expected: pattern.expected)
    }

    mutating func bool(_ node: ConfigurationNode) -> Bool? {
        let expected = "true or false"
        guard let (written, text) = scalar(node, [.plain, .boolean], expected: expected) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: return refuse(node, written, expected: expected)
        }
    }

    mutating func integer(_ node: ConfigurationNode, in range: ClosedRange<Int>) -> Int? {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let (written, text) = scalar(node, [.plain, .number], expected: expected) else { return nil }
        if let number = Int(text), range.contains(number) { return number }
        return refuse(node, written, expected: expected)
    }

    mutating func choice(_ node: ConfigurationNode, of words: [String]) -> String? {
        let expected = "one of \(words.joined(separator: ", "))"
        guard let (written, text) = scalar(node, [.plain, .text], expected: expected) else { return nil }
        if words.contains(text) { return text }
        let nearest = nearestWord(to: text, among: words).map { "; did you mean “\($0)”?" } ?? ""
        return refuse(node, written, expected: expected + nearest)
    }

    mutating func duration(_ node: ConfigurationNode, _ pattern: ConfigurationPattern = .duration) -> Duration? {
        amount(node, pattern).map { digits, unit in
            .seconds(digits * (["m": 60, "h": 3600, "d": 86_400][unit] ?? 1))
        }
    }

    /// A duration from one number of hours to another.
    mutating func duration(_ node: ConfigurationNode, hours: ClosedRange<Int>) -> Duration? {
        guard let span = duration(node) else { return nil }
        if (hours.lowerBound * 3600...hours.upperBound * 3600).contains(Int(span.components.seconds)) { return span }
        return refuse(node, expected: "a duration from \(hours.lowerBound)h to \(hours.upperBound / 24)d")
    }

    /// Bytes of a disk.
    mutating func storage(_ node: ConfigurationNode, atLeast least: Int) -> Int? {
        let bytes = amount(node, .byteCount).map { digits, unit in
            let shift: Int64 = ["k": 10, "m": 20, "g": 30][unit.prefix(1).lowercased()] ?? 0
            return Int(clamping: min(Int64(digits), Int64.max >> shift) << shift)
        }
        guard let bytes, bytes < least else { return bytes }
        return refuse(node, expected: "at least \(least >> 20)MiB")
    }

    mutating func byteCount(_ node: ConfigurationNode, atLeast least: Int) -> Int? {
        let bytes = amount(node, .byteCount).map { digits, unit in
            digits << (["k": 10, "m": 20, "g": 30][unit.prefix(1).lowercased()] ?? 0)
        }
        guard let bytes, bytes < least || bytes > MemoryBudget.largestLimit else { return bytes }
        let bound = bytes < least ? "least \(least >> 20)MiB" : "most \(MemoryBudget.largestLimit >> 30)GiB"
        return refuse(node, expected: "at \(bound)")
    }

    private mutating func amount(
        _ node: ConfigurationNode, _ pattern: ConfigurationPattern
    ) -> (number: Int, unit: String)? {
        guard let (written, text) = scalar(node, [.plain, .text, .number], expected: pattern.expected) else {
            return nil
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard patterns.matches(text, pattern), let number = Int(digits) else {
            return refuse(node, written, expected: pattern.expected)
        }
        return (number, String(text[digits.endIndex...]))
    }

    /// The path of a file or a directory, resolved against the configuration's directory.
    mutating func filePath(_ node: ConfigurationNode) -> String? {
        if origin == .commandLine, case .scalar(let path, _) = node.content {
            return path.isEmpty ? refuse(node, expected: "the path of a file or a directory") : path
        }
        guard let text = text(node, .text) else { return nil }
        guard case .file(let directory, _) = origin, !text.hasPrefix("/"), !text.hasPrefix("file:"), !directory.isEmpty
        else { return text }
        return directory + "/" + text
    }

    /// A scalar of one of these kinds, as written and with its variables expanded.
    mutating func scalar(
        _ node: ConfigurationNode, _ kinds: [ConfigurationNode.ScalarKind], expected: String
    ) -> (written: String, text: String)? {
        switch node.content {
        case .nothing: record(.noValue, at: node.position)
        case .scalar(let text, let kind) where kinds.contains(kind): return expand(text, at: node.position)
        case .scalar(let text, .text) where origin != .request: return expand(text, at: node.position)
        case .scalar, .list, .map: return refuse(node, expected: expected)
        }
        return nil
    }

    private mutating func expand(
        _ text: String, at position: ConfigurationNode.Position?
    ) -> (written: String, text: String)? {
        guard let environment = origin.environment else { return (text, text) }
        do throws(ConfigurationIssue) {
            return (text, try EnvironmentExpansion.expand(text, environment: environment))
        } catch {
            record(error.kind, at: position)
            return nil
        }
    }

    static func excerpt(_ text: String) -> String {
        let line = text.inOneLine
        return line.count > 60 ? line.prefix(60) + "…" : line
    }
}

// MARK: - Lists and maps

extension ConfigurationReader {
    /// Reads each item of a list, or the one value.
    mutating func list<Value>(
        _ node: ConfigurationNode, limit: Int, of things: String,
        _ read: (inout ConfigurationReader, ConfigurationNode) -> Value?
    ) -> [Value] {
        switch node.content {
        case .nothing: record(.noValue, at: node.position)
        case .list(let items) where items.count > limit: record(.tooMany(things, limit: limit), at: node.position)
        case .list(let items):
            return items.enumerated().compactMap { index, item in below(String(index)) { read(&$0, item) } }
        case .scalar, .map: return read(&self, node).map { [$0] } ?? []
        }
        return []
    }

    mutating func entries(_ node: ConfigurationNode, expected: String) -> [ConfigurationNode.Entry]? {
        switch node.content {
        case .map(let entries): return entries
        case .nothing: record(.noValue, at: node.position)
        case .scalar, .list: return refuse(node, expected: expected)
        }
        return nil
    }

    /// Reads each value of a map whose key is in `keys`. Records the other keys, with the place where they would be
    /// permitted.
    mutating func read<Key: RawRepresentable & Equatable>(
        _ entries: [ConfigurationNode.Entry], keys: [Key],
        _ read: (inout ConfigurationReader, Key, ConfigurationNode) -> Void
    ) where Key.RawValue == String {
        for entry in entries {
            if let key = Key(rawValue: entry.key), keys.contains(key) {
                below(entry.key) { read(&$0, key, entry.value) }
            } else if origin != .request, let key = ConfigurationKey(rawValue: entry.key) {
                record(.misplacedKey(key), at: entry.position)
            } else {
                let nearest = nearestWord(to: entry.key, among: keys.map(\.rawValue))
                record(.unknownKey(Self.excerpt(entry.key), nearest: nearest), at: entry.position)
            }
        }
    }
}

/// Replaces `${NAME}` by the value of an environment variable. `$${` stands for `${`; any other `$` for itself.
private enum EnvironmentExpansion {
    static func expand(
        _ text: String, environment: [String: String]
    ) throws(ConfigurationIssue) -> String {
        guard text.contains("${") else { return text }
        var (result, rest) = ("", text[...])
        while let start = rest.firstRange(of: "${") {
            if rest[..<start.lowerBound].last == "$" {
                result += rest[..<start.lowerBound].dropLast() + "${"
                rest = rest[start.upperBound...]
                continue
            }
            let end = rest[start.upperBound...].firstIndex(of: "}")
            guard let end, case let name = String(rest[start.upperBound..<end]), isName(name) else {
                throw ConfigurationIssue(.unclosedVariable)
            }
            guard let value = environment[name] else { throw ConfigurationIssue(.missingVariable(name)) }
            result += rest[..<start.lowerBound] + value
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, first == "_" || first.isLetter else { return false }
        return text.allSatisfy { $0.isASCII && ($0 == "_" || $0.isLetter || $0.isNumber) }
    }
}

/// Guesses which word was meant by a mistyped one.
package enum NearestWord {
    /// The word that differs least from `word`, if at most two fifths of its letters differ.
    package static func of(_ word: String, among words: [String]) -> String? {
        let word = word.lowercased()
        // A longer word is no typing error, and comparing it would take long.
        guard word.count <= longest else { return nil }
        let distances = words.map { (word: $0, distance: editDistance($0, word)) }
        let nearest = distances.min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance * 5 <= 2 * max($0.word.count, word.count) ? $0.word : nil }
    }

    private static let longest = 64

    /// The number of letters to insert, remove or replace (Levenshtein).
    private static func editDistance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        StepCounter.add(left.count * right.count)
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let replaced = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
