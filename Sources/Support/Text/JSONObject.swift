/// A JSON object in one line, with its members in the order in which they were added (RFC 8259).
///
/// A member without a value is left out.
package struct JSONObject: Equatable, Sendable {
    private var members = ""

    package init(_ texts: KeyValuePairs<String, String> = [:]) {
        for (name, text) in texts { add(name, text) }
    }

    package var text: String { "{\(members)}" }

    package mutating func add(_ name: String, _ value: String?) {
        if let value { addMember(name, DocumentText.json(value)) }
    }

    package mutating func add(_ name: String, _ value: (some FixedWidthInteger)?) {
        if let value { addMember(name, String(value)) }
    }

    package mutating func add(_ name: String, _ value: Bool?) {
        if let value { addMember(name, value ? "true" : "false") }
    }

    /// Adds seconds, rounded to milliseconds. Infinities and NaN are left out.
    package mutating func add(_ name: String, seconds: Double?) {
        guard let seconds, seconds.isFinite else { return }
        addMember(name, "\((seconds * 1000).rounded() / 1000)")
    }

    package mutating func addNull(_ name: String) { addMember(name, "null") }

    package mutating func add(_ name: String, _ object: JSONObject) { addMember(name, object.text) }

    package mutating func add(_ name: String, list: some Sequence<JSONObject>) {
        addMember(name, JSONObject.text(of: list))
    }

    package mutating func add(_ name: String, texts: [String]) {
        addMember(name, "[" + texts.map(DocumentText.json).joined(separator: ",") + "]")
    }

    /// An array of objects, one a line.
    package static func text(of list: some Sequence<JSONObject>) -> String {
        "[" + list.lazy.map(\.text).joined(separator: ",\n") + "]"
    }

    package mutating func add(membersOf other: JSONObject) {
        if !other.members.isEmpty { members += (members.isEmpty ? "" : ",") + other.members }
    }

    private mutating func addMember(_ name: String, _ value: String) {
        members += "\(members.isEmpty ? "" : ",")\(DocumentText.json(name)):\(value)"
    }
}
