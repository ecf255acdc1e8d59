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
