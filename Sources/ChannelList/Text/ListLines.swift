import Support

/// The lines of a list, with their numbers. Lines end with LF, CRLF or CR; a byte order mark is skipped.
package struct ListLines: Sequence, IteratorProtocol {
    package struct Line {
        /// 1-based.
        let number: Int
        /// Without white space at both ends.
        let bytes: ArraySlice<UInt8>
    }

    private var rest: ArraySlice<UInt8>
    private var number = 0

    /// - Parameter bytes: UTF-8, an 8-bit encoding, or UTF-16 with a byte order mark.
    init(_ bytes: [UInt8]) {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            rest = Self.decodeUTF16(bytes)[...]
        } else {
            rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        }
    }

    package mutating func next() -> Line? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex { $0 == Self.lineFeed || $0 == Self.carriageReturn } ?? rest.endIndex
        let line = rest[rest.startIndex..<end]
        number += 1
        let isPair = end + 1 < rest.endIndex && rest[end] == Self.carriageReturn && rest[end + 1] == Self.lineFeed
        rest = rest[Swift.min(rest.endIndex, end + (isPair ? 2 : 1))...]
        return Line(number: number, bytes: Self.trimmed(line))
    }

    private static let lineFeed: UInt8 = 10
    private static let carriageReturn: UInt8 = 13

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard var start = line.firstIndex(where: { $0 > 32 }), let end = line.lastIndex(where: { $0 > 32 }) else {
            return []
        }
        // If a list was concatenated from several, each part may begin with a byte order mark.
        while line[start...end].starts(with: [0xEF, 0xBB, 0xBF]) {
            start += 3
            while start <= end, line[start] <= 32 { start += 1 }
            if start > end { return [] }
        }
        return line[start...end]
    }

    private static func decodeUTF16(_ bytes: [UInt8]) -> [UInt8] {
        let isBigEndian = bytes[0] == 0xFE
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

extension ListLines.Line {
    /// The text without control characters.
    /// - Returns: `isForeign` is true if the bytes are not UTF-8 and were read as Windows-1252.
    func decoded() -> (text: String, isForeign: Bool) {
        if let text = String(validating: bytes, as: UTF8.self) {
            guard text.unicodeScalars.contains(where: ControlCharacters.contains) else { return (text, false) }
            let visible = text.unicodeScalars.map { ControlCharacters.contains($0) ? " " : $0 }
            return (String(String.UnicodeScalarView(visible)), false)
        }
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append(byte < 32 || byte == 127 ? " " : Self.windows1252Character(byte))
        }
        return (String(text), true)
    }

    package static func windows1252Character(_ byte: UInt8) -> Unicode.Scalar {
        let code = 0x80...0x9F ~= byte ? windows1252[Int(byte - 0x80)] : UInt32(byte)
        return Unicode.Scalar(code) ?? "\u{FFFD}"
    }

    /// The characters of Windows-1252 where Latin-1 has control characters.
    private static let windows1252: [UInt32] = [
        0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0xFFFD,
        0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0xFFFD, 0x017E, 0x0178,
    ]
}

extension StringProtocol {
    /// The text without white space of any kind at both ends.
    package var trimmingWhiteSpace: SubSequence {
        let start = firstIndex { !$0.isWhitespace } ?? endIndex
        let end = self[start...].lastIndex { !$0.isWhitespace }
        return end.map { self[start...$0] } ?? self[start..<start]
    }

    /// The text in one line: controls of ASCII are spaces.
    var inOneLine: String { String(unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : Character($0) }) }

    /// The text without the quotes of any kind around it.
    var removingQuotes: SubSequence {
        let quotes: Set<Character> = ["\"", "'", "“", "”", "„", "‘", "’"]
        let text = trimmingWhiteSpace
        guard text.count > 1, let first = text.first, let last = text.last else { return text }
        guard quotes.contains(first), quotes.contains(last) else { return text }
        return text.dropFirst().dropLast().trimmingWhiteSpace
    }
}

extension String {
    /// The text with the HTML entities that lists copied from web pages replaced.
    package var decodingEntities: String {
        guard contains("&"), contains(";") else { return self }
        let entities = [
            ("&quot;", "\""), ("&#34;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#039;", "'"), ("&lt;", "<"),
            ("&gt;", ">"), ("&amp;", "&"),
        ]
        return entities.reduce(self) { text, entity in
            text.contains(entity.0) ? text.replacing(entity.0, with: entity.1) : text
        }
    }
}
