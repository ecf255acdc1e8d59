package import Playlist
package import Support

/// A media segment as its playlist lists it. URIs are absolute.
package struct ScannedSegment: Equatable, Sendable {
    package var uri = ""
    /// The URI as written, after substitution of variables.
    package var reference = ""
    package var line = 0
    package var durationText = ""
    /// nil if EXTINF is missing or malformed.
    package var duration: Duration?
    package var sequence: UInt64 = 0
    package var discontinuitySequence: UInt64 = 0
    /// EXT-X-DISCONTINUITY tags before the segment.
    package var discontinuities = 0
    package var isGap = false
    package var byteRange: ByteRange?
    package var map: ScannedMap?
    package var keys: [ScannedKey] = []
    package var date: ProgramDateTime?
    package var cueTags: [CueTag] = []

    /// The identity of the segment's bytes: its URI as written, because redirects may lead the playlist to another server,
    /// without the query, which may carry a token; and its byte range. Set by `setIdentity`.
    package private(set) var identity = ""

    mutating func setIdentity() {
        identity = URIReference.withoutQuery(reference) + (byteRange.map { "@\($0.offset)+\($0.length)" } ?? "")
    }

    /// Whether another version lists the segment with the same tags.
    func isListed(like other: ScannedSegment) -> Bool {
        identity == other.identity && duration == other.duration && map == other.map && keys == other.keys
            && date == other.date
    }

    /// The AES-128 key in force; nil if the segment is clear or has another protection.
    package var key: ScannedKey? { keys.first { $0.method == "AES-128" && $0.keyFormat == "identity" } }

    /// The protection that `check` cannot read: the METHOD of a key; nil if the segment can be read.
    package var protection: String? { key == nil ? keys.first?.method : nil }
}

/// EXT-X-MAP.
package struct ScannedMap: Hashable, Sendable {
    package let uri: String
    package let byteRange: ByteRange?
    package let key: ScannedKey?
}

/// EXT-X-KEY with a METHOD other than NONE.
package struct ScannedKey: Hashable, Sendable {
    package let method: String
    package let uri: String
    /// As written.
    package let initializationVector: String?
    package let keyFormat: String
}

/// EXT-X-DATERANGE.
package struct ScannedDateRange: Equatable, Sendable {
    package let range: DateRange
    package let line: Int
}

/// EXT-X-STREAM-INF or EXT-X-I-FRAME-STREAM-INF.
package struct ScannedVariant: Equatable, Sendable {
    package let attributes: AttributeList
    /// Absolute.
    package let uri: String
    package let line: Int
    package let isIFrames: Bool

    package var bandwidth: Int? { attributes["BANDWIDTH"].flatMap { Int($0) } }
}

/// EXT-X-MEDIA.
package struct ScannedRendition: Equatable, Sendable {
    package let attributes: AttributeList
    /// Absolute; nil if the media is that of the variant.
    package let uri: String?
    package let line: Int

    package var type: String { attributes["TYPE"] ?? "" }
    package var group: String { attributes["GROUP-ID"] ?? "" }
}

/// A fault of a line.
package struct TextProblem: Equatable, Sendable {
    package let rule: Rule
    package let cause: String
    package var level: RuleLevel?
    package let line: Int?
    package var sequence: UInt64?
    package let message: String
}
