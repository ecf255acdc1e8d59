/// What a path below a channel's address asks for.
package enum ResourceRequest: Equatable, Sendable {
    package enum Refusal: Error, Equatable, Sendable {
        /// No such path here.
        case unknownPath
        /// A query value that cannot be read.
        case badQuery(name: String, value: String)
        /// `end` is not after `start`.
        case emptyRange
    }

    case page
    case livePlaylist
    case masterPlaylist
    case dvrPlaylist(RewindRange)
    /// A master playlist for the range: it has the subtitles, which a media playlist cannot name.
    case dvrMasterPlaylist(RewindRange)
    /// The list of a subtitle rendition's live window, by its number.
    case subtitlePlaylist(Int)
    case dvrSubtitlePlaylist(Int, RewindRange)
    /// The range as one file.
    case clip(RewindRange)
    case initSection(String)
    case segment(String)
    case subtitles(String)
    case status
    case metrics
    /// The process is alive.
    case health
    /// The ring is filled and its edge fresh.
    case readiness
    case notFound(Refusal)

    /// - Parameters:
    ///   - path: below the channel, with or without its leading slash; percent-encoding removed.
    ///   - query: names and values in order, decoded.
    package init(path: String, query: [(name: String, value: String)] = []) {
        let name = path.hasPrefix("/") ? path.dropFirst() : path[...]
        switch name {
        case "": self = .page
        case "live.m3u8": self = .livePlaylist
        case "master.m3u8": self = .masterPlaylist
        case "dvr.m3u8": self = Self.ranged(query) { .dvrPlaylist($0) }
        case "dvr-master.m3u8": self = Self.ranged(query) { .dvrMasterPlaylist($0) }
        case "clip.mp4": self = Self.ranged(query) { .clip($0) }
        case "status.json": self = .status
        case "metrics": self = .metrics
        case "healthz": self = .health
        case "readyz": self = .readiness
        case _ where SpoolName.isInitialization(name): self = .initSection(String(name))
        case _ where SpoolName.mediaSequence(ofSegment: name) != nil: self = .segment(String(name))
        case _ where SpoolName.subtitles(named: name) != nil: self = .subtitles(String(name))
        default: self = Self.subtitlePlaylist(named: name, query: query) ?? .notFound(.unknownPath)
        }
    }

    private static func subtitlePlaylist(
        named name: Substring, query: [(name: String, value: String)]
    ) -> ResourceRequest? {
        if let number = SpoolName.rendition(ofSubtitleJournal: name) { return .subtitlePlaylist(number) }
        guard name.hasPrefix("dvr-"), let number = SpoolName.rendition(ofSubtitleJournal: name.dropFirst(4)) else {
            return nil
        }
        return ranged(query) { .dvrSubtitlePlaylist(number, $0) }
    }

    private static func ranged(
        _ query: [(name: String, value: String)], _ request: (RewindRange) -> ResourceRequest
    ) -> ResourceRequest {
        do throws(Refusal) { return request(try RewindRange(query: query)) } catch { return .notFound(error) }
    }
}
