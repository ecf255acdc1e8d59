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
    case stills, check, burst, spool, capture
    // Recordings.
    case recordTo = "record-to"
    case split
    case timeZone = "time-zone"
    case recordSlate = "record-slate"
    case recordAds = "record-ads"
    case keep
    case keepSize = "keep-size"
    // Viewers.
    case token, tokens
    // When it runs.
    case always, idle

    /// The former names of keys, which are accepted until the next release.
    package static let formerNames = ["record": ConfigurationKey.capture]

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
        /// The name of a time zone.
        case zone
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
        /// nil: the command line has no option for the key.
        package let section: Section?
        /// The default value, for `--help`; nil: the help says it, or there is none.
        package let standard: String?
        /// Further sentences for `--help`.
        package let discussion: String
    }

    /// A section of the command line's options.
    package enum Section: Sendable {
        case upstream, audio, output, recordings
        /// When channels run, which a list decides.
        case running

        private static let keys = Dictionary(grouping: ConfigurationKey.allCases.filter { $0.row.section != nil }) {
            $0.row.section
        }

        package var keys: [ConfigurationKey] { Self.keys[self] ?? [] }
    }

    package static let usualRewind = Duration.seconds(7200)
    /// The rewind of channels of a list.
    package static let listRewind = Duration.seconds(1800)
    package static let usualGiveUp = Duration.seconds(60)
    package static let usualWindow = Duration.seconds(30)

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
            from isPermitted: @escaping @Sendable (ConfigurationOrigin) -> Bool = { _ in true }, _ help: String,
            option section: Section? = nil, default standard: String? = nil, _ discussion: String = ""
        ) -> Row {
            Row(
                form: form, scopes: scopes, isPermitted: isPermitted, help: help, section: section, standard: standard,
                discussion: discussion)
        }
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
        case .variant:
            row(
                .variant, "Variant of a master playlist: max, min, a height (720) or a bandwidth in bit/s.",
                option: .upstream, default: "max")
        case .variants:
            row(
                .text(.variants), "Variants that are republished: max for one, all, or heights such as 1080,720,480.",
                option: .upstream, default: "max",
                """
                The one of --variant leads: of those that are named, the best by default. /live.ts, recordings and clips are \
                of that one. The others are in /master.m3u8, at most eight.
                """)
        case .program:
            row(
                .count(1...65_535),
                "Program of a transport stream with several, by its program_number; by default the first with video.",
                option: .upstream)
        case .hold:
            row(
                .shortSpan, "Hold the media of a transport stream back for so long, at most 30s: 3s.",
                option: .upstream, default: "0s",
                """
                Viewers do not notice a reconnection that is shorter, and the channel starts that much later. Without it, \
                viewers that joined in the last seconds may notice one.
                """)
        case .loop:
            row(
                .flag, "Begin a media file again when it has ended, as a live channel.", option: .upstream,
                "Otherwise a file is republished once, as a recording that has ended.")
        case .multicastInterface:
            row(
                .text(.text), from: \.isOperator,
                "Interface at which multicast groups are joined: eth0; by default as the routes say.", option: .upstream
            )
        case .maxConnections:
            row(
                .count(1...1000),
                "Concurrent requests to one host, for origins that limit connections; by default four segments and the playlists.",
                option: .upstream)
        case .polite:
            row(
                .flag, "Reload playlists by the standard's schedule.", option: .upstream,
                """
                Otherwise liverelay learns when the upstream lists new segments and loads just after, with up to 15 % more \
                requests, and uses blocking reloads where they are offered.
                """)
        case .memoryLimit:
            row(
                .bytes(atLeast: MemoryBudget.smallestLimit),
                "Memory of a channel, at least \(MemoryBudget.smallestLimit >> 20)MiB.", option: .upstream,
                default: "256MiB, or what the two options below need",
                """
                It bounds segments, playlists, subtitles and everything else that is held of the upstream. What does not \
                fit is dropped: a segment becomes a gap. docs/limits.md has the shares.
                """)
        case .maxSegment:
            row(
                .bytes(atLeast: 1), "Largest accepted segment: 64MiB, 1GiB.", option: .upstream,
                default: "32MiB, or more with more memory")
        case .maxPlaylist:
            row(
                .bytes(atLeast: 1), "Largest accepted playlist, decompressed.", option: .upstream,
                default: "16MiB, or more with more memory")
        case .denyPrivate:
            row(
                .flag, "Connect to public IP addresses only, for redirects too.", option: .upstream,
                """
                For a service whose users choose the upstreams: loopback, private, link-local, multicast and other \
                special addresses are refused after the name is resolved. No proxy is used.
                """)
        case .allowAddress:
            row(
                .addresses(limit: 64), from: \.isOperator, "IP address that --deny-private permits; repeatable.",
                option: .upstream)
        case .giveUp:
            row(
                .span, "End when nothing of the upstream could be published for that long; 0 for never.",
                option: .upstream, default: "60s; never in demo, and for channels of a list that always run")
        case .patience:
            row(
                .span, "Wait that long for a missing segment while later ones are ready.", option: .upstream,
                """
                The published edge falls behind by no more for one segment. The default is three target durations, \
                at least 5 s, and twice what a Retry-After asks for, or what the upstream's playlist lists, if that is \
                less. It ends when the first gap would be listed. While nothing else could be published, a missing segment is \
                waited for as long as it can be had.
                """)
        case .audio:
            row(
                .choice(["copy", "bridge", "uniform", "drop"]), "copy, bridge, uniform or drop.", option: .audio,
                default: "copy",
                """
                copy: audio that players accept in fragmented MP4 and in transport streams is copied, other audio is \
                transcoded to AAC, and so is another codec in a channel of AAC. bridge: all audio is transcoded to AAC. \
                uniform: audio that differs from the channel's first audio is transcoded to its format, for players that \
                read one init section only. drop: no audio.
                """)
        case .audioTracks:
            row(
                .text(.audioTracks),
                "Audio tracks beside the main one: all, default for none, or languages, of which the first is the main one: en,de.",
                option: .audio, default: "all")
        case .fillSilence:
            row(
                .flag, "Insert encoded silence where an ad has no audio, and into audio gaps longer than a frame.",
                option: .audio, default: "true")
        case .captionsToWebVTT:
            row(
                .flag,
                "Publish captions of CEA-608 and teletext subtitles as WebVTT too, for players that show no others.",
                option: .output)
        case .require:
            row(
                .choice(["video", "any"]), "Media that the channel must have: video.", option: .output, default: "any",
                "Segments that would be published as audio alone count as unusable (status 15).")
        case .slate:
            row(
                .path, from: \.isOperator, "MP4 file to publish while no upstream delivers.", option: .output,
                """
                The slate starts after nearly three target durations of silence, at least 5 s, and repeats until the \
                upstream is back. A replaced or overwritten file takes effect with the next segment; while it is \
                incomplete, gaps are listed. Without a slate such time is listed as gaps (EXT-X-GAP).
                """)
        case .ads:
            row(
                .choice(["keep", "mark", "slate"]),
                "Ad breaks: keep, mark those that nobody signals, or the slate in their place.", option: .output,
                default: "keep",
                "Viewers choose by ?ads=. Recordings and --output have the same.")
        case .interstitials:
            row(
                .choice(["keep", "drop"]), "HLS interstitials of the upstream: keep them, or drop them.",
                option: .output, default: "keep",
                """
                Players that know them load their ads from the upstream's hosts and present them in place of the channel.
                """)
        case .window:
            row(.span, "Length of live.m3u8, which has at least six segments.", option: .output, default: "30s")
        case .dvr:
            row(
                .span, "Rewind to keep: 90, 15m, 2h.", option: .output,
                default: "2h, and one minute if nothing but --output reads it; 30m in serve")
        case .rewind:
            row(
                .rewind, "Length of a rewind that is always there, so that the channel always runs; or when-watched.",
                option: .running)
        case .archive:
            row(
                .hours(Self.archiveHours),
                "How far back ranges reach: 7d. dvr.m3u8 still lists the rewind, and the channel always runs.",
                option: .output)
        case .archiveSize:
            row(
                .storage(atLeast: Self.smallestArchive),
                "Bytes of its segments that are kept on the disk, at least \(Self.smallestArchive >> 20)MiB: 500GiB.",
                option: .output)
        case .archiveStore:
            row(
                .store, from: \.isOperator,
                "S3 store that has the archive: s3://bucket/prefix?endpoint=https://host:port&region=…&style=path.",
                option: .output,
                """
                --archive says how long the store keeps it; the disk keeps --dvr. The key is that of AWS_ACCESS_KEY_ID and \
                AWS_SECRET_ACCESS_KEY, or of the file that AWS_SHARED_CREDENTIALS_FILE names.
                """)
        case .archiveRedirect:
            row(
                .flag, from: \.isOperator,
                "Redirect players to the store for segments that are there, by URLs that it accepts for 15 minutes.",
                option: .output)
        case .stills:
            row(
                .flag, "Make stills of the channel when somebody asks for them: still.jpg, stills.vtt.",
                option: .output, default: "true")
        case .check:
            row(
                .flag, "Check the channel's own output while it runs.", option: .output,
                """
                Each version of live.m3u8 and the boxes of each segment are judged by the rules of docs/rules.md, without a \
                request. Findings are in status.json, the events and the metrics.
                """)
        case .burst:
            row(
                .span,
                "Media that is written at once at the beginning, to clients of /live.ts too. ffmpeg probes five seconds.",
                option: .output, default: "6s")
        case .spool:
            row(
                .path, from: \.isOperator, "Directory for the rewind. A restarted channel resumes where it stopped.",
                option: .output,
                """
                By default a temporary directory, which is removed at the end. In serve, DIRECTORY/<channel> has the rewind of a \
                channel that always runs; all others have temporary directories in it.
                """)
        case .capture:
            row(
                .path, from: \.isOperator,
                "Directory for a capture of every upstream answer, as long as the channel runs.", option: .output,
                """
                The directory must be empty or not existing yet; see liverelay help capture. In serve, each run of a channel has \
                a directory of its own below it.
                """)
        case .recordTo:
            row(
                .recording, from: \.isOperator,
                "Path of its recordings, .ts, .mp4 or .mkv: DIR/{channel}/{start:%Y-%m-%d_%H-%M}.mkv.",
                option: .recordings)
        case .split:
            row(
                .split, from: \.isOperator, "When a recording goes on in another file: 1h, day, programme or never.",
                option: .recordings, default: "never")
        case .recordSlate:
            row(
                .flag, from: \.isOperator, "Whether recordings have the slate of outages. By default they do.",
                option: .recordings)
        case .timeZone:
            row(
                .zone, from: \.isOperator,
                "Zone of the dates in paths of recordings and of --split: Europe/Berlin; local for this machine's.",
                option: .recordings, default: "UTC")
        case .recordAds:
            row(
                .choice(RecordingAds.allCases.map(\.rawValue)), from: \.isOperator,
                "Ad breaks in recordings: keep, cut, or both for two files.", option: .recordings, default: "keep",
                """
                They are cut when the recording is closed, as .mp4 or .mkv, at the frame. A .ts keeps them. With both, \
                the file without them is NAME.cut.mp4.
                """)
        case .keep: row(.span, from: \.isOperator, "How long recordings are kept: 14d.", option: .recordings)
        case .keepSize:
            row(
                .storage(atLeast: 1), from: \.isOperator,
                "Bytes of recordings that are kept in their directory: 500GiB.", option: .recordings)
        case .token, .tokens:
            row(
                .tokens(limit: 1000), from: { $0 != .request },
                "Token that viewers need: 16 or more visible ASCII characters; repeatable.")
        case .always: row(.flag, "Whether the channel runs without viewers.", option: .running)
        case .idle:
            row(.span, "How long a channel runs after its last viewer has left.", option: .running, default: "30s")
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
    /// The command line, which is the operator's. Nothing is expanded, and paths are taken as they are.
    case commandLine
    /// A request to the API, where values keep their types and no variables are expanded.
    case request

    var isOperator: Bool {
        switch self {
        case .file, .commandLine: true
        case .fetched, .request: false
        }
    }

    /// nil: nothing is expanded.
    var environment: [String: String]? {
        switch self {
        case .file(_, let environment): environment
        case .fetched: [:]
        case .commandLine, .request: nil
        }
    }
}
