/// Strings in JSON and XML documents.
enum DocumentText {
    /// `text` as a JSON string with its quotes (RFC 8259 §7).
    static func json(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": written += "\\\(scalar)"
            case "\n": written += "\\n"
            case _ where scalar.value < 32:
                let digits = String(scalar.value, radix: 16)
                written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }

    /// A JSON object of members that are JSON already, in their order.
    static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\(json($0.name)):\($0.value)" }.joined(separator: ",") + "}"
    }

    /// `text` as the contents of an XML element (XML 1.0 §2.4), without characters that no document may have.
    static func xml(_ text: String) -> String {
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
}
