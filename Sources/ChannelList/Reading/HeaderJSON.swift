/// Reads the JSON object of `#EXTHTTP:{"User-Agent":"…"}` (RFC 8259): one level, values that are strings or numbers.
struct HeaderJSON {
    private var rest: Substring.UnicodeScalarView

    /// The members in order; nil if the text is no such object.
    static func read(_ text: some StringProtocol) -> [(name: String, value: String)]? {
        var reader = HeaderJSON(rest: Substring(text).unicodeScalars)
        return reader.readObject()
    }

    private mutating func readObject() -> [(name: String, value: String)]? {
        guard consume("{") else { return nil }
        var members: [(name: String, value: String)] = []
        if consume("}") { return members }
        repeat {
            guard let name = readString(), consume(":"), let value = readValue() else { return nil }
            members.append((name, value))
        } while consume(",") && members.count < Self.mostMembers
        return consume("}") ? members : nil
    }

    private static let mostMembers = 64

    /// Consumes `scalar` and the white space before it, if it is next.
    private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func readValue() -> String? {
        if let text = readString() { return text }
        let word = rest.prefix { !",}[]{:\" ".unicodeScalars.contains($0) }
        rest = rest[word.endIndex...]
        return word.isEmpty ? nil : String(word)
    }

    private mutating func readString() -> String? {
        guard consume("\"") else { return nil }
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            if scalar == "\"" { return String(text) }
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            guard let escaped = readEscape() else { return nil }
            text.append(escaped)
        }
        return nil
    }

    private mutating func readEscape() -> Unicode.Scalar? {
        guard let scalar = rest.popFirst() else { return nil }
        switch scalar {
        case "\"", "\\", "/": return scalar
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "u": return readUnicode()
        default: return nil
        }
    }

    private mutating func readUnicode() -> Unicode.Scalar? {
        guard let first = readHex() else { return nil }
        guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first) }
        guard rest.popFirst() == "\\", rest.popFirst() == "u", let second = readHex(), 0xDC00...0xDFFF ~= second else {
            return nil
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func readHex() -> UInt32? {
        let digits = rest.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0.properties.isASCIIHexDigit }) else { return nil }
        rest = rest[digits.endIndex...]
        return UInt32(String(digits), radix: 16)
    }
}
