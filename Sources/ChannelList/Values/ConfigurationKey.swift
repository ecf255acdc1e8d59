import Support

/// The keys of a channel, most of which are permitted in `defaults` too. The row of a key defines its form and help for
/// `channels.yaml`, the API with its document, and `--help`.
package enum ConfigurationKey: String, CaseIterable, CodingKey, Sendable {
    // Description.
    case name, group, logo, number
    case guideID = "tvg-id"
    case guideName = "tvg-name"
    case guideShift = "tvg-shift"
    case radio
    // Where it comes from.
    case url, backups, headers
    case userAgent = "user-agent"
    case cookie, proxy, insecure, account, variant, variants, program, hold, loop
    case multicastInterface = "multicast-interface"
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
    case audioTracks = "audio-tracks"
    case fillSilence = "fill-silence"
    case captionsToWebVTT = "captions-to-webvtt"
    case require, slate, ads, interstitials, window, dvr, rewind, archive
    case archiveSize = "archive-size"
    case archiveStore = "archive-store"
    case archiveRedirect = "archive-redirect"
    case stills, burst, spool, record
    // Recordings.
    case recordTo = "record-to"
    case split
    case recordSlate = "record-slate"
    case keep
    case keepSize = "keep-size"
    // Viewers.
    case token, tokens
    // When it runs.
    case always, idle

    /// The keys that describe the channel to people and guides.
    static let descriptions: Set<ConfigurationKey> = [
        .name, .group, .logo, .number, .guideID, .guideName, .guideShift, .radio,
    ]

    package enum Form: Equatable, Sendable {
        case flag, span, path, variant, headers
        /// A span of at most half a minute.
        case shortSpan
        /// A span in a range of hours.
        case hours(ClosedRange<Int>)
        case tokens(limit: Int)
        case count(ClosedRange<Int>)
        case bytes(atLeast: Int)
        case text(ConfigurationPattern)
        case choice([String])
        /// One text or several.
        case texts(ConfigurationPattern, limit: Int)
        case addresses(limit: Int)
        /// One or several URLs or maps with a URL.
        case sources(atLeast: Int, limit: Int)
        /// A span, or `when-watched`.
        case rewind
        /// The path of recordings, with fields.
        case recording
        /// `never`, `day` or a span.
        case split
        /// Bytes of a disk.
        case storage(atLeast: Int)
        /// The URL of a store, or a map with the URL and the options of its requests (`StoreOptions.Key`).
        case store
    }

    package struct Row: Sendable {
        package let form: Form
        fileprivate let scopes: [Scope]
        fileprivate let isPermitted: @Sendable (ConfigurationOrigin) -> Bool
        /// One or two sentences.
        package let help: String
    }

    /// From an hour to a year: clients list the programs of every day.
    package static let archiveHours = 1...366 * 24
    /// The smallest byte limit of an archive: twice a live window of 10 Mbit/s.
    package static let smallestArchive = 64 << 20

    private static let rows = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.newRow) })

    /// The maps in which the key is permitted, in words.
    var place: String {
        let scopes = row.scopes
        let channel = scopes.contains(.source) ? "a channel or one of its URLs" : "a channel"
        return scopes.contains(.defaults) ? "“defaults” or \(channel)" : channel
    }

    package var row: Row { Self.rows[self] ?? newRow }

    private var newRow: Row {
        func row(
            _ form: Form, in scopes: [Scope] = [.channel, .defaults],
            from isPermitted: @escaping @Sendable (ConfigurationOrigin) -> Bool = { _ in true }, _ help: String
        ) -> Row { Row(form: form, scopes: scopes, isPermitted: isPermitted, help: help) }
        let everywhere: [Scope] = [.channel, .defaults, .source]
        return switch self {
        case .name: row(.text(.text), in: [.channel], "What people call the channel. By default its name in paths.")
        case .group: row(.texts(.text, limit: 16), "The groups in which it is listed.")
        case .logo: row(.text(.logo), in: [.channel], "URL of a picture.")
        case .number: row(.text(.number), in: [.channel], "The channel number.")
        case .guideID: row(.text(.text), in: [.channel], "Its id in guides.")
        case .guideName: row(.text(.text), in: [.channel], "Its name in guides.")
        case .guideShift: row(.text(.shift), "Hours by which the times of guides are shifted.")
        case .radio: row(.flag, "Whether it is listed as radio.")
        case .url:
            row(
                .sources(atLeast: 1, limit: 16), in: [.channel, .source],
                "Its URL. Of several, the first is the primary, and the others are backups.")
        case .backups: row(.sources(atLeast: 0, limit: 16), in: [.channel], "URLs of backups, in failover order.")
        case .headers:
            row(.headers, in: everywhere, "Headers of the requests. Of two names that differ in case, one counts.")
        case .userAgent: row(.text(.headerValue), in: everywhere, "User-Agent of every request.")
        case .cookie:
            row(.text(.cookie), in: everywhere, "Cookie for the upstream's own host, as 'name=value; name=value'.")
        case .proxy: row(.text(.proxy), in: everywhere, "HTTP or SOCKS proxy.")
        case .insecure:
            row(
                .flag, in: [.channel, .source], from: { $0 != .fetched },
                "Whether certificates of its URLs are not verified. The log says so at each start.")
        case .account:
            row(
                .text(.account),
                "Account of the provider, whose connections all of its channels share; a channel takes one of them.")
        case .variant: row(.variant, "Variant of a master playlist: max, min, a height (720) or a bandwidth in bit/s.")
        case .variants:
            row(.text(.variants), "Variants that are republished: max for one, all, or heights such as 1080,720,480.")
        case .program:
            row(
                .count(1...65_535),
                "Program of a transport stream with several, by its program_number; by default the first with video.")
        case .hold: row(.shortSpan, "Hold the media of a transport stream back for so long, at most 30s: 3s.")
        case .loop: row(.flag, "Begin a media file again when it has ended, as a live channel.")
        case .multicastInterface:
            row(
                .text(.text), from: \.isOperator,
                "Interface at which multicast groups are joined: eth0; by default as the routes say.")
        case .maxConnections:
            row(
                .count(1...1000),
                "Concurrent requests to one host, for origins that limit connections; by default four segments and the playlists."
            )
        case .polite: row(.flag, "Reload playlists by the standard's schedule.")
        case .memoryLimit:
            row(
                .bytes(atLeast: MemoryBudget.smallestLimit),
                "Memory of a channel, at least \(MemoryBudget.smallestLimit >> 20)MiB.")
        case .maxSegment: row(.bytes(atLeast: 1), "Largest accepted segment: 64MiB, 1GiB.")
        case .maxPlaylist: row(.bytes(atLeast: 1), "Largest accepted playlist, decompressed.")
        case .denyPrivate: row(.flag, "Connect to public IP addresses only, for redirects too.")
        case .allowAddress:
            row(.addresses(limit: 64), from: \.isOperator, "IP address that --deny-private permits; repeatable.")
        case .giveUp: row(.span, "End when nothing of the upstream could be published for that long; 0 for never.")
        case .patience: row(.span, "Wait that long for a missing segment while later ones are ready.")
        case .audio: row(.choice(["copy", "bridge", "uniform", "drop"]), "copy, bridge, uniform or drop.")
        case .audioTracks:
            row(
                .text(.audioTracks),
                "Audio tracks beside the main one: all, default for none, or languages, of which the first is the main one: en,de."
            )
        case .fillSilence:
            row(.flag, "Insert encoded silence where an ad has no audio, and into audio gaps longer than a frame.")
        case .captionsToWebVTT:
            row(
                .flag,
                "Publish captions of CEA-608 and teletext subtitles as WebVTT too, for players that show no others.")
        case .require: row(.choice(["video", "any"]), "Media that the channel must have: video.")
        case .slate: row(.path, from: \.isOperator, "MP4 file to publish while no upstream delivers.")
        case .ads:
            row(
                .choice(["keep", "mark", "slate"]),
                "Ad breaks: keep, mark those that nobody signals, or the slate in their place.")
        case .interstitials:
            row(.choice(["keep", "drop"]), "HLS interstitials of the upstream: keep them, or drop them.")
        case .window: row(.span, "Length of live.m3u8, which has at least six segments.")
        case .dvr: row(.span, "Rewind to keep: 90, 15m, 2h.")
        case .rewind:
            row(.rewind, "Length of a rewind that is always there, so that the channel always runs; or when-watched.")
        case .archive:
            row(
                .hours(Self.archiveHours),
                "How far back ranges reach: 7d. dvr.m3u8 still lists the rewind, and the channel always runs."
            )
        case .archiveSize:
            row(
                .storage(atLeast: Self.smallestArchive),
                "Bytes of its segments that are kept on the disk, at least \(Self.smallestArchive >> 20)MiB: 500GiB.")
        case .archiveStore:
            row(
                .store, from: \.isOperator,
                "S3 store that has the archive: s3://bucket/prefix?endpoint=https://host:port&region=…&style=path.")
        case .archiveRedirect:
            row(
                .flag, from: \.isOperator,
                "Redirect players to the store for segments that are there, by URLs that it accepts for 15 minutes.")
        case .stills: row(.flag, "Make stills of the channel when somebody asks for them: still.jpg, stills.vtt.")
        case .burst:
            row(
                .span,
                "Media that is written at once at the beginning, to clients of /live.ts too. ffmpeg probes five seconds."
            )
        case .spool:
            row(.path, from: \.isOperator, "Directory for the rewind. A restarted channel resumes where it stopped.")
        case .record:
            row(
                .path, from: \.isOperator,
                "Directory for a capture of every upstream answer, as long as the channel runs.")
        case .recordTo:
            row(
                .recording, from: \.isOperator,
                "Path of its recordings, .ts, .mp4 or .mkv: DIR/{channel}/{start:%Y-%m-%d_%H-%M}.mkv.")
        case .split:
            row(.split, from: \.isOperator, "When a recording goes on in another file: 1h, day, programme or never.")
        case .recordSlate:
            row(.flag, from: \.isOperator, "Whether recordings have the slate of outages. By default they do.")
        case .keep: row(.span, from: \.isOperator, "How long recordings are kept: 14d.")
        case .keepSize:
            row(
                .storage(atLeast: 1), from: \.isOperator,
                "Bytes of recordings that are kept in their directory: 500GiB.")
        case .token, .tokens:
            row(
                .tokens(limit: 1000), from: { $0 != .request },
                "Token that viewers need: 16 or more visible ASCII characters; repeatable.")
        case .always: row(.flag, "Whether the channel runs without viewers.")
        case .idle: row(.span, "How long a channel runs after its last viewer has left.")
        }
    }

    package enum Scope: Sendable {
        case channel, defaults
        /// An element of a channel's list of URLs.
        case source

        private static let keys = Dictionary(
            uniqueKeysWithValues: [Scope.channel, .defaults, .source].map { scope in
                (scope, ConfigurationKey.allCases.filter { $0.row.scopes.contains(scope) })
            })

        package var keys: [ConfigurationKey] { Self.keys[self] ?? [] }
    }

    /// Whether the key is permitted in a configuration of this origin. A key that names a file of the server, or
    /// permits addresses that the server protects, is for the operator alone. Tokens are secrets that no document
    /// shows.
    package func isPermitted(in origin: ConfigurationOrigin) -> Bool { row.isPermitted(origin) }
}

/// The origin of a configuration.
package enum ConfigurationOrigin: Equatable, Sendable {
    /// A file of the operator.
    /// - Parameters:
    ///   - directory: the directory for relative paths; empty: the current directory.
    ///   - environment: the variables for `${NAME}`.
    case file(directory: String = "", environment: [String: String] = [:])
    /// A URL. The text may refer only to other URLs, and gets no environment variables.
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
