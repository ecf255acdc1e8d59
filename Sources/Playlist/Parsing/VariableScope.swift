/// A variable that EXT-X-DEFINE made, with its value resolved (draft-pantos-hls-rfc8216bis §4.4.2.3).
package struct VariableDefinition: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The variables of one playlist while it is read, and what they may be defined from (draft §4.3).
struct VariableScope {
    private(set) var definitions: [VariableDefinition] = []
    private var values: [String: String] = [:]
    /// Address of the playlist after redirects, for QUERYPARAM.
    let url: String
    /// Of the multivariant playlist that named this one, for IMPORT.
    let imported: [VariableDefinition]

    init(address: String, imported: [VariableDefinition]) {
        self.url = address
        self.imported = imported
    }

    mutating func define(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        let list = try AttributeList(parsing: value, line: line, tag: PlaylistTag.define.rawValue)
        let definition = try definition(list, line: line)
        guard values[definition.name] == nil else { throw PlaylistError(.duplicate, .define, line: line) }
        values[definition.name] = definition.value
        definitions.append(definition)
    }

    private func definition(_ list: AttributeList, line: Int) throws(PlaylistError) -> VariableDefinition {
        if let name = list["NAME"] {
            guard let value = list["VALUE"] else {
                throw PlaylistError(.missingAttribute("VALUE"), .define, line: line)
            }
            return VariableDefinition(name: name, value: value)
        }
        if let name = list["IMPORT"] {
            guard let found = imported.first(where: { $0.name == name }) else {
                throw PlaylistError(.undefinedVariable(name), .define, line: line)
            }
            return found
        }
        if let name = list["QUERYPARAM"] {
            guard let value = URIReference.queryParameter(name, of: url) else {
                throw PlaylistError(.undefinedVariable(name), .define, line: line)
            }
            return VariableDefinition(name: name, value: value)
        }
        throw PlaylistError(.missingAttribute("NAME"), .define, line: line)
    }

    /// `text` with every `{$name}` replaced. A playlist that defines nothing has no references: its braces are text.
    ///
    /// Throws `.undefinedVariable`.
    func substitute(_ text: String, tag: PlaylistTag, line: Int) throws(PlaylistError) -> String {
        guard !values.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            guard let name = Self.referenceName(at: rest) else {
                result.append(rest.removeFirst())
                continue
            }
            guard let value = values[String(name)] else {
                throw PlaylistError(.undefinedVariable(String(name)), tag, line: line)
            }
            result += value
            rest = rest[name.endIndex...].dropFirst()
        }
        return result + rest
    }

    func substitute(_ list: AttributeList, tag: PlaylistTag, line: Int) throws(PlaylistError) -> AttributeList {
        guard !values.isEmpty else { return list }
        var list = list
        for index in list.attributes.indices {
            list.attributes[index].value = try substitute(list.attributes[index].value, tag: tag, line: line)
        }
        return list
    }

    /// `name` of a text that begins with `{$name}`; nil when it does not.
    private static func referenceName(at text: Substring) -> Substring? {
        guard text.hasPrefix("{$") else { return nil }
        let name = text.dropFirst(2).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return !name.isEmpty && text[name.endIndex...].hasPrefix("}") ? name : nil
    }
}
