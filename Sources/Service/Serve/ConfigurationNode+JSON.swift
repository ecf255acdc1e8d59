package import ChannelList
import Foundation

extension ConfigurationNode {
    /// Reads a JSON object; nil for anything else.
    init?(json: [UInt8]) {
        guard let node = try? JSONDecoder().decode(ConfigurationNode.self, from: Data(json)), case .map = node.content
        else { return nil }
        self = node
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
