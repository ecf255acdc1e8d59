import Support

/// A tag of RFC 8216 or of draft-pantos-hls-rfc8216bis; the raw value is its name without "#".
package enum PlaylistTag: String, CaseIterable, Sendable {
    case extm3u = "EXTM3U"
    case version = "EXT-X-VERSION"
    case independentSegments = "EXT-X-INDEPENDENT-SEGMENTS"
    case start = "EXT-X-START"
    case define = "EXT-X-DEFINE"

    case targetDuration = "EXT-X-TARGETDURATION"
    case mediaSequence = "EXT-X-MEDIA-SEQUENCE"
    case discontinuitySequence = "EXT-X-DISCONTINUITY-SEQUENCE"
    case endList = "EXT-X-ENDLIST"
    case playlistType = "EXT-X-PLAYLIST-TYPE"
    case iFramesOnly = "EXT-X-I-FRAMES-ONLY"
    case partInf = "EXT-X-PART-INF"
    case serverControl = "EXT-X-SERVER-CONTROL"

    case extinf = "EXTINF"
    case byteRange = "EXT-X-BYTERANGE"
    case discontinuity = "EXT-X-DISCONTINUITY"
    case key = "EXT-X-KEY"
    case map = "EXT-X-MAP"
    case programDateTime = "EXT-X-PROGRAM-DATE-TIME"
    case gap = "EXT-X-GAP"
    case bitrate = "EXT-X-BITRATE"
    case part = "EXT-X-PART"

    case dateRange = "EXT-X-DATERANGE"
    case skip = "EXT-X-SKIP"
    case preloadHint = "EXT-X-PRELOAD-HINT"
    case renditionReport = "EXT-X-RENDITION-REPORT"

    case media = "EXT-X-MEDIA"
    case streamInf = "EXT-X-STREAM-INF"
    case iFrameStreamInf = "EXT-X-I-FRAME-STREAM-INF"
    case sessionData = "EXT-X-SESSION-DATA"
    case sessionKey = "EXT-X-SESSION-KEY"
    case contentSteering = "EXT-X-CONTENT-STEERING"

    /// The kind of playlist in which a tag may occur, and the part of it to which the tag applies.
    package enum Scope: Sendable {
        /// Either kind of playlist.
        case anyPlaylist
        /// A media playlist as a whole; the tag occurs at most once (draft §4.4.3).
        case mediaPlaylist
        /// The next URI line of a media playlist, or every URI line from there on.
        case mediaSegment
        /// Metadata of a media playlist; the tag may occur anywhere and repeatedly (draft §4.4.5).
        case mediaMetadata
        case multivariantPlaylist
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// The tag called `name`; nil if the draft defines no such tag. The look-up is by hash, because every line needs
    /// one.
    package init?(name: String) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }

    package var scope: Scope {
        switch self {
        case .extm3u, .version, .independentSegments, .start, .define: .anyPlaylist
        case .targetDuration, .mediaSequence, .discontinuitySequence, .endList, .playlistType, .iFramesOnly, .partInf,
            .serverControl:
            .mediaPlaylist
        case .extinf, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap, .bitrate, .part: .mediaSegment
        case .dateRange, .skip, .preloadHint, .renditionReport: .mediaMetadata
        case .media, .streamInf, .iFrameStreamInf, .sessionData, .sessionKey, .contentSteering: .multivariantPlaylist
        }
    }

    /// Whether ignoring the tag could number, cut, decrypt or fetch media wrongly.
    ///
    /// A malformed tag that governs media is an error. Any other malformed tag is kept verbatim.
    package var governsMedia: Bool {
        switch self {
        case .define, .targetDuration, .mediaSequence, .discontinuitySequence, .extinf, .byteRange, .key, .map, .skip,
            .streamInf:
            true
        default: false
        }
    }

    /// Whether a number that cannot be read counts as missing.
    package var mayBeMissing: Bool { [.targetDuration, .mediaSequence, .discontinuitySequence].contains(self) }

    /// Whether two occurrences with different values are an error.
    package var mayAppearOnce: Bool {
        scope == .mediaPlaylist || self == .version || self == .start || self == .skip
    }

    /// Reads the value of the tag, without white space around it. Throws `.badValue` if `parse` returns nil.
    func read<Value>(
        _ value: ArraySlice<UInt8>, line: Int, as parse: (ArraySlice<UInt8>) -> Value?
    ) throws(PlaylistError) -> Value {
        guard let result = parse(value.trimmingWhiteSpace()) else {
            throw PlaylistError(.badValue(String(decoding: value, as: UTF8.self)), self, line: line)
        }
        return result
    }

    /// The section of RFC 8216 that defines the tag, or else the section of draft-pantos-hls-rfc8216bis.
    package var section: String {
        switch self {
        case .extm3u: "4.3.1.1"
        case .version: "4.3.1.2"
        case .extinf: "4.3.2.1"
        case .byteRange: "4.3.2.2"
        case .discontinuity: "4.3.2.3"
        case .key: "4.3.2.4"
        case .map: "4.3.2.5"
        case .programDateTime: "4.3.2.6"
        case .dateRange: "4.3.2.7"
        case .targetDuration: "4.3.3.1"
        case .mediaSequence: "4.3.3.2"
        case .discontinuitySequence: "4.3.3.3"
        case .endList: "4.3.3.4"
        case .playlistType: "4.3.3.5"
        case .iFramesOnly: "4.3.3.6"
        case .media: "4.3.4.1"
        case .streamInf: "4.3.4.2"
        case .iFrameStreamInf: "4.3.4.3"
        case .sessionData: "4.3.4.4"
        case .sessionKey: "4.3.4.5"
        case .independentSegments: "4.3.5.1"
        case .start: "4.3.5.2"
        case .define: "4.4.2.3"
        case .partInf: "4.4.3.7"
        case .serverControl: "4.4.3.8"
        case .gap: "4.4.4.7"
        case .bitrate: "4.4.4.8"
        case .part: "4.4.4.9"
        case .skip: "4.4.5.2"
        case .preloadHint: "4.4.5.3"
        case .renditionReport: "4.4.5.4"
        case .contentSteering: "4.4.6.6"
        }
    }
}
