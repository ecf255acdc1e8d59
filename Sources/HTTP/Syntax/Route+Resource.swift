package import LiveRing
package import Support

extension Route {
    /// The resource that a path below a channel's URL names.
    package enum Resource: Equatable, Sendable {
        case page
        /// A file of the page, by its path below `/web/`, whether it exists or not.
        case pageFile(String)
        case playlist(Playlist)
        case initSection(String)
        case segment(String)
        /// Audio of a track beside the leading one.
        case trackFile(String)
        /// One track of a segment or of an init section, by the name of the whole file.
        case extract(SpoolName.Track, of: String)
        case subtitles(String)
        /// A segment in MPEG-TS, by its name with the suffix `.ts`.
        case transportSegment(String)
        case endlessStream(EndlessStream)
        /// A published range as an MP4 file for download. A precise clip begins at a frame, any other clip at a random
        /// access point.
        case clip(RewindRange, isPrecise: Bool)
        /// A published range as a transport stream for download.
        case transportClip(RewindRange)
        case breaks(RewindRange)
        case programs(RewindRange)
        case still(Still)
        /// Many stills on a sheet, by the name of its file.
        case stillSheet(String)
        /// The sheets of a range, as WebVTT.
        case stillTrack(RewindRange)
        case status
        /// Whether the process is alive.
        case health
        /// Whether the ring is filled and its edge is fresh.
        case readiness
        /// A value of the query cannot be used.
        case badQuery(RewindRange.BadQuery)
        case notFound
    }

    /// A playlist of a channel, apart from the version of the ring.
    package enum Playlist: Hashable, Sendable {
        case live(PlaylistContent)
        case rewind(PlaylistContent, RewindRange)
        /// A part of the rewind from one date to another, as segments.
        case selection(PlaylistContent, RewindSelection)
        /// The master playlist: of a range, or if nil of the live playlists. `content` is never subtitles.
        case master(PlaylistContent, RewindRange?)
    }

    package struct Still: Equatable, Sendable {
        /// Pixels of a row.
        static let widths = 16...1280
        static let standardWidth = 320

        /// nil: the live edge.
        package let date: ProgramDateTime?
        package let width: Int

        package init(date: ProgramDateTime?, width: Int = Still.standardWidth) {
            (self.date, self.width) = (date, width)
        }

        fileprivate init(query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) {
            date = try query.value(of: "at").map { text throws(RewindRange.BadQuery) in
                try RewindRange.date(text, "at")
            }
            let text = query.value(of: "width")
            guard let width = text.map({ Int($0) }) ?? Self.standardWidth, Self.widths.contains(width) else {
                throw .value(name: "width", value: text ?? "")
            }
            self.width = width
        }
    }

    /// A transport stream in one response.
    package struct EndlessStream: Equatable, Sendable {
        package enum Speed: Equatable, Sendable {
            /// The pace that suits the range.
            case automatic
            /// Percent of real time.
            case percent(Int64)
            /// As fast as the client reads.
            case maximum
        }

        /// `.whole`: from the live edge on.
        package let range: RewindRange
        package let speed: Speed

        package init(range: RewindRange, speed: Speed) { (self.range, self.speed) = (range, speed) }

        /// The stream from the live edge on.
        package static let live = EndlessStream(range: .whole, speed: .automatic)

        /// The end of the range; nil: no end.
        package var end: ProgramDateTime? { if case .between(_, let end) = range { end } else { nil } }
    }
}

extension Route.Resource {
    /// - Parameters:
    ///   - path: the percent-decoded path below the channel, with or without its leading slash.
    ///   - query: the decoded names and values, in order.
    init(path: String, query: [RequestTarget.QueryItem] = []) {
        let name = path.hasPrefix("/") ? path.dropFirst() : path[...]
        let folder = "ts/"
        if let archive = Self.archive(name, .fragmentedMP4, query) {
            self = archive
            return
        }
        switch name {
        case "": self = .page
        case "live.ts": self = Self.endlessStream(query)
        case "clip.mp4": self = Self.ranged(query) { .clip($0, isPrecise: query.value(of: "precise") == "1") }
        case "clip.ts": self = Self.ranged(query) { .transportClip($0) }
        case "breaks.json": self = Self.ranged(query) { .breaks($0) }
        case "still.jpg": self = Self.still(query)
        case "stills.vtt": self = Self.ranged(query) { .stillTrack($0) }
        case _ where name.hasPrefix("stills-") && name.hasSuffix(".jpg"): self = .stillSheet(String(name))
        case "programs.json": self = Self.ranged(query) { .programs($0) }
        case "status.json": self = .status
        case "healthz": self = .health
        case "readyz": self = .readiness
        case _ where name.hasPrefix("web/"): self = .pageFile("/" + name)
        case _ where name.hasPrefix(folder): self = Self.transportStream(name.dropFirst(folder.count), query)
        case _ where SpoolName.isInitialization(name): self = .initSection(String(name))
        case _ where SpoolName.mediaSequence(ofSegment: name) != nil: self = .segment(String(name))
        case _ where SpoolName.subtitles(named: name) != nil: self = .subtitles(String(name))
        case _ where SpoolName.trackFile(named: name) != nil: self = .trackFile(String(name))
        default:
            self =
                Self.playlist(name, .fragmentedMP4, query) ?? Self.renditionPlaylist(name, query) ?? Self.extract(name)
                ?? .notFound
        }
    }

