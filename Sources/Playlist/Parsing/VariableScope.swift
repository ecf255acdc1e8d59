/// The variables of one playlist during parsing, and the sources of their values (draft-pantos-hls-rfc8216bis §4.3).
struct VariableScope {
    private(set) var definitions: [VariableDefinition] = []
    private var values: [String: String] = [:]
    /// The URL of the playlist after redirects, for QUERYPARAM.
    let url: String
    /// The variables of the multivariant playlist that lists this one, for IMPORT.
    let imported: [VariableDefinition]

    init(url: String, imported: [VariableDefinition]) {
        self.url = url
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
            guard let definition = imported.first(where: { $0.name == name }) else {
                throw PlaylistError(.undefinedVariable(name), .define, line: line)
            }
            return definition
        }
        if let name = list["QUERYPARAM"] {
            guard let value = URIReference.queryParameter(name, of: url) else {
                throw PlaylistError(.undefinedVariable(name), .define, line: line)
            }
            return VariableDefinition(name: name, value: value)
        }
        throw PlaylistError(.missingAttribute("NAME"), .define, line: line)
    }

    /// `text` with every `{$name}` replaced. If the playlist defines no variables, braces are plain text.
    ///
    /// Throws `.undefinedVariable` for a name without definition.
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

    /// The name if `text` begins with `{$name}`, otherwise nil.
    private static func referenceName(at text: Substring) -> Substring? {
        guard text.hasPrefix("{$") else { return nil }
        let name = text.dropFirst(2).prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return !name.isEmpty && text[name.endIndex...].hasPrefix("}") ? name : nil
    }
}
