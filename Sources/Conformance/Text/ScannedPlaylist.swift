package import Playlist
import Support

/// A playlist as written: nothing is mended, and each breach of the grammar is a problem.
package struct ScannedPlaylist: Equatable, Sendable {
    package let url: String
    package internal(set) var isMultivariant = false
    package internal(set) var problems: [TextProblem] = []
    /// Rules that the text gave evidence for.
    package internal(set) var judged: Set<Rule> = [.playlistHeader, .tagSyntax, .version]

    package internal(set) var version: Int?
    package internal(set) var targetDuration: Int?
    package internal(set) var mediaSequence: UInt64 = 0
    package internal(set) var discontinuitySequence: UInt64 = 0
    package internal(set) var hasDiscontinuitySequence = false
    package internal(set) var playlistType: String?
    package internal(set) var hasEndList = false
    package internal(set) var hasIFramesOnly = false
    package internal(set) var hasIndependentSegments = false
    package internal(set) var skippedSegments = 0
    package internal(set) var segments: [ScannedSegment] = []
    package internal(set) var dateRanges: [ScannedDateRange] = []
    package internal(set) var variables: [VariableDefinition] = []
    /// Tags with attributes of the whole playlist, and parts, for the rules of low latency.
    package internal(set) var attributeTags: [AttributeTag] = []
    package internal(set) var partsSinceSegment = 0

    package internal(set) var variants: [ScannedVariant] = []
    package internal(set) var renditions: [ScannedRendition] = []

    package struct AttributeTag: Equatable, Sendable {
        package let tag: PlaylistTag
        package let attributes: AttributeList
        package let line: Int
    }

    init(url: String) { self.url = url }

    /// The media sequence number after the last segment.
    package var end: UInt64 { mediaSequence + UInt64(skippedSegments + segments.count) }

    package var duration: Duration { segments.reduce(.zero) { $0 + ($1.duration ?? .zero) } }

    /// Whether the playlist may change.
    package var isLive: Bool { !isMultivariant && !hasEndList && playlistType != "VOD" }

    package mutating func add(
        _ rule: Rule, _ cause: String, level: RuleLevel? = nil, line: Int?, sequence: UInt64? = nil, _ message: String
    ) {
        problems.append(
            TextProblem(rule: rule, cause: cause, level: level, line: line, sequence: sequence, message: message))
    }

    /// The first attribute tag of a kind.
    package subscript(tag: PlaylistTag) -> AttributeTag? { attributeTags.first { $0.tag == tag } }
}
