import Support

/// Determines how clients reach this server: the beginning of URLs in documents.
///
/// In order of precedence: the public URL; the claims of a trusted proxy; the Host of the request. Whatever a client
/// sends, only a host name with a port, one of two schemes and a plain path can appear in a document.
package struct ForwardedAddresses: Sendable {
    /// Absolute, without a slash at its end; nil: derived from each request.
    package var publicURL: PublicURL?
    var trustedProxies = TrustedProxies()
    /// The scheme of this server, unless a proxy states another one.
    var scheme = "http"
    /// The host in URLs for requests without a valid Host.
    var fallback = "localhost"

    package init(
        publicURL: PublicURL? = nil, trustedProxies: TrustedProxies = TrustedProxies(), scheme: String = "http",
        fallback: String = "localhost"
    ) {
        self.publicURL = publicURL
        self.trustedProxies = trustedProxies
        self.scheme = scheme
        self.fallback = fallback
    }

    /// An absolute URL without a slash at its end.
    package func baseURL(of fields: RequestTarget.Fields) -> String {
        if let publicURL { return publicURL.text }
        let claim = forwarded(fields)
        guard let host = claim.host ?? fields.host.flatMap(Self.validHost) else {
            return "\(scheme)://\(fallback)"
        }
        return "\(claim.scheme ?? scheme)://\(Self.joined(host, claim.port, claim.scheme))\(claim.prefix ?? "")"
    }

    /// The address of the client before all trusted proxies; nil if unknown.
    package func clientAddress(of fields: RequestTarget.Fields) -> String? {
        guard trustedProxies.contains(fields.peer) else { return fields.peer }
        return forwarded(fields).client ?? fields.peer
    }

    /// The combined claims of the trusted proxies.
    private struct Forwarded {
        var client: String?
        var scheme: String?
        var host: String?
        var port: String?
        var prefix: String?
    }

    /// A proxy that adds `X-Forwarded-…` passes on a client's own `Forwarded`, so `X-Forwarded-…` takes precedence.
    private func forwarded(_ fields: RequestTarget.Fields) -> Forwarded {
        guard trustedProxies.contains(fields.peer) else { return Forwarded() }
        let claim = fields.forwarding
        if claim.addresses != nil || claim.scheme != nil || claim.host != nil || claim.prefix != nil {
            return forwarded(claim)
        }
        return claim.forwarded.flatMap(ForwardedField.parse).map(forwarded) ?? Forwarded()
    }

    /// Each proxy appends to the list or replaces it, so values written by a client come first.
    private func forwarded(_ claim: RequestTarget.Forwarding) -> Forwarded {
        let addresses = Self.values(claim.addresses).map { ForwardedField.address(ofNode: $0) }
        let trusted = addresses.reversed().prefix { trustedProxies.contains($0) }.count
        let hops = min(trusted + 1, max(addresses.count, 1))
        func value(_ field: String?) -> Substring? { Self.values(field).suffix(hops).first }
        return Forwarded(
            client: addresses.suffix(hops).first, scheme: value(claim.scheme).flatMap(Self.validScheme),
            host: value(claim.host).flatMap(Self.validHost),
            port: value(claim.port).flatMap { HostField.isPort($0) ? String($0) : nil },
            prefix: value(claim.prefix).flatMap(Self.validPrefix))
    }

    private func forwarded(_ elements: [ForwardedField.Element]) -> Forwarded {
        var claim = Forwarded()
        for element in elements.reversed() {
            claim.client = element.node.map { ForwardedField.address(ofNode: $0) } ?? claim.client
            claim.scheme = element.proto.flatMap { Self.validScheme($0[...]) } ?? claim.scheme
            claim.host = element.host.flatMap { Self.validHost($0) } ?? claim.host
            guard trustedProxies.contains(claim.client) else { break }
        }
        return claim
    }

    private static func values(_ field: String?) -> [Substring] {
        (field ?? "").split(separator: ",").map(\.trimmingBlanks).filter { !$0.isEmpty }
    }

    private static func validHost(_ text: some StringProtocol) -> String? {
        HostField.isValid(text) ? text.lowercased() : nil
    }

    private static func validScheme(_ text: Substring) -> String? {
        let scheme = text.lowercased()
        return ["http", "https"].contains(scheme) ? scheme : nil
    }

    /// A path that begins with one slash, without the slash at its end.
    private static func validPrefix(_ text: Substring) -> String? {
        let path = text.hasSuffix("/") ? text.dropLast() : text
        return path.isEmpty || PublicURL.isPath(path) ? String(path) : nil
    }

    /// The host, with the port that the proxy listens on unless the host already has a port or needs none.
    private static func joined(_ host: String, _ port: String?, _ scheme: String?) -> String {
        guard let port, port != (scheme == "https" ? "443" : "80") else { return host }
        let hasPort = (host.hasPrefix("[") ? host.drop { $0 != "]" } : host[...]).contains(":")
        return hasPort ? host : "\(host):\(port)"
    }
}

/// The proxies whose claims about requests are trusted.
package struct TrustedProxies: Equatable, Sendable {
    private var prefixes: [IPAddressPrefix] = []

    /// Trusts no proxy.
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

    /// - Parameter address: the address as text. nil and names are not trusted.
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

/// The URL of the server as its clients see it, which may have a path: `https://tv.example/live`.
package struct PublicURL: Equatable, Sendable {
    /// The reason why a text is not such a URL.
    package enum Malformed: String, Error {
        case scheme = "it has to begin with http:// or https://"
        case host = "its host is no name and no address; a user name is not possible"
        case path = "its path may only have letters, digits, -._~ and percent codes, and no query"
    }

    /// Without a slash at its end.
    package let text: String

    package init(_ text: String) throws(Malformed) {
        let (lower, schemes) = (text.lowercased(), ["http://", "https://"])
        guard let scheme = schemes.first(where: { lower.hasPrefix($0) }) else { throw .scheme }
        let rest = text.dropFirst(scheme.count)
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard HostField.isValid(host) else { throw .host }
        var path = rest[host.endIndex...]
        while path.hasSuffix("/") { path.removeLast() }
        guard path.isEmpty || Self.isPath(path) else { throw .path }
        self.text = scheme + host.lowercased() + path
    }

    /// Whether the text is an absolute path without dot segments that needs no escaping in a document.
    static func isPath(_ text: some StringProtocol) -> Bool {
        guard text.hasPrefix("/"), text.utf8.count <= 1024 else { return false }
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~%/".utf8.contains(byte)
        }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        return isPlain && !segments.contains { $0.isEmpty || $0 == "." || $0 == ".." }
    }
}

/// The `Host` field (RFC 9110 §7.2): a host and an optional port.
package enum HostField {
    /// The longest host with its port; DNS names have at most 253 characters.
    private static let longest = 260

    /// Whether the text is a DNS name, an IPv4 address or an IPv6 address in brackets, with or without a port.
    ///
    /// Such a text can be used in a URL and in any document unchanged. The percent-coded and special characters that
    /// RFC 3986 allows in names are refused, because no resolvable host has them.
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
