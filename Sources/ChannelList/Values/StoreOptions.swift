package import Support

/// A store, and what its requests have. They have nothing of the requests for the channel's upstream.
package struct StoreOptions: Hashable, Sendable {
    /// The keys of `archive-store` as a map.
    enum Key: String, CaseIterable {
        case url, proxy, certificates, credentials, connections
    }

    /// Objects that are read at once, at most.
    static let mostConnections = 64
    static let connectionRange = 1...mostConnections

    /// `s3://bucket/prefix?…`
    package var url: String
    /// URL of an HTTP or SOCKS proxy; nil: as in the environment.
    package var proxy: Secret?
    /// Path of a PEM file with the trusted certificate authorities; nil: those of the system.
    package var certificates: String?
    /// Path of a credentials file, of which the section `default` counts; nil: the key of the environment.
    package var credentials: String?
    package var connections = 16

    package init(url: String) { self.url = url }
}
