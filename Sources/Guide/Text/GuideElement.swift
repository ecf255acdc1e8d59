/// A `channel` or `programme` element of an XMLTV guide, as its bytes.
struct GuideElement: Equatable, Sendable {
    enum Kind: Equatable, Sendable { case channel, program }

    let kind: Kind
    /// From `<` of the start tag to `>` of the end tag.
    let bytes: ArraySlice<UInt8>
    /// The bytes of the start tag.
    let startTag: Range<Int>

    /// The bytes between the tags; empty if there is only one tag.
    var content: ArraySlice<UInt8> {
        guard bytes[startTag.upperBound - 2] != UInt8(ascii: "/"), startTag.upperBound < bytes.endIndex,
            let end = bytes.lastIndex(of: UInt8(ascii: "<"))
        else { return [] }
        return bytes[startTag.upperBound..<max(end, startTag.upperBound)]
    }

    /// The value of an attribute as it is written; nil if it is missing.
    func rawAttribute(_ name: StaticString) -> ArraySlice<UInt8>? {
        var attributes = GuideAttributes(bytes[startTag])
        while let attribute = attributes.next() {
            if attribute.isNamed(name) { return attribute.value }
        }
        return nil
    }

    /// The `id` of a channel, or the `channel` of a program, as it is written.
    var rawID: ArraySlice<UInt8>? {
        switch kind {
        case .channel: rawAttribute("id")
        case .program: rawAttribute("channel")
        }
    }
}

/// The attributes of a start tag, one after the other. What is malformed is passed over.
struct GuideAttributes {
    struct Attribute {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>

        func isNamed(_ text: StaticString) -> Bool {
            guard name.count == text.utf8CodeUnitCount else { return false }
            return unsafe name.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: name.count))
        }
    }

    private var rest: ArraySlice<UInt8>

    /// - Parameter tag: from `<` to `>`.
    init(_ tag: ArraySlice<UInt8>) {
        rest = tag.dropFirst().drop { !Self.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    }

    mutating func next() -> Attribute? {
        while let first = rest.first {
            guard XMLCharacter.isNameStart(first) else {
                rest.removeFirst()
                continue
            }
            let end = rest.firstIndex { !XMLCharacter.isName($0) } ?? rest.endIndex
            let name = rest[..<end]
            rest = rest[end...].drop(while: Self.isSpace)
            guard rest.first == UInt8(ascii: "=") else { continue }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { continue }
            rest.removeFirst()
            let close = rest.firstIndex(of: quote) ?? rest.endIndex
            defer { rest = rest[close...].dropFirst() }
            return Attribute(name: name, value: rest[..<close])
        }
        return nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { XMLCharacter.isSpace(byte) }
}

/// Classes of bytes in XML (XML 1.0 §2.3). XMLTV has no names but in ASCII. A colon is in none: readers refuse a document
/// with a prefix that it does not declare.
enum XMLCharacter {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    static func isNameStart(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F
    }

    static func isName(_ byte: UInt8) -> Bool {
        isNameStart(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
    }
}
