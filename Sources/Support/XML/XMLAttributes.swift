/// The attributes of a start tag, one after the other. What is malformed is passed over.
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
        rest = tag.dropFirst().drop { !Self.isSpace($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
    }

    package mutating func next() -> Attribute? {
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
