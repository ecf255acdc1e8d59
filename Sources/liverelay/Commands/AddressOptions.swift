import ArgumentParser
import WebServer

/// Options for the URLs in documents.
struct AddressOptions: ParsableArguments {
    @Option(
        name: .customLong("public-url"),
        help: ArgumentHelp(
            "URL of this server in its documents, as clients see it; it may have a path.",
            discussion: "By default http:// and the Host of each request. To clients, a channel is its URL.",
            valueName: "url"), transform: Self.publicURL)
    var publicURL: PublicURL?

    /// - Parameter isSecure: whether the server itself encrypts.
    func addresses(_ trustedProxies: TrustedProxies, isSecure: Bool) -> ServerAddresses {
        ServerAddresses(publicURL: publicURL, trustedProxies: trustedProxies, scheme: isSecure ? "https" : "http")
    }

    private static func publicURL(_ text: String) throws -> PublicURL {
        do throws(PublicURL.Malformed) { return try PublicURL(text) } catch {
            throw ValidationError("\(text) is no URL of a server: \(error.rawValue).")
        }
    }
}
