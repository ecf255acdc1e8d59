import ChannelList
import Support

/// A JSON value, as the document of the API has it: mostly a schema.
enum JSONSchema: Encodable, Equatable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([JSONSchema])
    case object([String: JSONSchema])

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let text): try text.encode(to: encoder)
        case .number(let number): try number.encode(to: encoder)
        case .flag(let flag): try flag.encode(to: encoder)
        case .list(let items): try items.encode(to: encoder)
        case .object(let members): try members.encode(to: encoder)
        }
    }

    /// This object with further members.
    func adding(_ members: [String: JSONSchema?]) -> JSONSchema {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(members.compactMapValues(\.self)) { $1 })
    }

    func described(_ description: String?) -> JSONSchema { adding(["description": description.map(JSONSchema.text)]) }
}

extension JSONSchema: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int) { self = .number(number) }
    init(booleanLiteral flag: Bool) { self = .flag(flag) }
}

extension JSONSchema: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    init(arrayLiteral items: JSONSchema...) { self = .list(items) }
    init(dictionaryLiteral members: (String, JSONSchema)...) {
        self = .object(Dictionary(members) { first, _ in first })
    }
}

extension JSONSchema {
    static let string: JSONSchema = ["type": "string"]
    static let boolean: JSONSchema = ["type": "boolean"]
    static let integer: JSONSchema = ["type": "integer"]
    static let texts: JSONSchema = array(of: string)

    static func string(_ pattern: ConfigurationPattern) -> JSONSchema {
        ["type": "string", "pattern": .text(pattern.expression), "maxLength": .number(pattern.longest)]
    }

    static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
        ["type": "integer", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)]
    }

    static func array(of items: JSONSchema) -> JSONSchema { ["type": "array", "items": items] }

    static func words(_ words: [String]) -> JSONSchema { ["enum": .list(words.map(JSONSchema.text))] }

    static func reference(_ name: String) -> JSONSchema { ["$ref": "#/components/schemas/\(name)"] }

    static func oneOf(_ schemas: [JSONSchema]) -> JSONSchema {
        schemas.count == 1 ? schemas[0] : ["oneOf": .list(schemas)]
    }

    static func required(_ names: [String]) -> JSONSchema { ["required": .list(names.map(JSONSchema.text))] }

    /// An object with these members.
    /// - Parameter isClosed: whether it has no others.
    static func object(
        of properties: [String: JSONSchema], required names: [String], isClosed: Bool = false
    ) -> JSONSchema {
        required(names).adding([
            "type": "object", "properties": .object(properties), "additionalProperties": isClosed ? false : nil,
        ])
    }
}

// MARK: - Keys of channels

extension ConfigurationKey {
    var schema: JSONSchema {
        let schema = row.form.schema
        if case .object(let members) = schema, members["$ref"] != nil { return schema }
        return schema.described(row.help)
    }
}

extension ConfigurationKey.Form {
    var schema: JSONSchema {
        switch self {
        case .flag: .boolean
        case .span: .oneOf(Self.spans)
        case .shortSpan: .oneOf([.string(.shortSpan), .integer(0...30)])
        case .hours(let range):
            .oneOf([.string(.duration), .integer(range.lowerBound * 3600...range.upperBound * 3600)])
        case .rewind: .oneOf(Self.spans + [["const": "when-watched"]])
        case .zone: .string(.zone)
        case .path, .addresses, .tokens, .recording, .split, .store: .string(.text)
        case .storage(let least): .oneOf([.string(.byteCount), .integer(least...999_999_999_999)])
        case .variant: .string(.variant)
        case .text(.source): .reference("URL")
        case .text(let pattern): .string(pattern)
        case .headers: .reference("Headers")
        case .count(let range): .integer(range)
        case .choice(let words): .words(words)
        case .bytes(let least): .oneOf([Self.byteCount(atLeast: least), .integer(least...999_999_999_999)])
        case .texts(let pattern, let limit): Self.oneOrMore([.string(pattern)], 0...limit)
        case .sources(let least, let limit): Self.oneOrMore([.reference("URL"), .reference("Source")], least...limit)
        }
    }

    private static let spans: [JSONSchema] = [.string(.duration), .integer(0...9_999_999)]

    private static func oneOrMore(_ items: [JSONSchema], _ count: ClosedRange<Int>) -> JSONSchema {
        let array = JSONSchema.array(of: .oneOf(items))
        return .oneOf(
            items + [array.adding(["minItems": .number(count.lowerBound), "maxItems": .number(count.upperBound)])])
    }

    /// The pattern of a memory limit has no number below the smallest one.
    private static func byteCount(atLeast least: Int) -> JSONSchema {
        guard least == MemoryBudget.smallestLimit else { return .string(.byteCount) }
        return JSONSchema.string(.byteCount).adding([
            "pattern": "^((9[6-9]|[1-9][0-9]{2,3})[Mm]([Ii]?[Bb])?|[1-9][0-9]{0,3}[Gg]([Ii]?[Bb])?|[1-9][0-9]{9,11})$"
        ])
    }
}
