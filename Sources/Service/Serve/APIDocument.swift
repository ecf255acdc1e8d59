import ChannelList
import Observability
import Support

/// The document of the API (OpenAPI 3.1): `openapi.json`, with the schemas of a channel's keys and the types of events.
enum APIDocument {
    static let json = Array(
        String(decoding: EmbeddedFile.bytes(named: "openapi.json"), as: UTF8.self)
            .replacing(#"{"keys of a channel": true}"#, with: schemas(of: .channel))
            .replacing(#"{"keys of a source": true}"#, with: schemas(of: .source))
            .replacing("{types of events}", with: EventKind.list).utf8)

    private static func schemas(of scope: ConfigurationKey.Scope) -> String {
        var properties: JSONSchema = [:]
        for key in scope.keys where key.isPermitted(in: .request) { properties[key.rawValue] = key.schema }
        // A channel may have several URLs or sources, but a source has one URL.
        if scope == .source { properties[ConfigurationKey.url.rawValue] = ConfigurationKey.Form.text(.source).schema }
        return String(decoding: StatusDocument.json(of: properties), as: UTF8.self)
    }
}

extension ConfigurationKey {
    fileprivate var schema: JSONSchema {
        var schema = row.form.schema
        if schema["$ref"] == nil { schema["description"] = row.help }
        return schema
    }
}

extension ConfigurationKey.Form {
    fileprivate var schema: JSONSchema {
        switch self {
        case .flag: ["type": "boolean"]
        case .span: Self.oneOf(Self.spans)
        case .shortSpan: Self.oneOf([Self.string(.shortSpan), Self.integer(0...30)])
        case .hours(let range):
            Self.oneOf([Self.string(.duration), Self.integer(range.lowerBound * 3600...range.upperBound * 3600)])
        case .rewind: Self.oneOf(Self.spans + [["const": "when-watched"]])
        case .path, .addresses, .tokens, .recording, .split, .store: Self.string(.text)
        case .storage(let least): Self.oneOf([Self.string(.byteCount), Self.integer(least...999_999_999_999)])
        case .variant: Self.string(.variant)
        case .text(.source): Self.reference("URL")
        case .text(let pattern): Self.string(pattern)
        case .headers: Self.reference("Headers")
        case .count(let range): Self.integer(range)
        case .choice(let words): ["enum": words]
        case .bytes(let least): Self.oneOf([Self.byteCount(atLeast: least), Self.integer(least...999_999_999_999)])
        case .texts(let pattern, let limit): Self.oneOrMore([Self.string(pattern)], 0...limit)
        case .sources(let least, let limit):
            Self.oneOrMore([Self.reference("URL"), Self.reference("Source")], least...limit)
        }
    }

    private static let spans = [string(.duration), integer(0...9_999_999)]

    private static func string(_ pattern: ConfigurationPattern) -> JSONSchema {
        ["type": "string", "pattern": pattern.expression, "maxLength": pattern.longest]
    }

    private static func integer(_ range: ClosedRange<Int>) -> JSONSchema {
        ["type": "integer", "minimum": range.lowerBound, "maximum": range.upperBound]
    }

    private static func reference(_ name: String) -> JSONSchema { ["$ref": "#/components/schemas/\(name)"] }

    private static func oneOf(_ schemas: [JSONSchema]) -> JSONSchema {
        schemas.count == 1 ? schemas[0] : ["oneOf": schemas]
    }

    private static func oneOrMore(_ items: [JSONSchema], _ count: ClosedRange<Int>) -> JSONSchema {
        oneOf(
            items + [
                [
                    "type": "array", "items": oneOf(items), "minItems": count.lowerBound, "maxItems": count.upperBound,
                ]
            ])
    }

    /// The pattern of a memory limit has no number below the smallest one.
    private static func byteCount(atLeast least: Int) -> JSONSchema {
        var schema = string(.byteCount)
        if least == MemoryBudget.smallestLimit {
            schema["pattern"] =
                "^((9[6-9]|[1-9][0-9]{2,3})[Mm]([Ii]?[Bb])?|[1-9][0-9]{0,3}[Gg]([Ii]?[Bb])?|[1-9][0-9]{9,11})$"
        }
        return schema
    }
}

private struct JSONSchema: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    private var members: [String: any Encodable & Sendable]

    init(dictionaryLiteral elements: (String, any Encodable & Sendable)...) {
        members = Dictionary(elements) { first, _ in first }
    }

    subscript(name: String) -> (any Encodable & Sendable)? {
        get { members[name] }
        set { members[name] = newValue }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        for (name, value) in members { try container.encode(value, forKey: MemberName(stringValue: name)) }
    }
}
