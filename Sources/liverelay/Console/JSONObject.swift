/// A JSON object in one line, with its members in the order in which they were added (RFC 8259).
///
/// A member without a value is left out.
struct JSONObject: Equatable, Sendable {
    private var members = ""

    var text: String { "{\(members)}" }

    mutating func add(_ name: String, _ value: String?) {
        if let value { addMember(name, Self.quoted(value)) }
    }

    mutating func add(_ name: String, _ value: (some FixedWidthInteger)?) {
        if let value { addMember(name, String(value)) }
    }

    mutating func add(_ name: String, _ value: Bool?) {
        if let value { addMember(name, value ? "true" : "false") }
    }

    /// Adds seconds to the millisecond. A value that is no number is left out.
    mutating func add(_ name: String, seconds: Double?) {
        guard let seconds, seconds.isFinite else { return }
        addMember(name, "\((seconds * 1000).rounded() / 1000)")
    }

    private mutating func addMember(_ name: String, _ value: String) {
        members += "\(members.isEmpty ? "" : ",")\(Self.quoted(name)):\(value)"
    }

    /// A string with its quotes. Control characters are escaped, those of Unicode too, so that no terminal obeys them.
    static func quoted(_ text: String) -> String {
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

    /// Control and format characters, such as those that change the direction of text, and line separators.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// `\u` with four hexadecimal digits for each UTF-16 code unit.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
