import ChannelList
import Foundation

extension ConfigurationNode {
    /// Reads a JSON object; nil for anything else.
    init?(json: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(json)), case .map = value.node.content
        else { return nil }
        self = value.node
    }
}

/// The name of a member of a JSON object.
struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// Any value of JSON, with its type.
private struct JSONValue: Decodable {
    let node: ConfigurationNode

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: MemberName.self) {
            let entries = try object.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
                ConfigurationNode.Entry(
                    key: $0.stringValue, value: try object.decode(JSONValue.self, forKey: $0).node)
            }
            node = ConfigurationNode(.map(entries))
        } else if var list = try? decoder.unkeyedContainer() {
            var items: [ConfigurationNode] = []
            while !list.isAtEnd { items.append(try list.decode(JSONValue.self).node) }
            node = ConfigurationNode(.list(items))
        } else {
            node = ConfigurationNode(Self.content(of: try decoder.singleValueContainer()))
        }
    }

    private static func content(of value: any SingleValueDecodingContainer) -> ConfigurationNode.Content {
        if value.decodeNil() { return .nothing }
        if let bool = try? value.decode(Bool.self) { return .scalar(String(bool), .boolean) }
        if let text = try? value.decode(String.self) { return .scalar(text, .text) }
        if let number = try? value.decode(Int.self) { return .scalar(String(number), .number) }
        return .scalar((try? value.decode(Double.self)).map { String($0) } ?? "number", .number)
    }
}
