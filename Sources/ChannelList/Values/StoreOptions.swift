package import Support

/// A store and the options of its requests. Options of the channel's upstream do not apply to them.
package struct StoreOptions: Hashable, Sendable {
    /// The keys of `archive-store` as a map.
    enum Key: String, CaseIterable {
        case url, proxy, certificates, credentials, connections
    }

    /// The most objects that are read at once.
    static let mostConnections = 64
    static let connectionRange = 1...mostConnections

    /// `s3://bucket/prefix?…`
    package var url: String
    /// URL of an HTTP or SOCKS proxy; nil: as in the environment.
    package var proxy: Secret?
    /// Path of a PEM file with the trusted certificate authorities; nil: the authorities of the system.
    package var certificates: String?
    /// Path of a credentials file, whose section `default` is used; nil: the key of the environment.
    package var credentials: String?
    package var connections = 16

    package init(url: String) { self.url = url }
}
