/// A multivariant (master) playlist (RFC 8216 §4.3.4) as values.
package struct MultivariantPlaylist: Equatable, Sendable {
    package var version: Int?
    package var hasIndependentSegments: Bool
    package var start: StartOffset?
    package var variants: [Variant]
    package var renditions: [Rendition]
    /// Tags not read into a field, verbatim without line end, in order.
    package var unknownTags: [String]

    package init(variants: [Variant] = [], renditions: [Rendition] = []) {
        self.version = nil
        self.hasIndependentSegments = false
        self.start = nil
        self.variants = variants
        self.renditions = renditions
        self.unknownTags = []
    }
}

/// EXT-X-STREAM-INF and its URI line (§4.3.4.2).
package struct Variant: Equatable, Sendable {
    package struct Resolution: Hashable, Sendable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    package var uri: String
    /// Peak bits per second.
    package var bandwidth: Int
    package var averageBandwidth: Int?
    package var codecs: [String]
    package var resolution: Resolution?
    /// As written, for example "29.970".
    package var frameRate: String?
    /// GROUP-ID of its audio renditions.
    package var audio: String?
    package var video: String?
    package var subtitles: String?
    /// All attributes as written, those above included.
    package var attributes: AttributeList

    package init(uri: String, bandwidth: Int, attributes: AttributeList = AttributeList()) {
        self.uri = uri
        self.bandwidth = bandwidth
        self.averageBandwidth = nil
        self.codecs = []
        self.resolution = nil
        self.frameRate = nil
        self.audio = nil
        self.video = nil
        self.subtitles = nil
        self.attributes = attributes
    }
}

/// EXT-X-MEDIA (§4.3.4.1).
package struct Rendition: Equatable, Sendable {
    package enum MediaType: String, Sendable {
        case audio = "AUDIO"
        case video = "VIDEO"
        case subtitles = "SUBTITLES"
        case closedCaptions = "CLOSED-CAPTIONS"
    }

    package var type: MediaType
    package var groupID: String
    package var name: String
    package var language: String?
    package var isDefault: Bool
    package var isAutoselect: Bool
    /// nil: the rendition is in the variant's own stream (§4.3.4.2.1).
    package var uri: String?
    package var channels: String?
    package var attributes: AttributeList

    package init(type: MediaType, groupID: String, name: String, uri: String? = nil) {
        self.type = type
        self.groupID = groupID
        self.name = name
        self.language = nil
        self.isDefault = false
        self.isAutoselect = false
        self.uri = uri
        self.channels = nil
        self.attributes = AttributeList()
    }
}
