/// Splits a whole XML document into its tags and the text between them.
///
/// Comments, processing instructions and the document type are skipped, and nothing is expanded. A tag without an end
/// ends the document. Every byte is read a few times at most.
package struct XMLTokenizer {
    package struct StartTag {
        /// The name without its prefix.
        package let name: ArraySlice<UInt8>
        /// From `<` to `>`.
        package let bytes: ArraySlice<UInt8>
        /// Whether the element ends with this tag.
        package let isEmpty: Bool
    }

    package enum Token {
        case start(StartTag)
        /// An end tag. Its name does not matter to readers that count depth.
        case end
        /// Text as it is written, or character data.
        case text(ArraySlice<UInt8>, isCharacterData: Bool)
    }

    private var rest: ArraySlice<UInt8>
    /// Whether the document ends in the middle of markup.
    package private(set) var isTruncated = false

    package init(_ bytes: [UInt8]) {
        rest = bytes.starts(with: ASCII.byteOrderMark) ? bytes.dropFirst(ASCII.byteOrderMark.count) : bytes[...]
    }

    /// The next token; nil at the end.
    package mutating func next() -> Token? {
        while let first = rest.first {
            guard first == UInt8(ascii: "<") else {
                let text = removeBytes(upTo: rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex)
                return .text(text, isCharacterData: false)
            }
            if rest.starts(with: "<!--".utf8) {
                rest = rest.dropFirst(4)
                guard removeText(through: "-->") != nil else { return truncated() }
            } else if rest.starts(with: "<![CDATA[".utf8) {
                rest = rest.dropFirst(9)
                guard let text = removeText(through: "]]>") else { return truncated() }
                return .text(text, isCharacterData: true)
            } else if rest.starts(with: "<?".utf8) {
                guard removeText(through: "?>") != nil else { return truncated() }
            } else if rest.starts(with: "<!".utf8) {
                guard skipDeclaration() else { return truncated() }
            } else {
                return nextTag()
            }
        }
        return nil
    }

    private mutating func nextTag() -> Token? {
        guard let end = endOfTag() else { return truncated() }
        let tag = removeBytes(upTo: end)
        if tag.dropFirst().first == UInt8(ascii: "/") { return .end }
        let isEmpty = tag[tag.endIndex - 2] == UInt8(ascii: "/")
        let whole = tag.dropFirst().prefix {
            !XMLCharacter.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">")
        }
        let local = whole.lastIndex(of: UInt8(ascii: ":")).map { whole[($0 + 1)...] } ?? whole
        return .start(StartTag(name: local, bytes: tag, isEmpty: isEmpty))
    }

    /// The index after the `>` that ends the tag at the front. A `>` in the quotes of a value does not count.
    private func endOfTag() -> Int? {
        var quote: UInt8?
        for index in rest.indices {
            let byte = rest[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                StepCounter.add(1 + index - rest.startIndex)
                return index + 1
            }
        }
        return nil
    }

    /// Passes over a document type, whose internal subset stands in brackets.
    private mutating func skipDeclaration() -> Bool {
        var depth = 0
        for index in rest.indices {
            switch rest[index] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0:
                rest = rest[(index + 1)...]
                return true
            default: break
            }
        }
        return false
    }

    /// Removes and returns the bytes before `mark`, and removes the mark; nil if the mark does not occur.
    private mutating func removeText(through mark: String) -> ArraySlice<UInt8>? {
        var index = rest.startIndex
        while let first = mark.utf8.first, let next = rest[index...].firstIndex(of: first) {
            if rest[next...].starts(with: mark.utf8) {
                defer { rest = rest[(next + mark.utf8.count)...] }
                return rest[..<next]
            }
            index = next + 1
        }
        return nil
    }

    private mutating func removeBytes(upTo index: Int) -> ArraySlice<UInt8> {
        defer { rest = rest[index...] }
        return rest[..<index]
    }

    private mutating func truncated() -> Token? {
        isTruncated = true
        rest = []
        return nil
    }
}

/// The attributes of a start tag, one after the other. Malformed attributes are skipped.
package struct XMLAttributes {
    package struct Attribute {
        package let name: ArraySlice<UInt8>
        package let value: ArraySlice<UInt8>

        package func isNamed(_ text: StaticString) -> Bool {
            guard name.count == text.utf8CodeUnitCount else { return false }
            return unsafe name.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: name.count))
        }
    }

    private var rest: ArraySlice<UInt8>

    /// - Parameter tag: from `<` to `>`.
    package init(_ tag: ArraySlice<UInt8>) {
        rest = tag.dropFirst().drop { !XMLCharacter.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    }

    package mutating func next() -> Attribute? {
        while let first = rest.first {
            guard XMLCharacter.isNameStart(first) else {
                rest.removeFirst()
                continue
            }
            let end = rest.firstIndex { !XMLCharacter.isName($0) } ?? rest.endIndex
            let name = rest[..<end]
            rest = rest[end...].drop(while: XMLCharacter.isSpace)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop(while: XMLCharacter.isSpace)
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { continue }
            rest.removeFirst()
            let close = rest.firstIndex(of: quote) ?? rest.endIndex
            defer { rest = rest[close...].dropFirst() }
            return Attribute(name: name, value: rest[..<close])
        }
        return nil
    }
}

/// Classes of bytes in XML (XML 1.0 §2.3). Names are in ASCII. A colon is in none, so that `xlink:href` is read as `href`.
package enum XMLCharacter {
    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    package static func isNameStart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F
    }

    package static func isName(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
    }
}
