/// An attribute list (RFC 8216 §4.2) in the order in which it was written.
package struct AttributeList: Hashable, Sendable {
    package struct Attribute: Hashable, Sendable {
        package var name: String
        /// Without the quotes.
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

    /// The first attribute of that name.
    package subscript(name: String) -> String? { attributes.first { $0.name == name }?.value }

    /// Replaces the first attribute of that name where it stands, or appends it; nil removes all of that name.
    package mutating func set(_ name: String, to value: String?, isQuoted: Bool = false) {
        guard let value else { return attributes.removeAll { $0.name == name } }
        let attribute = Attribute(name: name, value: value, isQuoted: isQuoted)
        if let index = attributes.firstIndex(where: { $0.name == name }) {
            attributes[index] = attribute
        } else {
            attributes.append(attribute)
        }
    }

    /// As it stands after the colon of a tag. The grammar has no escape: a quote inside a value becomes an apostrophe.
    package var text: String {
        attributes.map { attribute in
            guard attribute.isQuoted else { return "\(attribute.name)=\(attribute.value)" }
            let value = String(attribute.value.map { $0 == "\"" ? "'" : $0 })
            return "\(attribute.name)=\"\(value)\""
        }.joined(separator: ",")
    }
}

/// Reading. Attribute names are matched whole, never found inside another name or inside quotes.
extension AttributeList {
    /// The text after the colon of `tag`. White space around names, values and commas and empty places between commas
    /// are passed over; a piece without "=" belongs to the unquoted value before it (`CODECS=avc1.4d401f,mp4a.40.2`).
    ///
    /// Throws `.badValue` for a quote that does not close, for text after a closing quote and for a value without name.
    package init(parsing text: some StringProtocol, line: Int, tag: String) throws(PlaylistError) {
        try self.init(parsing: Array(text.utf8)[...], line: line, tag: tag)
    }

    init(parsing bytes: ArraySlice<UInt8>, line: Int, tag: String) throws(PlaylistError) {
        self.init()
        var rest = bytes
        while let piece = Self.nextItem(of: &rest) {
            if piece.isEmpty { continue }
            guard append(piece) else {
                let text = String(decoding: piece, as: UTF8.self)
                throw PlaylistError(reason: .badValue(text), tag: tag, line: line, section: "4.2")
            }
        }
    }

    /// Up to the next comma outside quotes, which is taken off as well; nil at the end.
    private static func nextItem(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !rest.isEmpty else { return nil }
        var isInsideQuotes = false
        var end = rest.startIndex
        while end < rest.endIndex, isInsideQuotes || rest[end] != ASCII.comma {
            if rest[end] == ASCII.quote { isInsideQuotes.toggle() }
            end += 1
        }
        let piece = rest[rest.startIndex..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        return piece.trimmingWhiteSpace()
    }

    /// False when the piece is malformed.
    private mutating func append(_ piece: ArraySlice<UInt8>) -> Bool {
        guard let equals = piece.firstIndex(of: ASCII.equals) else { return extendLastValue(by: piece) }
        let name = piece[..<equals].trimmingWhiteSpace()
        var value = piece[(equals + 1)...].trimmingWhiteSpace()
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

    private mutating func extendLastValue(by piece: ArraySlice<UInt8>) -> Bool {
        guard let last = attributes.indices.last, !attributes[last].isQuoted, !piece.contains(ASCII.quote) else {
            return false
        }
        attributes[last].value += "," + String(decoding: piece, as: UTF8.self)
        return true
    }
}
