/// The `Forwarded` field (RFC 7239): the statements of each proxy about the request that it received.
package enum ForwardedField {
    /// The parameters that one proxy added, as far as they are used.
    package struct Element: Equatable, Sendable {
        /// The node that the proxy received the request from: an address with or without a port, or a name.
        package var node: String?
        var proto: String?
        var host: String?
    }

    /// Parses a field into its elements, the first proxy's first.
    /// - Returns: nil if the field is malformed, because the client's text can then not be distinguished from a
    ///   proxy's.
    package static func parse(_ field: String) -> [Element]? {
        var elements = [Element()]
        var rest = Array(field.utf8)[...]
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: ","):
                elements.append(Element())
                rest.removeFirst()
            case UInt8(ascii: ";"), UInt8(ascii: " "), UInt8(ascii: "\t"): rest.removeFirst()
            default:
                guard let (name, value) = parameter(&rest) else { return nil }
                elements[elements.count - 1].set(name, value)
            }
        }
        return elements
    }

    private static func parameter(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: String)? {
        let name = token(&rest)
        guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
        guard rest.first == UInt8(ascii: "\"") else { return (name, token(&rest)) }
        rest.removeFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (name, String(decoding: value, as: UTF8.self)) }
            guard byte == UInt8(ascii: "\\") else {
                value.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            value.append(escaped)
        }
        return nil
    }

    /// The bytes up to a delimiter. Addresses with colons and brackets should be quoted, and often are not.
    private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
        let end = rest.firstIndex { ",;= \t\"".utf8.contains($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// The address of a node without its port: `192.0.2.1:80` is `192.0.2.1`, `[::1]:80` is `::1`.
    package static func address(ofNode node: some StringProtocol) -> String {
        let text = String(node.drop { $0 == "\"" }.prefix { $0 != "\"" })
        if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        return colons == 1 ? String(text.prefix { $0 != ":" }) : text
    }
}

extension ForwardedField.Element {
    /// Sets a parameter. Names are compared without case. A repeated parameter is malformed, and the last one is used.
    fileprivate mutating func set(_ name: String, _ value: String) {
        switch name.lowercased() {
        case "for": node = value
        case "proto": proto = value
        case "host": host = value
        default: break
        }
    }
}
