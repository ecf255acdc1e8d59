import ArgumentParser

/// Options for the URLs in documents.
struct AddressOptions: ParsableArguments {
    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "URL of this server in its documents, as clients see it; it may have a path.",
            discussion: "By default http:// and the Host of each request. To clients, a channel is its URL.",
            valueName: "url"), transform: Self.publicURL)
    var publicURL: PublicURL?

    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded-Proto, -Host, -Prefix, -For or Forwarded is believed.",
            discussion: "Addresses or ranges such as 10.0.0.0/8 separated by commas, or loopback, or private.",
            valueName: "proxies"), transform: Self.proxies)
    var trustProxy = TrustedProxies()

    var addresses: ServerAddresses { ServerAddresses(publicURL: publicURL, trustedProxies: trustProxy) }

    private static func publicURL(_ text: String) throws -> PublicURL {
        do throws(PublicURL.Malformed) { return try PublicURL(text) } catch {
            throw ValidationError("\(text) is no URL of a server: \(error.rawValue).")
        }
    }

    private static func proxies(_ text: String) throws -> TrustedProxies {
        guard let proxies = TrustedProxies(text) else {
            throw ValidationError("\(text) is no list of addresses. Write 192.0.2.1, 10.0.0.0/8, loopback or private.")
        }
        return proxies
    }
}
