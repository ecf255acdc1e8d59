/// The resource that a request asks for, decided once from its path and query.
package enum Route: Equatable, Sendable {
    /// Which paths a server has.
    package enum Paths: Equatable, Sendable {
        /// Paths of one channel, at the root.
        case channel
        /// Paths of a list, and of each channel below its name.
        case list
    }

    /// A path of the API, as its document writes it. A field in braces stands for the rest of the path.
    package enum API: String, CaseIterable, Sendable {
        case channels = "/api/channels"
        case channel = "/api/channels/{name}"
        case recordings = "/api/recordings"
        case recording = "/api/recordings/{id}"
        case viewers = "/api/viewers"
        case viewer = "/api/viewers/{id}"
        case status = "/api/status"
        case reload = "/api/reload"
        case events = "/api/events"
        case document = "/api/openapi.json"

        /// The name of the field; nil: the path has none.
        package var field: String? { rawValue.split(separator: "{").dropFirst().first.map { String($0.dropLast()) } }
    }

    /// A document of the HDHomeRun API, by its path.
    package enum Tuner: String, Equatable, Sendable {
        case discovery = "/discover.json"
        case description = "/device.xml"
        case lineup = "/lineup.json"
        case lineupList = "/lineup.m3u"
        case lineupStatus = "/lineup_status.json"
        /// Requests a scan for channels.
        case scan = "/lineup.post"
    }

    case page
    /// A file of the page of a list, by its path below `/web/`, whether it exists or not.
    case pageFile(String)
    /// The list of all channels, or of one group; `format` as given in the query.
    case channelList(format: String?, group: String?)
    /// The XMLTV guide: `/epg.xml`, or `/epg.xml.gz` as a gzip file.
    case guide(isGzipFile: Bool)
    /// The past programs of the guide as files for media libraries: `/library.zip`.
    case library
    case status, metrics, health, readiness
    /// A path of the API, and what stands for its field; `path` is nil for a path that the API does not have.
    case api(_ path: API?, field: String)
    case tuner(Tuner)
    /// A stream by the channel's number: `/auto/v7` and `/tuner0/v7`. `tuner` is nil for any tuner.
    case tunerStream(number: String, tuner: Int?)
    case xtream(XtreamRequest)
    /// The page of a channel, requested without the slash at its end.
    case folder(String)
    /// A path below a channel. `name` is nil in a process of one channel.
    case channel(_ name: String?, Resource)
    case notFound

    package init(_ target: RequestTarget, in paths: Paths) {
        switch (paths, target.path) {
        case (_, "/metrics"): self = .metrics
        case (.channel, let path): self = .channel(nil, Resource(path: path, query: target.query))
        case (.list, "/"): self = .page
        case (.list, "/playlist.m3u"):
            self = .channelList(format: target.query.value(of: "format"), group: target.query.value(of: "group"))
        case (.list, "/epg.xml"): self = .guide(isGzipFile: false)
        case (.list, "/epg.xml.gz"): self = .guide(isGzipFile: true)
        case (.list, "/library.zip"): self = .library
        case (.list, "/status.json"): self = .status
        case (.list, "/healthz"): self = .health
        case (.list, "/readyz"): self = .readiness
        case (.list, let path) where path.hasPrefix("/web/"): self = .pageFile(path)
        case (.list, let path) where path == "/api" || path.hasPrefix("/api/"): self = Self.api(path)
        case (.list, let path):
            self =
                Tuner(rawValue: path).map(Route.tuner) ?? Self.tunerStream(path)
                ?? XtreamRequest(target).map(Route.xtream) ?? Self.channel(path.dropFirst(), query: target.query)
        }
    }

    private static func channel(_ path: Substring, query: [RequestTarget.QueryItem]) -> Route {
        guard let slash = path.firstIndex(of: "/") else {
            guard path.hasSuffix(".ts") else { return .folder(String(path)) }
            return .channel(String(path.dropLast(3)), Resource(path: "/live.ts", query: query))
        }
        let (name, rest) = (path[..<slash], String(path[slash...]))
        return name.isEmpty ? .notFound : .channel(String(name), Resource(path: rest, query: query))
    }

    private static func api(_ path: String) -> Route {
        for known in API.allCases {
            let start = known.rawValue.prefix { $0 != "{" }
            if known.field == nil ? path == start : path.hasPrefix(start) {
                return .api(known, field: String(path.dropFirst(start.count)))
            }
        }
        return .api(nil, field: "")
    }

    private static func tunerStream(_ path: String) -> Route? {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        // A channel of a list may be called tuner1 too, but no path below a channel begins with v.
        guard parts.count == 2, parts[1].first == "v" else { return nil }
        let number = String(parts[1].dropFirst())
        if parts[0] == "auto" { return .tunerStream(number: number, tuner: nil) }
        guard parts[0].hasPrefix("tuner"), let tuner = UInt8(parts[0].dropFirst(5)) else { return nil }
        return .tunerStream(number: number, tuner: Int(tuner))
    }
}

extension [RequestTarget.QueryItem] {
    /// The value of the first item with that name.
    package func value(of name: String) -> String? { first { $0.name == name }?.value }
}
