import Support

/// How clients reach this server: what URLs in documents begin with.
///
/// In this order: the public URL; what a trusted proxy says; the Host of the request. Whatever a client writes, only the
/// name of a host with a port, a scheme of two and a plain path get into a document.
package struct ForwardedAddresses: Sendable {
    /// Absolute, without a slash at its end; nil: as each request says.
    package var publicURL: PublicURL?
    var trustedProxies = TrustedProxies()
    /// The scheme of this server, unless a proxy says another one.
    var scheme = "http"
    /// The host of URLs for requests whose Host is none.
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

    /// The address of the client, before all proxies that are trusted; nil if it is not known.
    package func clientAddress(of fields: RequestTarget.Fields) -> String? {
        guard trustedProxies.contains(fields.peer) else { return fields.peer }
        return forwarded(fields).client ?? fields.peer
    }

    /// The claims of the trusted proxies together.
    private struct Forwarded {
        var client: String?
        var scheme: String?
        var host: String?
        var port: String?
        var prefix: String?
    }

    /// A proxy that adds `X-Forwarded-…` passes on a client's own `Forwarded`, so the former count first.
    private func forwarded(_ fields: RequestTarget.Fields) -> Forwarded {
        guard trustedProxies.contains(fields.peer) else { return Forwarded() }
        let claim = fields.forwarding
        if claim.addresses != nil || claim.scheme != nil || claim.host != nil || claim.prefix != nil {
            return forwarded(claim)
        }
        return claim.forwarded.flatMap(ForwardedField.parse).map(forwarded) ?? Forwarded()
    }

    /// Each proxy appends to a list, or writes one value: what a client wrote stands before that.
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
}

extension ForwardedAddresses {
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

    /// The host with the port that the proxy listens at, unless it has one or needs none.
    private static func joined(_ host: String, _ port: String?, _ scheme: String?) -> String {
        guard let port, port != (scheme == "https" ? "443" : "80") else { return host }
        let hasPort = (host.hasPrefix("[") ? host.drop { $0 != "]" } : host[...]).contains(":")
        return hasPort ? host : "\(host):\(port)"
    }
}
