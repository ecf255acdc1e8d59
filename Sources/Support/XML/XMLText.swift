/// References in the text of XML documents (XML 1.0 §4.1). Nothing that a DTD declares is expanded.
package enum XMLText {
    /// The characters that well-formed text means. Any other ampersand is text.
    package static func characters(_ text: ArraySlice<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "&")) else { return String(decoding: text, as: UTF8.self) }
        var output: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            guard byte == UInt8(ascii: "&"), let end = endOfReference(rest, at: rest.startIndex) else {
                output.append(byte)
                rest.removeFirst()
                continue
            }
            output += character(rest[(rest.startIndex + 1)..<(end - 1)])
            rest = rest[end...]
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// The index after a reference that begins at `start`; nil if it is none that needs no declaration.
    package static func endOfReference(_ text: ArraySlice<UInt8>, at start: Int) -> Int? {
        guard let end = text[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = text[(start + 1)..<end]
        guard name.first == UInt8(ascii: "#") else {
            return entities.contains { $0.name.elementsEqual(name) } ? end + 1 : nil
        }
        return code(of: name).map(isCharacter) == true ? end + 1 : nil
    }

    /// The character that a reference names, in UTF-8.
    private static func character(_ name: ArraySlice<UInt8>) -> [UInt8] {
        if let entity = entities.first(where: { $0.name.elementsEqual(name) }) { return [entity.character] }
        return code(of: name).flatMap { Unicode.Scalar($0) }.map { Array(String($0).utf8) } ?? []
    }

    /// The number in `#233` or `#xE9`.
    private static func code(of name: ArraySlice<UInt8>) -> UInt32? {
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        return digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    }

    private static let entities = [("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'")].map {
        (name: Array($0.0.utf8), character: Array($0.1.utf8)[0])
    }

    /// Whether a document may have the character (XML 1.0 §2.2).
    private static func isCharacter(_ code: UInt32) -> Bool {
        code == 9 || code == 10 || code == 13 || (0x20...0xD7FF).contains(code) || (0xE000...0xFFFD).contains(code)
            || (0x10000...0x10FFFF).contains(code)
    }
}
