/// The characters that make a terminal, a log or a page do something instead of showing text.
///
/// They are the controls C0 and C1 with DEL, the line and paragraph separators, and all characters with the property
/// Bidi_Control, which can turn the text around them. Text from outside shows them as `\u{1B}`.
package enum ControlCharacters {
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Whether the first byte of a character in UTF-8 can belong to a control character.
    fileprivate static func mayBegin(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || isLongLead(byte)
    }

    /// Whether a byte begins control characters that take two or three bytes in UTF-8.
    static func isLongLead(_ byte: UInt8) -> Bool {
        byte >= 0xC2 && (byte == 0xC2 || byte == 0xD8 || byte == 0xE2)
    }

    /// Returns a JSON document in UTF-8 whose control characters are written as `\u001b`, which parsers read as the
    /// same text. Line feeds stay: between values they are white space, and JSON strings contain none.
    package static func escaped(json document: [UInt8]) -> [UInt8] {
        guard document.contains(where: { mayBegin($0) && $0 != ASCII.lineFeed }) else { return document }
        var text = ""
        for scalar in String(decoding: document, as: UTF8.self).unicodeScalars {
            if contains(scalar), scalar != "\n" {
                text += DocumentText.escape(scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return Array(text.utf8)
    }
}

extension String {
    /// The text in the quotes of a sentence.
    package var quoted: String { "“\(self)”" }
}

extension StringProtocol {
    /// The text with its control characters replaced by their numbers, for terminals, logs, pages and errors.
    package var escapingControlCharacters: String { escapingControlCharacters(keepingLines: false) }

    /// - Parameter keepingLines: whether line feeds stay.
    package func escapingControlCharacters(keepingLines: Bool) -> String {
        guard utf8.contains(where: { ControlCharacters.mayBegin($0) }) else { return String(self) }
        var result = ""
        for scalar in unicodeScalars {
            if ControlCharacters.contains(scalar), !(keepingLines && scalar == "\n") {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
