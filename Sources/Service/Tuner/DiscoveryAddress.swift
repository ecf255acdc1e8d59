package import HTTP

/// Where a client that looks for tuners finds the HTTP server.
package struct DiscoveryAddress: Sendable {
    let publicURL: String?
    /// Where the HTTP server listens, with the port that it has.
    let listening: ListenAddress

    package init(publicURL: String?, listening: ListenAddress) {
        self.publicURL = publicURL
        self.listening = listening
    }

    /// Whether clients on other machines can reach the server.
    package var isReachable: Bool { publicURL != nil || !isLoopback(listening.host) }

    /// The URL for a client; nil if the client cannot reach the server.
    /// - Parameter local: the address of this machine on the way to the client.
    package func baseURL(for client: String, at local: String?) -> String? {
        if let publicURL { return publicURL }
        if ["0.0.0.0", "::", "*"].contains(listening.host) {
            return local.map { ListenAddress(host: $0, port: 0).baseURL(port: listening.port) }
        }
        if isLoopback(listening.host), !isLoopback(client) { return nil }
        return listening.baseURL(port: listening.port)
    }

    private func isLoopback(_ host: String) -> Bool {
        host == "localhost" || TrustedProxies("loopback")?.contains(host) == true
    }
}
