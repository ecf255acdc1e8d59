import Support

/// An attribute list (RFC 8216 §4.2); the attributes keep the order in which they were written.
package struct AttributeList: Hashable, Sendable {
    package struct Attribute: Hashable, Sendable {
        package var name: String
        /// The text between the quotes if the value is quoted.
        package var value: String
        package var isQuoted: Bool

        package init(name: String, value: String, isQuoted: Bool) {
            self.name = name
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    package var attributes: [Attribute]

    package init(_ attributes: [Attribute] = []) { self.attributes = attributes }

    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Replaces the first attribute called `name` in its place, or appends it. nil removes every attribute called `name`.
    package mutating func set(_ name: String, to value: String?, isQuoted: Bool = false) {
        guard let value else { return attributes.removeAll { $0.name == name } }
        let attribute = Attribute(name: name, value: value, isQuoted: isQuoted)
        if let index = attributes.firstIndex(where: { $0.name == name }) {
            attributes[index] = attribute
        } else {
            attributes.append(attribute)
        }
    }

    /// The text after the colon of a tag. The grammar has no escape: a quote inside a value becomes an apostrophe.
    package var text: String {
        var text = ""
        for attribute in attributes {
            if !text.isEmpty { text += "," }
            text += attribute.name
            text += attribute.isQuoted ? "=\"" : "="
            text += attribute.isQuoted ? Self.withoutQuotes(attribute.value) : attribute.value
            if attribute.isQuoted { text += "\"" }
        }
        return text
    }

    private static func withoutQuotes(_ value: String) -> String {
        guard value.utf8.contains(ASCII.quote) else { return value }
        return String(String.UnicodeScalarView(value.unicodeScalars.map { $0 == "\"" ? "'" : $0 }))
    }
}

// Parsing. Attribute names are matched whole, never inside another name or inside quotes.
extension AttributeList {
    /// Parses the text after the colon of `tag`.
    ///
    /// White space around names, values and commas is ignored, and so are empty items. An item without "=" belongs to
    /// the unquoted value before it (`CODECS=avc1.4d401f,mp4a.40.2`).
    ///
    /// Throws `.badValue` for a quote that does not close, for text after a closing quote and for a value without name,
    /// and `.exceeds` for too many attributes.
    package init(parsing text: some StringProtocol, line: Int, tag: String) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8)[...], line: line, tag: tag)
    }

    init(parsing bytes: ArraySlice<UInt8>, line: Int, tag: String) throws(PlaylistError) {
        self.init()
        var rest = bytes
        while let item = Self.nextItem(of: &rest) {
            if item.isEmpty { continue }
            guard attributes.count < PlaylistLimits.standard.attributes else {
                throw PlaylistError(reason: .exceeds(.attributes), tag: tag, line: line, section: "4.2")
            }
            guard append(item) else {
                let text = String(decoding: item, as: UTF8.self)
                throw PlaylistError(reason: .badValue(text), tag: tag, line: line, section: "4.2")
            }
        }
    }

    /// Removes and returns the text up to the next comma outside quotes, and removes the comma; nil at the end.
    private static func nextItem(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        var isInsideQuotes = false
        var end = rest.startIndex
        while end < rest.endIndex, isInsideQuotes || rest[end] != ASCII.comma {
            if rest[end] == ASCII.quote { isInsideQuotes.toggle() }
            end += 1
        }
        let item = rest[rest.startIndex..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return item.trimmingWhiteSpace()
    }

    /// - Returns: false if `item` is malformed.
    private mutating func append(_ item: ArraySlice<UInt8>) -> Bool {
        guard let equals = item.firstIndex(of: ASCII.equals) else { return extendLastValue(by: item) }
        let name = item[..<equals].trimmingWhiteSpace()
        var value = item[(equals + 1)...].trimmingWhiteSpace()
        guard !name.isEmpty, !name.contains(ASCII.quote) else { return false }
        let isQuoted = value.first == ASCII.quote
        if isQuoted {
            guard value.count >= 2, value.last == ASCII.quote else { return false }
            value = value.dropFirst().dropLast()
        }
        guard !value.contains(ASCII.quote) else { return false }
        attributes.append(
            Attribute(
                name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
                isQuoted: isQuoted))
        return true
    }

    private mutating func extendLastValue(by item: ArraySlice<UInt8>) -> Bool {
        guard let last = attributes.indices.last, !attributes[last].isQuoted, !item.contains(ASCII.quote) else {
            return false
        }
        attributes[last].value += "," + String(decoding: item, as: UTF8.self)
        return true
    }
}
