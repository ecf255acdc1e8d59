/// A value of a configuration, from YAML or JSON.
package struct ConfigurationNode: Equatable, Sendable {
    /// The position of a value in its text; both numbers are 1-based, columns in Unicode scalars.
    package struct Position: Equatable, Sendable {
        package let line: Int
        package let column: Int
    }

    /// The type of a scalar in its notation. A plain scalar of YAML may be text, a number or a Boolean.
    package enum ScalarKind: Equatable, Sendable { case plain, text, number, boolean }

    package struct Entry: Equatable, Sendable {
        package let key: String
        var position: Position?
        package let value: ConfigurationNode
    }

    package enum Content: Equatable, Sendable {
        case nothing
        case scalar(String, ScalarKind)
        case list([ConfigurationNode])
        /// Keys are unique.
        case map([Entry])
    }

    package let content: Content
    /// nil for a value of JSON.
    let position: Position?

    init(_ content: Content, position: Position? = nil) {
        self.content = content
        self.position = position
    }
}

package struct MemberName: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}

/// Any value of JSON, with its type.
extension ConfigurationNode: Decodable {
    package init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: MemberName.self) {
            let entries = try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
                Entry(key: $0.stringValue, value: try object.decode(ConfigurationNode.self, forKey: $0))
            }
            self.init(.map(entries))
        } else if var list = try? decoder.unkeyedContainer() {
            var items: [ConfigurationNode] = []
            while !list.isAtEnd { items.append(try list.decode(ConfigurationNode.self)) }
            self.init(.list(items))
        } else {
            self.init(Self.scalar(in: try decoder.singleValueContainer()))
        }
    }

    private static func scalar(in value: any SingleValueDecodingContainer) -> Content {
        if value.decodeNil() { return .nothing }
        if let bool = try? value.decode(Bool.self) { return .scalar(String(bool), .boolean) }
        if let text = try? value.decode(String.self) { return .scalar(text, .text) }
        if let number = try? value.decode(Int.self) { return .scalar(String(number), .number) }
        return .scalar((try? value.decode(Double.self)).map { String($0) } ?? "number", .number)
    }
}

extension ConfigurationNode: Encodable {
    package func encode(to encoder: any Encoder) throws {
        switch content {
        case .nothing:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .scalar(let text, let kind):
            var container = encoder.singleValueContainer()
            switch kind {
            case .boolean: try container.encode(text == "true")
            case .number:
                if let number = Int(text) { try container.encode(number) } else { try container.encode(Double(text)) }
            case .plain, .text: try container.encode(text)
            }
        case .list(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(item) }
        case .map(let entries):
            var container = encoder.container(keyedBy: MemberName.self)
            for entry in entries { try container.encode(entry.value, forKey: MemberName(stringValue: entry.key)) }
        }
    }
}
