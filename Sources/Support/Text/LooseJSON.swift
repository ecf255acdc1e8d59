/// A JSON value (RFC 8259) that is read as text, whatever its type. Some programs write the same member as a string, as
/// a number or not at all, and write lists as objects with numbered members.
package enum LooseJSON: Equatable, Sendable {
    package struct Member: Equatable, Sendable {
        package let name: String
        package let value: LooseJSON
    }

    case null
    /// A text, or a number, `true` or `false` as written.
    case scalar(String)
    case list([LooseJSON])
    case object([Member])

    /// The first member with that name; null if no member has it.
    package subscript(name: String) -> LooseJSON {
        guard case .object(let members) = self else { return .null }
        return members.first { $0.name == name }?.value ?? .null
    }

    /// The text of a scalar, which may be empty; nil for everything else.
    package var scalar: String? { if case .scalar(let text) = self { text } else { nil } }

    /// The text of a scalar; nil if it is empty, and for everything else.
    package var text: String? { scalar.flatMap { $0.isEmpty || $0 == "null" ? nil : $0 } }

    /// Whether the value is false, or the number 0.
    package var isFalse: Bool { ["false", "0"].contains(text) }

    /// The elements of a list, or the values of an object.
    package var elements: [LooseJSON] {
        switch self {
        case .list(let elements): elements
        case .object(let members): members.map(\.value)
        case .null, .scalar: []
        }
    }

    /// Reads a document.
    /// - Returns: nil if the bytes are not JSON, or nested too deeply.
    package init?(_ bytes: [UInt8]) {
        var reader = LooseJSONReader(bytes)
        guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
        self = value
    }

    /// Reads the elements of a document one after the other, so that only one element is in memory.
    /// - Returns: false if the document is neither a list nor an object.
    package static func forEachElement(of bytes: [UInt8], _ body: (LooseJSON) -> Void) -> Bool {
        var reader = LooseJSONReader(bytes)
        return reader.readElements(depth: 0) { body($1) } && reader.isAtEnd
    }
}

/// Reads JSON from front to back. Bytes that are not UTF-8 become replacement characters.
private struct LooseJSONReader {
    private static let deepest = 32

    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Whether only white space follows.
    var isAtEnd: Bool {
        mutating get {
            skipWhiteSpace()
            return position == bytes.count
        }
    }

    mutating func value(depth: Int) -> LooseJSON? {
        skipWhiteSpace()
        guard position < bytes.count, depth < Self.deepest else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "\""): return string().map { .scalar($0) }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            let isList = bytes[position] == UInt8(ascii: "[")
            var members: [LooseJSON.Member] = []
            let isWhole = readElements(depth: depth) { members.append(.init(name: $0, value: $1)) }
            return isWhole ? isList ? .list(members.map(\.value)) : .object(members) : nil
        default: return word()
        }
    }

    /// Reads a list or an object.
    /// - Parameter body: called with the name, which is empty in a list, and the value of each element.
    mutating func readElements(depth: Int, _ body: (String, LooseJSON) -> Void) -> Bool {
        let isList = consume("[")
        guard isList || consume("{") else { return false }
        let end: Unicode.Scalar = isList ? "]" : "}"
        if consume(end) { return true }
        repeat {
            var name = ""
            if !isList {
                skipWhiteSpace()
                guard let text = string(), consume(":") else { return false }
                name = text
            }
            guard let value = value(depth: depth + 1) else { return false }
            body(name, value)
        } while consume(",")
        return consume(end)
    }

    /// `true`, `false`, `null` or a number.
    private mutating func word() -> LooseJSON? {
        let start = position
        while position < bytes.count, Self.isWordByte(bytes[position]) { position += 1 }
        switch String(decoding: bytes[start..<position], as: UTF8.self) {
        case "": return nil
        case "null": return .null
        case let word: return ["true", "false"].contains(word) || word.contains { $0.isNumber } ? .scalar(word) : nil
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "+-.".utf8.contains(byte)
    }

    private mutating func string() -> String? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(Character(scalar)).utf8)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"): return unicode()
        default: return byte < 0x80 ? Unicode.Scalar(byte) : nil
        }
    }

    /// Reads four hexadecimal digits, or a surrogate pair. An unpaired surrogate becomes a replacement character.
    private mutating func unicode() -> Unicode.Scalar? {
        guard let first = hexadecimal() else { return nil }
        guard (0xD800...0xDBFF).contains(first), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        let next = position
        position += 2
        guard let second = hexadecimal() else { return nil }
        guard (0xDC00...0xDFFF).contains(second) else {
            position = next
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func hexadecimal() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Hexadecimal.value(ofDigit: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    /// Consumes `scalar` and the white space before it, if it is next.
    private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        skipWhiteSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }
}
