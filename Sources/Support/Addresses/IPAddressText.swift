/// The form of IP addresses in text.
package enum IPAddressText {
    /// Whether `text` is an IPv4 address, or looks like an IPv6 address (RFC 4291 §2.2) without a zone.
    package static func isAddress(_ text: String) -> Bool { text.contains(":") ? isIPv6(text) : isIPv4(text) }

    private static func isIPv4(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
                    && (part.count == 1 || part.first != "0")
            }
    }

    private static func isIPv6(_ text: String) -> Bool {
        let halves = text.components(separatedBy: "::")
        guard halves.count <= 2 else { return false }
        var groups = halves.map { $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false) }
        var count = groups.reduce(0) { $0 + $1.count }
        if let last = groups.last?.last, last.contains(".") {
            guard isIPv4(last) else { return false }
            groups[groups.count - 1].removeLast()
            count += 1
        }
        let areGroups = groups.joined().allSatisfy {
            (1...4).contains($0.utf8.count) && UInt16($0, radix: 16) != nil && $0.first != "+"
        }
        return areGroups && (halves.count == 2 ? count < 8 : count == 8)
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        var (parts, rest): ([Substring], Substring) = ([], self[...])
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}
