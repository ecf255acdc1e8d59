/// The keys of a channel, most of which `defaults` has too.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    // What it is called.
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
    // What is published.
    case audio
    case fillSilence = "fill-silence"
    case require, slate, window, dvr, rewind, burst, spool, record
    // Who watches it.
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

    /// Whether requests may not give it: it names a file of the server or an address that the server protects, or is
    /// a secret that no document shows.
    package var isOnlyInFile: Bool { [.slate, .spool, .record, .allowAddress, .token, .tokens].contains(self) }
}
