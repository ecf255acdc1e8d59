import Support

/// The proxies whose word about a request counts.
package struct TrustedProxies: Equatable, Sendable {
    private var prefixes: [IPAddressPrefix] = []

    /// Trusts nobody.
    package init() {}

    /// Reads addresses and ranges separated by commas, or the words `loopback` and `private`.
    package init?(_ text: String) {
        for word in text.split(separator: ",").map(\.trimmingBlanks) {
            if let known = Self.words[word.lowercased()] {
                prefixes += known.compactMap { IPAddressPrefix($0) }
            } else if let prefix = IPAddressPrefix(word) {
                prefixes.append(prefix)
            } else {
                return nil
            }
        }
        if prefixes.isEmpty { return nil }
    }

    func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return prefixes.contains { $0.contains(address) }
    }

    /// - Parameter address: as text; nil and names are not trusted.
    package func contains(_ address: String?) -> Bool {
        guard !prefixes.isEmpty, let address = address.flatMap({ IPAddress($0) }) else { return false }
        return contains(address)
    }

    private static let loopback = ["127.0.0.0/8", "::1"]
    private static let words = [
        "loopback": loopback,
        "private": loopback + [
            "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10",
        ],
    ]
}
