import Support
import Yams

/// Reads the one document of a YAML text.
enum YAMLDocument {
    /// The most values of a document, each counted wherever it is used: an alias of an alias may stand for billions.
    private static let mostNodes = 500_000
    private static let deepest = 64
    /// The most columns before the first word of a line, because the parser recurses for each nested value.
    private static let widestIndentation = 256

    /// - Returns: nil for a text without a document.
    static func read(_ text: String) throws(ConfigurationIssue) -> ConfigurationNode? {
        if let line = tooDeepLine(of: text) {
            throw ConfigurationIssue(.syntax("the line is indented too far"), at: .init(line: line, column: 1))
        }
        do {
            if text.utf8.contains(UInt8(ascii: "*")) { try checkKeys(of: text) }
            var count = 0
            return try Yams.compose(yaml: text).map { try node($0, depth: 0, count: &count) }
        } catch let issue as ConfigurationIssue {
            throw issue
        } catch let error as YamlError {
            throw ConfigurationIssue(error)
        } catch {
            throw ConfigurationIssue(.syntax("the text cannot be read"))
        }
    }

    /// Refuses aliases in keys: the parser compares keys by value, and an alias of an alias may stand for billions.
    ///
    /// If each `*` is replaced by `&`, aliases become anchors of empty nodes: tokens and nodes stay the same, but
    /// nothing is expanded. A key that is an alias is then empty.
    private static func checkKeys(of text: String) throws {
        do { try Yams.compose(yaml: text.replacing("*", with: "&")).map { try checkKeys(of: $0, depth: 0) } } catch {
            if case YamlError.duplicatedKeysInMapping(let keys, let context)? = error as? YamlError, keys.contains("") {
                throw keyIsNoText(context.mark)
            }
            throw error
        }
    }

    private static func checkKeys(of node: Node, depth: Int) throws(ConfigurationIssue) {
        guard depth <= deepest else { throw tooManyValues(at: node.mark) }
        switch node {
        case .scalar, .alias: break
        case .sequence(let sequence): for item in sequence { try checkKeys(of: item, depth: depth + 1) }
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard case .scalar(let scalar) = key, !scalar.string.isEmpty || scalar.style != .plain else {
                    throw keyIsNoText(key.mark)
                }
                try checkKeys(of: value, depth: depth + 1)
            }
        }
    }

    private static func keyIsNoText(_ mark: Mark?) -> ConfigurationIssue {
        ConfigurationIssue(.syntax("a key has to be text"), at: mark.map { .init($0) })
    }

    private static func tooManyValues(at mark: Mark?) -> ConfigurationIssue {
        ConfigurationIssue(
            .syntax("there are too many values, or too many inside of each other"), at: mark.map { .init($0) })
    }

    /// The number of the first line that begins with too many spaces or indicators, such as `- - - - …`.
    private static func tooDeepLine(of text: String) -> Int? {
        var (line, width, isIndentation) = (1, 0, true)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): (line, width, isIndentation) = (line + 1, 0, true)
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":"), UInt8(ascii: "\t"):
                width += 1
                if isIndentation, width > widestIndentation { return line }
            default: isIndentation = false
            }
        }
        return nil
    }

    private static func node(
        _ node: Node, depth: Int, count: inout Int
    ) throws(ConfigurationIssue) -> ConfigurationNode {
        let position = node.mark.map(ConfigurationNode.Position.init)
        count += 1
        guard count <= mostNodes, depth <= deepest else { throw tooManyValues(at: node.mark) }
        switch node {
        case .scalar(let scalar): return ConfigurationNode(content(of: scalar), position: position)
        case .sequence(let sequence):
            var list: [ConfigurationNode] = []
            for item in sequence { list.append(try self.node(item, depth: depth + 1, count: &count)) }
            return ConfigurationNode(.list(list), position: position)
        case .mapping(let mapping):
            var entries: [ConfigurationNode.Entry] = []
            var merged: [ConfigurationNode.Entry] = []
            for (key, value) in mapping {
                guard let name = key.scalar?.string else { throw keyIsNoText(key.mark) }
                let value = try self.node(value, depth: depth + 1, count: &count)
                if name == "<<" {
                    merged += value.mergedEntries
                } else {
                    entries.append(.init(key: name, position: key.mark.map { .init($0) }, value: value))
                }
            }
            return ConfigurationNode(.map(entries.adding(merged)), position: position)
        case .alias: throw ConfigurationIssue(.syntax("the alias is not known"), at: position)
        }
    }

    private static func content(of scalar: Node.Scalar) -> ConfigurationNode.Content {
        guard scalar.style == .plain || scalar.style == .any else { return .scalar(scalar.string, .text) }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? .nothing : .scalar(scalar.string, .plain)
    }
}

extension ConfigurationNode {
    /// The entries that the merge key `<<` adds: the entries of a map, or of a list of maps.
    fileprivate var mergedEntries: [Entry] {
        switch content {
        case .map(let entries): entries
        case .list(let maps): maps.flatMap(\.mergedEntries)
        case .nothing, .scalar: []
        }
    }
}

extension [ConfigurationNode.Entry] {
    /// These entries, followed by the entries of `others` with other keys.
    fileprivate func adding(_ others: [ConfigurationNode.Entry]) -> [ConfigurationNode.Entry] {
        guard !others.isEmpty else { return self }
        StepCounter.add(count + others.count)
        var keys = Set(map(\.key))
        return self + others.filter { keys.insert($0.key).inserted }
    }
}

extension ConfigurationNode.Position {
    fileprivate init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }
}

extension ConfigurationIssue {
    fileprivate init(_ error: YamlError) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(.syntax(problem), at: .init(mark))
        case .duplicatedKeysInMapping(let keys, let context):
            self.init(.repeatedKey(keys.first ?? ""), at: .init(context.mark))
        case .reader(let problem, _, _, _): self.init(.syntax(problem))
        default: self.init(.syntax("the text cannot be read"))
        }
    }
}
