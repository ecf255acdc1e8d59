/// The keys of a channel, most of which `defaults` has too.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    // Description.
    case name, group, logo, number
    case guideID = "tvg-id"
    case guideName = "tvg-name"
    case guideShift = "tvg-shift"
    case radio
    // Where it comes from.
    case url, backups, headers
    case userAgent = "user-agent"
    case cookie, proxy, variant
    case maxConnections = "max-connections"
    case polite
    case memoryLimit = "memory-limit"
    case maxSegment = "max-segment"
    case maxPlaylist = "max-playlist"
    case denyPrivate = "deny-private"
    case allowAddress = "allow-address"
    case giveUp = "give-up"
    case patience
    // Output.
    case audio
    case fillSilence = "fill-silence"
    case require, slate, window, dvr, rewind, burst, spool, record
    // Viewers.
    case token, tokens
    // When it runs.
    case always, idle

    /// Where keys stand.
    enum Scope {
        case channel, defaults
        /// One of several URLs of a channel.
        case source

        var keys: [ConfigurationKey] {
            switch self {
            case .channel: ConfigurationKey.allCases
            case .defaults:
                ConfigurationKey.allCases.filter {
                    ![.name, .logo, .number, .guideID, .guideName, .url, .backups].contains($0)
                }
            case .source: [.url, .headers, .userAgent, .cookie, .proxy]
            }
        }
    }

    /// Whether the key may be given where the configuration comes from. A key that names a file of the server, or permits
    /// an address that the server protects, is for its operator alone. A token is a secret that no document shows.
    package func isPermitted(in origin: ConfigurationOrigin) -> Bool {
        switch self {
        case .slate, .spool, .record, .allowAddress: origin.isOperator
        case .token, .tokens: origin != .request
        default: true
        }
    }
}

/// Where a configuration comes from.
package enum ConfigurationOrigin: Equatable, Sendable {
    /// A file of the operator.
    /// - Parameters:
    ///   - directory: what relative paths are resolved against; empty: the current directory.
    ///   - environment: what `${NAME}` stands for.
    case file(directory: String = "", environment: [String: String] = [:])
    /// A URL: the text names nothing but other URLs, and does not learn the environment.
    case fetched
    /// A request to the API, where values keep their types and no variables are expanded.
    case request

    var isOperator: Bool { if case .file = self { true } else { false } }

    /// nil: nothing is expanded.
    var environment: [String: String]? {
        switch self {
        case .file(_, let environment): environment
        case .fetched: [:]
        case .request: nil
        }
    }
}
