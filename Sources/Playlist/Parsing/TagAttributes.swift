/// The attributes of one tag with variables substituted, read by type; what is wrong is said with tag, line and name.
struct TagAttributes {
    let list: AttributeList
    let tag: PlaylistTag
    let line: Int

    init(
        _ value: ArraySlice<UInt8>, of tag: PlaylistTag, line: Int, in scope: VariableScope
    ) throws(PlaylistError) {
        let written = try AttributeList(parsing: value, line: line, tag: tag.rawValue)
        self.list = try scope.substitute(written, tag: tag, line: line)
        self.tag = tag
        self.line = line
    }

    /// Throws `.missingAttribute` when it is absent or empty.
    func required(_ name: String) throws(PlaylistError) -> String {
        guard let value = list[name], !value.isEmpty else {
            throw PlaylistError(.missingAttribute(name), tag, line: line)
        }
        return value
    }

    func duration(_ name: String, isSigned: Bool = false) throws(PlaylistError) -> Duration? {
        guard let text = list[name] else { return nil }
        guard let duration = DecimalSeconds.duration(text, isSigned: isSigned) else { throw badValue(name) }
        return duration
    }

    func requiredDuration(_ name: String, isSigned: Bool = false) throws(PlaylistError) -> Duration {
        guard let duration = try duration(name, isSigned: isSigned) else {
            throw PlaylistError(.missingAttribute(name), tag, line: line)
        }
        return duration
    }

    func byteRange(_ name: String) throws(PlaylistError) -> ByteRangeText? {
        guard let text = list[name] else { return nil }
        guard let range = ByteRangeText(Array(text.utf8)[...]) else { throw badValue(name) }
        return range
    }

    /// YES; anything else is NO.
    func flag(_ name: String) -> Bool { list[name] == "YES" }

    func badValue(_ name: String) -> PlaylistError {
        PlaylistError(.badValue("\(name)=\(list[name] ?? "")"), tag, line: line)
    }
}

/// `length[@offset]` as written (RFC 8216 §4.3.2.2).
struct ByteRangeText: Equatable {
    let length: UInt64
    let offset: UInt64?

    /// nil when malformed.
    init?(_ text: ArraySlice<UInt8>) {
        let at = text.firstIndex(of: ASCII.at)
        guard let length = decimalInteger(text[..<(at ?? text.endIndex)].trimmingWhiteSpace()) else { return nil }
        self.length = length
        guard let at else {
            self.offset = nil
            return
        }
        guard let offset = decimalInteger(text[(at + 1)...].trimmingWhiteSpace()) else { return nil }
        self.offset = offset
    }

    /// Without an offset it begins where `previous`, the range before it in the same resource, ends. nil when there is
    /// none, or when the range would pass the last byte that can be numbered.
    func resolved(after previous: ByteRange?) -> ByteRange? {
        guard let offset = offset ?? previous.map({ $0.offset + $0.length }),
            !offset.addingReportingOverflow(length).overflow
        else { return nil }
        return ByteRange(offset: offset, length: length)
    }
}
