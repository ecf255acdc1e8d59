import ChannelList
import HTTPSyntax
import LiveRing

/// What a path names in a process of many channels.
enum ServeRequest: Equatable, Sendable {
    /// What a request for a path below a channel means for the channel.
    enum Use: Equatable, Sendable {
        /// Needs the channel running, and starts it.
        case watch(isStream: Bool)
        /// A sign of its viewer.
        case presence
        /// Of no consequence.
        case none
    }

    case page
    /// A file of the page, below `/web/`.
    case pageFile
    /// The page of a channel without the slash at its end.
    case folder(String)
    /// The list of all channels, or of one group.
    case channelList(StreamFormat, group: String?)
    case status
    /// A path of the API, whatever it is.
    case api
    case health
    case readiness
    /// A path below a channel, which begins with a slash.
    case channel(String, path: String, Use)
    /// What clients ask a tuner for.
    case tuner(TunerRequest)
    /// The XMLTV guide: `/epg.xml`, or `/epg.xml.gz` as a gzip file.
    case guide(isGzipFile: Bool)
    case notFound

    init(_ target: RequestTarget) {
        if let request = TunerRequest(path: target.path) {
            self = .tuner(request)
            return
        }
        switch target.path {
        case "/": self = .page
        case "/playlist.m3u":
            let format = target.query.first { $0.name == "format" }?.value
            let group = target.query.first { $0.name == "group" }?.value
            self = .channelList(format.flatMap(StreamFormat.init) ?? .hls, group: group)
        case "/epg.xml", "/epg.xml.gz": self = .guide(isGzipFile: target.path.hasSuffix(".gz"))
        case "/status.json": self = .status
        case _ where target.path.hasPrefix(PageFile.folder): self = .pageFile
        case "/healthz": self = .health
        case "/readyz": self = .readiness
        case let path where path == "/api" || path.hasPrefix("/api/"): self = .api
        case let path: self = Self.channel(path.dropFirst())
        }
    }

    private static func channel(_ path: Substring) -> ServeRequest {
        guard let slash = path.firstIndex(of: "/") else {
            if path.hasSuffix(".ts") {
                return .channel(String(path.dropLast(3)), path: "/live.ts", .watch(isStream: true))
            }
            return .folder(String(path))
        }
        let (name, rest) = (path[..<slash], String(path[slash...]))
        return name.isEmpty ? .notFound : .channel(String(name), path: rest, Use(of: rest))
    }
}

extension ServeRequest.Use {
    init(of path: String) {
        switch ResourceRequest(path: path) {
        case .livePlaylist, .masterPlaylist, .subtitlePlaylist, .dvrPlaylist, .dvrMasterPlaylist, .dvrSubtitlePlaylist:
            self = .watch(isStream: false)
        case .transportStream(.segment), .initSection, .segment, .subtitles: self = .presence
        case .transportStream: self = .watch(isStream: false)
        case .endlessStream: self = .watch(isStream: true)
        case .page, .clip, .status, .metrics, .health, .readiness, .notFound: self = .none
        }
    }
}
