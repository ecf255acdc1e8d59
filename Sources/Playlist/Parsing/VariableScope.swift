import Support

/// The variables of one playlist during parsing, and the sources of their values (draft-pantos-hls-rfc8216bis §4.3).
package struct VariableScope {
    package private(set) var definitions: [VariableDefinition] = []
    private var values: [String: String] = [:]
    /// The URL of the playlist after redirects, for QUERYPARAM.
    let url: String
    /// The variables of the multivariant playlist that lists this one, for IMPORT.
    let imported: [VariableDefinition]
    /// Counts the definitions and substitutions beyond the limits.
    private(set) var meter: LimitMeter
    private var expandedBytes = 0
    /// Whether a definition was dropped because it is too long. A value that uses an undefined variable then counts as
    /// too long.
    private var hasOverlongDefinition = false

    package init(url: String, imported: [VariableDefinition], limits: PlaylistLimits = .standard) {
        self.url = url
        self.imported = imported
        meter = LimitMeter(limits)
    }

    package mutating func define(_ value: ArraySlice<UInt8>, line: Int) throws(PlaylistError) {
        guard definitions.count < meter.limits.variables else { return meter.drop(.variables) }
        let list = try AttributeList(parsing: value, line: line, tag: PlaylistTag.define.rawValue)
        StepCounter.add(imported.count + 1)
        let definition = try definition(list, line: line)
        guard values[definition.name] == nil else { throw PlaylistError(.duplicate, .define, line: line) }
        values[definition.name] = definition.value
        definitions.append(definition)
    }

    mutating func dropOverlongDefinition() {
        hasOverlongDefinition = true
        meter.drop(.lineBytes)
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
    /// Throws `.undefinedVariable` for a name without definition, and `.exceeds` if the result or the sum of all results
    /// is too long.
    package mutating func substitute(_ text: String, tag: PlaylistTag, line: Int) throws(PlaylistError) -> String {
        guard !values.isEmpty || hasOverlongDefinition, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        let room = min(meter.limits.lineBytes, meter.limits.expandedBytes - expandedBytes)
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
                if hasOverlongDefinition { throw PlaylistError(.exceeds(.lineBytes), tag, line: line) }
                throw PlaylistError(.undefinedVariable(String(name)), tag, line: line)
            }
            StepCounter.add(1)
            guard result.utf8.count + value.utf8.count <= room else {
                let limit = room < meter.limits.lineBytes ? PlaylistLimit.expandedBytes : .lineBytes
                meter.drop(limit)
                throw PlaylistError(.exceeds(limit), tag, line: line)
            }
            result += value
            rest = rest[name.endIndex...].dropFirst()
        }
        result += rest
        expandedBytes += result.utf8.count
        return result
    }

    mutating func substitute(_ list: AttributeList, tag: PlaylistTag, line: Int) throws(PlaylistError) -> AttributeList
    {
        guard !values.isEmpty || hasOverlongDefinition else { return list }
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

/// The attributes of one tag with variables substituted. Errors name the tag, the line and the attribute.
struct TagAttributes {
    let list: AttributeList
    let tag: PlaylistTag
    let line: Int

    init(
        _ value: ArraySlice<UInt8>, of tag: PlaylistTag, line: Int, in scope: inout VariableScope
    ) throws(PlaylistError) {
        let written = try AttributeList(parsing: value, line: line, tag: tag.rawValue)
        self.list = try scope.substitute(written, tag: tag, line: line)
        self.tag = tag
        self.line = line
    }

    /// The value of the attribute. Throws `.missingAttribute` if it is absent or empty.
    func required(_ name: String) throws(PlaylistError) -> String {
        guard let value = list[name], !value.isEmpty else {
            throw PlaylistError(.missingAttribute(name), tag, line: line)
        }
        return value
    }

    func byteRange(_ name: String) throws(PlaylistError) -> ByteRangeText? {
        guard let text = list[name] else { return nil }
        guard let range = ByteRangeText(Array(text.utf8)[...]) else { throw badValue(name) }
        return range
    }

    /// Whether the value is YES. Any other value means NO.
    func flag(_ name: String) -> Bool { list[name] == "YES" }

    func badValue(_ name: String) -> PlaylistError {
        PlaylistError(.badValue("\(name)=\(list[name] ?? "")"), tag, line: line)
    }
}
