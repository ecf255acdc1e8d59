/// The `Host` field (RFC 9110 §7.2): a host and an optional port.
package enum HostField {
    /// The longest host with its port; DNS names have at most 253 characters.
    private static let longest = 260

    /// Whether the text is a DNS name, an IPv4 address or an IPv6 address in brackets, with or without a port.
    ///
    /// Such a text can stand in a URL and in any document as it is. The percent-coded and special characters that RFC
    /// 3986 allows in names are refused: no host that resolves has them.
    package static func isValid(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty, bytes.count <= longest else { return false }
        if bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), end > 2 else { return false }
            return bytes[1..<end].allSatisfy(isIPv6Character) && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return end > 0 && bytes[..<end].allSatisfy(isNameCharacter) && isPort(bytes[end...])
    }

    /// Whether the text is a port number.
    static func isPort(_ text: some StringProtocol) -> Bool {
        UInt16(text) != nil && text.utf8.allSatisfy(isDigit)
    }

    /// Nothing, or a colon and a port number.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        return colon == UInt8(ascii: ":") && isPort(String(decoding: bytes.dropFirst(), as: UTF8.self))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isIPv6Character(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte | 0x20) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~".utf8.contains(byte)
    }
}
