/// Strings in JSON and XML documents.
package enum DocumentText {
    /// `text` as a JSON string with its quotes (RFC 8259 §7). Control characters are escaped, those of Unicode too, so that
    /// no terminal obeys them.
    static func json(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where isEscaped(scalar): quoted += escape(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// `text` as the contents of an XML element (XML 1.0 §2.4), without characters that XML forbids.
    package static func xml(_ text: String) -> String {
        var written = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": written += "&amp;"
            case "<": written += "&lt;"
            case ">": written += "&gt;"
            case "\"": written += "&quot;"
            case _ where scalar.value < 32 && scalar != "\t" && scalar != "\n": continue
            case "\u{FFFE}", "\u{FFFF}": continue
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written
    }

    /// Control and format characters, such as those that change the direction of text, and line separators.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// `\u` with four hexadecimal digits for each UTF-16 code unit.
    static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
