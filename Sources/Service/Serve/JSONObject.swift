/// An object of JSON whose keys come from a table.
struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    typealias Value = any Encodable & Sendable

    struct TextKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private var values: [String: Value]

    init(dictionaryLiteral elements: (String, Value)...) {
        values = Dictionary(elements) { first, _ in first }
    }

    subscript(key: String) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        for (key, value) in values { try container.encode(value, forKey: TextKey(stringValue: key)) }
    }
}
