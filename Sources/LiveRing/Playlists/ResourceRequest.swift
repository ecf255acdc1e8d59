package import Playlist

/// The resource that a path below a channel's URL names.
package enum ResourceRequest: Equatable, Sendable {
    /// A resource in MPEG-TS, below `ts/`.
    package enum TransportStreamRequest: Equatable, Sendable {
        static let folder = "ts/"

        case livePlaylist
        case masterPlaylist
        case dvrPlaylist(RewindRange)
        case dvrMasterPlaylist(RewindRange)
        /// A segment, by its name with the suffix `.ts`.
        case segment(String)
    }

    package enum Refusal: Error, Equatable, Sendable {
        /// A channel has no such path.
        case unknownPath
        /// A query value cannot be read.
        case badQuery(name: String, value: String)
        /// `end` is not after `start`.
        case emptyRange
    }

    /// A transport stream in one response.
    package struct EndlessStreamRequest: Equatable, Sendable {
        package enum Speed: Equatable, Sendable {
            /// As it suits the range.
            case automatic
            /// Percent of real time.
            case percent(Int64)
            /// As fast as the client reads.
            case maximum
        }

        /// `.whole`: from the live edge on.
        package let range: RewindRange
        package let speed: Speed
        /// Where the range ends; nil: nowhere.
        package var end: ProgramDateTime? { if case .between(_, let end) = range { end } else { nil } }
    }

    case page
    case livePlaylist
    case masterPlaylist
    case dvrPlaylist(RewindRange)
    /// The master playlist of a range. It lists the subtitles, which a media playlist cannot do.
    case dvrMasterPlaylist(RewindRange)
    /// The live playlist of a subtitle rendition, by its number.
    case subtitlePlaylist(Int)
    case dvrSubtitlePlaylist(Int, RewindRange)
    /// A range as one file.
    case clip(RewindRange)
    case initSection(String)
    case segment(String)
    case subtitles(String)
    /// A playlist of transport streams, or one segment as a transport stream.
    case transportStream(TransportStreamRequest)
    case endlessStream(EndlessStreamRequest)
    case status
    case metrics
    /// Whether the process is alive.
    case health
    /// Whether the ring is filled and its edge is fresh.
    case readiness
    case notFound(Refusal)

    /// - Parameters:
    ///   - path: the percent-decoded path below the channel, with or without its leading slash.
    ///   - query: the decoded names and values, in order.
    package init(path: String, query: [(name: String, value: String)] = []) {
        let name = path.hasPrefix("/") ? path.dropFirst() : path[...]
        switch name {
        case "": self = .page
        case "live.m3u8": self = .livePlaylist
        case "master.m3u8": self = .masterPlaylist
        case "dvr.m3u8": self = Self.ranged(query) { .dvrPlaylist($0) }
        case "dvr-master.m3u8": self = Self.ranged(query) { .dvrMasterPlaylist($0) }
        case "live.ts": self = Self.endlessStream(query)
        case "clip.mp4": self = Self.ranged(query) { .clip($0) }
        case _ where name.hasPrefix(TransportStreamRequest.folder):
            self = Self.transportStream(name.dropFirst(TransportStreamRequest.folder.count), query: query)
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

    private static func endlessStream(_ query: [(name: String, value: String)]) -> ResourceRequest {
        ranged(query) { range in
            guard let text = query.first(where: { $0.name == "speed" })?.value else {
                return .endlessStream(EndlessStreamRequest(range: range, speed: .automatic))
            }
            if text == "max" { return .endlessStream(EndlessStreamRequest(range: range, speed: .maximum)) }
            guard let speed = Double(text), (0.1...100).contains(speed) else {
                return .notFound(.badQuery(name: "speed", value: text))
            }
            return .endlessStream(EndlessStreamRequest(range: range, speed: .percent(Int64(speed * 100))))
        }
    }

    private static func transportStream(
        _ name: Substring, query: [(name: String, value: String)]
    ) -> ResourceRequest {
        switch name {
        case "live.m3u8": .transportStream(.livePlaylist)
        case "master.m3u8": .transportStream(.masterPlaylist)
        case "dvr.m3u8": ranged(query) { .transportStream(.dvrPlaylist($0)) }
        case "dvr-master.m3u8": ranged(query) { .transportStream(.dvrMasterPlaylist($0)) }
        case _ where SpoolName.segment(ofTransportStream: name) != nil: .transportStream(.segment(String(name)))
        default: .notFound(.unknownPath)
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
