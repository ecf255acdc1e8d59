import Support

/// A multivariant (master) playlist (RFC 8216 §4.3.4) as values: what the relay reads of an upstream's, or writes.
package struct MultivariantPlaylist: Equatable, Sendable {
    /// The resolved EXT-X-DEFINE variables, which media playlists may IMPORT. They are not written.
    package var variables: [VariableDefinition] = []
    package var hasIndependentSegments = false
    package var variants: [Variant]
    package var renditions: [Rendition]
    /// EXT-X-I-FRAME-STREAM-INF (§4.3.4.3). They are only written.
    package var iFrameStreams: [Variant] = []
    /// Errors that did not stop the parser, in order: malformed tags, and URI lines without EXT-X-STREAM-INF.
    package var irregularities: [PlaylistError] = []
    /// The number of units dropped by each limit of the parser.
    package var dropped: [PlaylistLimit: Int] = [:]

    package init(variants: [Variant] = [], renditions: [Rendition] = []) {
        self.variants = variants
        self.renditions = renditions
    }
}

/// A variable that EXT-X-DEFINE defines, with its resolved value (draft-pantos-hls-rfc8216bis §4.4.2.3).
package struct VariableDefinition: Hashable, Sendable {
    package var name: String
    package var value: String
}

/// EXT-X-STREAM-INF and its URI line (§4.3.4.2). The named properties are computed from `attributes`.
package struct Variant: Equatable, Sendable {
    package struct Resolution: Hashable, Sendable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }

        /// The number of pixels; `Int.max` if it does not fit.
        package var area: Int {
            let (area, overflows) = width.multipliedReportingOverflow(by: height)
            return overflows ? .max : area
        }
    }

    package var uri: String
    /// All attributes as written.
    package var attributes: AttributeList
}

extension Variant {
    package init(uri: String, bandwidth: Int, attributes: AttributeList = AttributeList()) {
        self.init(uri: uri, attributes: attributes)
        self.bandwidth = bandwidth
    }

    /// Peak bits per second, without a fraction, in the range of `PlaylistNumber.bitRate`; 0 if the attribute is absent,
    /// no number or out of range.
    package var bandwidth: Int {
        get { attributes["BANDWIDTH"].flatMap(Self.bitRate) ?? 0 }
        set { attributes.set("BANDWIDTH", to: String(newValue)) }
    }

    package var averageBandwidth: Int? {
        get { attributes["AVERAGE-BANDWIDTH"].flatMap(Self.bitRate) }
        set { attributes.set("AVERAGE-BANDWIDTH", to: newValue.map { String($0) }) }
    }

    /// Reads a decimal-integer, or the integer part of a number with a fraction, which some packagers write.
    private static func bitRate(_ text: String) -> Int? {
        let parts = text.utf8.split(separator: ASCII.point, maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.dropFirst().allSatisfy({ $0.allSatisfy(ASCII.isDigit) }) else {
            return nil
        }
        return PlaylistNumber.bitRate.value(whole).map { Int($0) }
    }

    /// The CODECS (RFC 6381) in the order written, without white space.
    package var codecs: [String] {
        get {
            (attributes["CODECS"] ?? "").split(separator: ",").map { String($0.filter { $0 != " " && $0 != "\t" }) }
        }
        set { attributes.set("CODECS", to: newValue.isEmpty ? nil : newValue.joined(separator: ","), isQuoted: true) }
    }

    /// The SUPPLEMENTAL-CODECS in the order written (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package var supplementalCodecs: [String] {
        get { (attributes["SUPPLEMENTAL-CODECS"] ?? "").split(separator: ",").map(String.init) }
        set {
            let text = newValue.isEmpty ? nil : newValue.joined(separator: ",")
            attributes.set("SUPPLEMENTAL-CODECS", to: text, isQuoted: true)
        }
    }

