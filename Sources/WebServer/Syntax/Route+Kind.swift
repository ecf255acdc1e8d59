extension Route {
    /// The kind of resource by which requests are counted.
    ///
    /// A path gives one of few kinds, whatever strangers ask for and whether it can be read.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        /// A playlist of one channel.
        case playlist
        /// A segment, an init section or a subtitle segment.
        case segment
        /// An endless transport stream.
        case stream
        /// A still, a sheet of stills, or their times.
        case still
        /// The list of channels, and its guide.
        case list
        /// A document for HDHomeRun clients.
        case tuner
        case status
        /// `/healthz` and `/readyz`.
        case health
        case metrics
        case events
        /// Other paths below `/api/`.
        case api
        case page
        case other

        private static let tunerFiles: Set<Substring> = [
            "discover.json", "lineup.json", "lineup_status.json", "lineup.xml", "lineup.m3u", "lineup.post",
            "device.xml",
        ]

        /// - Parameter uri: the request-target as received.
        init(uri: String) {
            let end = uri.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? uri.endIndex
            let path = uri[..<end]
            if path == "/api/events" {
                self = .events
            } else if path == "/api" || path.hasPrefix("/api/") {
                self = .api
            } else {
                let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
                let start = slash.map { path.utf8.index(after: $0) } ?? path.startIndex
                self = Self.resource(named: path[start...], in: path[..<start])
            }
        }

        /// - Parameter directory: the path up to its last slash.
        private static func resource(named name: Substring, in directory: Substring) -> Route.Kind {
            switch name {
            case "": directory == "/" ? .page : .other
            case "status.json", "breaks.json", "programs.json": .status
            case "healthz", "readyz": .health
            case "still.jpg", "stills.vtt": .still
            case _ where name.hasPrefix("stills-") && name.hasSuffix(".jpg"): .still
            case "metrics": .metrics
            case "playlist.m3u", "epg.xml", "epg.xml.gz", "library.zip": .list
            case _ where directory == "/" && XtreamRequest.documents.contains("/" + name): .list
            case "timeshift.php" where directory == "/" || directory == "/streaming/": .stream
            case _ where tunerFiles.contains(name): .tuner
            case _ where name.hasSuffix(".m3u8"): .playlist
            case _ where ["seg-", "init-", "sub-"].contains(where: name.hasPrefix): .segment
            // `video-` is the beginning of archive addresses too.
            case _ where ["audio-", "video-"].contains(where: name.hasPrefix) && name.hasSuffix(".m4s"): .segment
            case _ where name.hasSuffix(".ts"): .stream
            // The stream of a tuner: /auto/v7, /tuner0/v7.
            case _ where name.first == "v" && (directory == "/auto/" || directory.hasPrefix("/tuner")): .stream
            // One of Xtream Codes: /live/USER/PASSWORD/7, /USER/PASSWORD/7.
            case _
            where directory.utf8.count { $0 == UInt8(ascii: "/") } >= 3 && XtreamRequest.stream(named: name) != nil:
                .stream
            default: .other
            }
        }
    }
}