    /// The resource of a catch-up client's URL; nil for another name.
    private static func archive(
        _ name: Substring, _ content: PlaylistContent, _ query: [RequestTarget.QueryItem]
    ) -> Route.Resource? {
        do throws(RewindRange.BadQuery) {
            guard let address = try ArchiveAddress(name: name, query: query) else { return nil }
            return Route.Resource(address, of: content)
        } catch { return .badQuery(error) }
    }

    /// - Parameter content: the content of the playlists.
    package init(_ address: ArchiveAddress, of content: PlaylistContent = .fragmentedMP4) {
        switch address.form {
        case .playlist: self = .playlist(.rewind(content, address.range))
        case .master: self = .playlist(.master(content, address.range))
        case .transportStream where content == .transportStream: self = .notFound
        case .transportStream: self = .endlessStream(.init(range: address.range, speed: .automatic))
        }
    }

    private static func transportStream(_ name: Substring, _ query: [RequestTarget.QueryItem]) -> Route.Resource {
        if SpoolName.segment(ofTransportStream: name) != nil { return .transportSegment(String(name)) }
        if let archive = archive(name, .transportStream, query) { return archive }
        return playlist(name, .transportStream, query) ?? .notFound
    }

    private static func playlist(
        _ name: Substring, _ content: PlaylistContent, _ query: [RequestTarget.QueryItem]
    ) -> Route.Resource? {
        switch name {
        case "live.m3u8": .playlist(.live(content))
        case "master.m3u8": .playlist(.master(content, nil))
        case "dvr.m3u8": ranged(query) { .playlist(.rewind(content, $0)) }
        case "dvr-master.m3u8": ranged(query) { .playlist(.master(content, $0)) }
        default: nil
        }
    }

    private static func renditionPlaylist(_ name: Substring, _ query: [RequestTarget.QueryItem]) -> Route.Resource? {
        if let content = content(ofRendition: name) { return .playlist(.live(content)) }
        guard name.hasPrefix("dvr-"), let content = content(ofRendition: name.dropFirst(4)) else { return nil }
        return ranged(query) { .playlist(.rewind(content, $0)) }
    }

    private static func content(ofRendition name: Substring) -> PlaylistContent? {
        if name == SpoolName.iFramePlaylist { return .iFrames }
        if let content = SpoolName.content(ofTrackPlaylist: name) { return content }
        return SpoolName.rendition(ofSubtitleJournal: name).map { .subtitles($0) }
    }

    private static func extract(_ name: Substring) -> Route.Resource? {
        SpoolName.extract(named: name).map { .extract($0.track, of: $0.file) }
    }

    private static func endlessStream(_ query: [RequestTarget.QueryItem]) -> Route.Resource {
        ranged(query) { range in
            guard let text = query.value(of: "speed") else {
                return .endlessStream(.init(range: range, speed: .automatic))
            }
            if text == "max" { return .endlessStream(.init(range: range, speed: .maximum)) }
            guard let speed = Double(text), (0.1...100).contains(speed) else {
                return .badQuery(.value(name: "speed", value: text))
            }
            return .endlessStream(.init(range: range, speed: .percent(Int64(speed * 100))))
        }
    }

    private static func still(_ query: [RequestTarget.QueryItem]) -> Route.Resource {
        do throws(RewindRange.BadQuery) { return .still(try Route.Still(query: query)) } catch {
            return .badQuery(error)
        }
    }

    private static func ranged(
        _ query: [RequestTarget.QueryItem], _ resource: (RewindRange) -> Route.Resource
    ) -> Route.Resource {
        do throws(RewindRange.BadQuery) {
            return resource(try RewindRange(query: query.map { (name: $0.name, value: $0.value) }))
        } catch { return .badQuery(error) }
    }
}
