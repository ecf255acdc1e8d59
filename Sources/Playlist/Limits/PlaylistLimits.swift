/// Bounds on what is kept of one playlist, so that no text costs more than a known amount of memory and time.
///
/// Beyond a limit the smallest unit is dropped and counted. The playlists of real channels are far below all of them;
/// docs/limits.md says how far.
package struct PlaylistLimits: Equatable, Sendable {
    package var lineBytes = 64 << 10
    package var lines = 1_000_000
    package var segments = 50_000
    package var linesPerSegment = 128
    package var verbatimLines = 65_536
    package var variables = 256
    package var expandedBytes = 16 << 20
    package var attributes = 256
    package var keyFormats = 16
    package var dateRanges = 1024
    package var dateRangeBytes = 1 << 20
    package var renditions = 512

    package init() {}

    package static let standard = PlaylistLimits()

    /// No limits, for playlists that this program wrote.
    package static let none: PlaylistLimits = {
        var limits = PlaylistLimits()
        for limit in PlaylistLimit.allCases { limits[limit] = Int.max / 2 }
        return limits
    }()

    package subscript(limit: PlaylistLimit) -> Int {
        get { self[keyPath: Self.path(of: limit)] }
        set { self[keyPath: Self.path(of: limit)] = newValue }
    }

    private static func path(of limit: PlaylistLimit) -> WritableKeyPath<PlaylistLimits, Int> {
        switch limit {
        case .lineBytes: \.lineBytes
        case .lines: \.lines
        case .segments: \.segments
        case .linesPerSegment: \.linesPerSegment
        case .verbatimLines: \.verbatimLines
        case .variables: \.variables
        case .expandedBytes: \.expandedBytes
        case .attributes: \.attributes
        case .keyFormats: \.keyFormats
        case .dateRanges: \.dateRanges
        case .dateRangeBytes: \.dateRangeBytes
        case .renditions: \.renditions
        }
    }
}

/// A dimension in which playlists are bounded. The raw values are the names in `/status.json`, events and documents.
package enum PlaylistLimit: String, CaseIterable, CodingKeyRepresentable, Encodable, Hashable, Sendable {
    /// Bytes of one line, and of one value with its variables substituted.
    case lineBytes
    /// Lines of the whole text. Lines after the last permitted one are not read.
    case lines
    case segments
    /// Lines before one segment, or in the head, that no field holds: cue tags, other tags and comments.
    case linesPerSegment
    /// Lines that no field holds, in the whole playlist.
    case verbatimLines
    /// EXT-X-DEFINE tags.
    case variables
    /// Bytes of all values in which a variable was substituted.
    case expandedBytes
    /// Attributes of one tag.
    case attributes
    /// Keys in effect at once, one for each KEYFORMAT.
    case keyFormats
    /// EXT-X-DATERANGE tags.
    case dateRanges
    /// Bytes of the names and values of all date ranges.
    case dateRangeBytes
    /// Variants and renditions; the limit applies to each kind separately.
    case renditions
}

/// Counts what a parser drops beyond its limits.
struct LimitMeter: Sendable {
    let limits: PlaylistLimits
    private(set) var dropped: [PlaylistLimit: Int] = [:]

    init(_ limits: PlaylistLimits) { self.limits = limits }

    mutating func drop(_ limit: PlaylistLimit, count: Int = 1) { dropped[limit, default: 0] += count }

    mutating func append<Element>(_ element: Element, to elements: inout [Element], limit: PlaylistLimit) {
        if elements.count < limits[limit] { elements.append(element) } else { drop(limit) }
    }
}