    /// The resolution; nil if it is absent, not `<width>x<height>`, or out of the range of `PlaylistNumber.pixels`.
    package var resolution: Resolution? {
        get {
            let sides = (attributes["RESOLUTION"] ?? "").lowercased().split(separator: "x").map {
                PlaylistNumber.pixels.value($0.utf8)
            }
            guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
            return Resolution(width: Int(width), height: Int(height))
        }
        set { attributes.set("RESOLUTION", to: newValue.map { "\($0.width)x\($0.height)" }) }
    }

    /// Frames per second as written, for example "29.970".
    package var frameRate: String? {
        get { attributes["FRAME-RATE"] }
        set { attributes.set("FRAME-RATE", to: newValue) }
    }

    /// "SDR", "HLG" or "PQ"; nil means SDR (draft-pantos-hls-rfc8216bis §4.4.6.2).
    package var videoRange: String? {
        get { attributes["VIDEO-RANGE"] }
        set { attributes.set("VIDEO-RANGE", to: newValue) }
    }

    /// How the video has to be rendered; nil if it is ordinary, or the attribute is not understood.
    package var videoLayout: VideoLayout? { requiredLayout.flatMap { VideoLayout($0) } }

    /// REQ-VIDEO-LAYOUT.
    package var requiredLayout: String? {
        get { attributes["REQ-VIDEO-LAYOUT"] }
        set { attributes.set("REQ-VIDEO-LAYOUT", to: newValue, isQuoted: true) }
    }

    /// The GROUP-ID of the audio renditions.
    package var audio: String? {
        get { attributes["AUDIO"] }
        set { attributes.set("AUDIO", to: newValue, isQuoted: true) }
    }

    package var subtitles: String? {
        get { attributes["SUBTITLES"] }
        set { attributes.set("SUBTITLES", to: newValue, isQuoted: true) }
    }

    /// The GROUP-ID of the closed captions in the video, or "NONE".
    package var closedCaptions: String? {
        get { attributes["CLOSED-CAPTIONS"] }
        set { attributes.set("CLOSED-CAPTIONS", to: newValue, isQuoted: true) }
    }
}

/// EXT-X-MEDIA (§4.3.4.1). The named properties are computed from `attributes`.
package struct Rendition: Equatable, Sendable {
    package enum MediaType: String, Sendable {
        case audio = "AUDIO"
        case video = "VIDEO"
        case subtitles = "SUBTITLES"
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    package var type: MediaType {
        didSet { attributes.set("TYPE", to: type.rawValue) }
    }
    /// All attributes as written.
    package var attributes: AttributeList
}

extension Rendition {
    package init(type: MediaType, groupID: String, name: String, uri: String? = nil) {
        self.init(type: type, attributes: AttributeList())
        self.attributes.set("TYPE", to: type.rawValue)
        self.groupID = groupID
        self.name = name
        self.uri = uri
    }

    package var groupID: String {
        get { attributes["GROUP-ID"] ?? "" }
        set { attributes.set("GROUP-ID", to: newValue, isQuoted: true) }
    }

    package var name: String {
        get { attributes["NAME"] ?? "" }
        set { attributes.set("NAME", to: newValue, isQuoted: true) }
    }

    package var language: String? {
        get { attributes["LANGUAGE"] }
        set { attributes.set("LANGUAGE", to: newValue, isQuoted: true) }
    }

    package var isDefault: Bool {
        get { attributes["DEFAULT"] == "YES" }
        set { attributes.set("DEFAULT", to: newValue ? "YES" : "NO") }
    }

    package var isAutoselect: Bool { attributes["AUTOSELECT"] == "YES" }

    /// The URI of the media playlist; nil if the rendition is muxed into the variant's stream (§4.3.4.2.1).
    package var uri: String? {
        get { attributes["URI"].flatMap { $0.isEmpty ? nil : $0 } }
        set { attributes.set("URI", to: newValue, isQuoted: true) }
    }
}
