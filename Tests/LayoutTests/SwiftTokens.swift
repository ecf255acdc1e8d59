/// A word or a sign of Swift source, and the line it stands in, from 1.
struct SwiftToken: Equatable {
    let text: String
    let line: Int
}

/// Splits Swift source into words and signs. Comments and the text of string literals are left out, what a literal
/// interpolates is kept: a rule about code must not be met by a sentence about it.
struct SwiftTokens {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var tokens: [SwiftToken] = []

    static func of(_ source: String) -> [SwiftToken] {
        var reader = SwiftTokens(bytes: Array(source.utf8))
        reader.readCode(interpolated: false)
        return reader.tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Up to the end, or up to the parenthesis that closes an interpolation.
    private mutating func readCode(interpolated: Bool) {
        var depth = 0
        while let byte = byte(0) {
            if Self.isWord(byte) {
                readWord()
            } else if starts("//") {
                skip { $0 != UInt8(ascii: "\n") }
            } else if starts("/*") {
                skipComment()
            } else if let (hashes, quotes) = literalOpening() {
                readLiteral(hashes: hashes, quotes: quotes)
            } else {
                if byte == UInt8(ascii: "(") { depth += 1 }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                if interpolated && depth < 0 { return advance(1) }
                readSign(byte)
            }
        }
    }

    private mutating func readWord() {
        let start = position
        skip(while: Self.isWord)
        // `try!` and `try?` are words of their own: `try !done()` is neither.
        if ["try", "as"].contains(String(decoding: bytes[start..<position], as: UTF8.self)) {
            skip { $0 == UInt8(ascii: "!") || $0 == UInt8(ascii: "?") }
        }
        tokens.append(SwiftToken(text: String(decoding: bytes[start..<position], as: UTF8.self), line: line))
    }

    private mutating func readSign(_ byte: UInt8) {
        let isSpace = byte <= UInt8(ascii: " ")
        if !isSpace { tokens.append(SwiftToken(text: String(UnicodeScalar(byte)), line: line)) }
        advance(1)
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                advance(2)
            } else if starts("*/") {
                depth -= 1
                advance(2)
            } else {
                advance(1)
            }
        } while depth > 0 && position < bytes.count
    }

    /// The number of `#` and of quotation marks, where a string literal begins here.
    private func literalOpening() -> (hashes: Int, quotes: Int)? {
        guard byte(0) == UInt8(ascii: "#") || byte(0) == UInt8(ascii: "\"") else { return nil }
        let hashes = bytes[position...].prefix { $0 == UInt8(ascii: "#") }.count
        let quotes = bytes[(position + hashes)...].prefix(3).prefix { $0 == UInt8(ascii: "\"") }.count
        guard quotes > 0 else { return nil }
        return (hashes, quotes == 3 ? 3 : 1)
    }

    private mutating func readLiteral(hashes: Int, quotes: Int) {
        let raw = String(repeating: "#", count: hashes)
        let closing = String(repeating: "\"", count: quotes) + raw
        let escape = "\\" + raw
        advance(hashes + quotes)
        while position < bytes.count && !starts(closing) {
            if starts(escape + "(") {
                advance(hashes + 2)
                readCode(interpolated: true)
            } else {
                advance(starts(escape) ? hashes + 2 : 1)
            }
        }
        advance(closing.utf8.count)
    }

    // MARK: Bytes

    private func byte(_ offset: Int) -> UInt8? { position + offset < bytes.count ? bytes[position + offset] : nil }

    private func starts(_ text: String) -> Bool {
        var offset = 0
        for unit in text.utf8 {
            guard byte(offset) == unit else { return false }
            offset += 1
        }
        return true
    }

    private mutating func advance(_ count: Int) {
        for _ in 0..<min(count, bytes.count - position) {
            if bytes[position] == UInt8(ascii: "\n") { line += 1 }
            position += 1
        }
    }

    private mutating func skip(while isTaken: (UInt8) -> Bool) {
        while let byte = byte(0), isTaken(byte) { advance(1) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
