/// The bounds of what is kept of one playlist, so that no text costs more than a known amount of memory and time.
///
/// Beyond a limit the smallest unit is dropped and counted. The playlists of real channels are far below all of them;
/// docs/limits.md says how far.
package struct PlaylistLimits: Equatable, Sendable {
    package var lineBytes = 64 << 10
    package var lines = 1_000_000
    package var segments = 50_000
    package var linesPerSegment = 128
    package var verbatimLines = 65_536
    package var trailingLines = 1024
    package var variables = 256
    package var expandedBytes = 16 << 20
    package var attributes = 256
    package var keyFormats = 16
    package var dateRanges = 1024
    package var dateRangeBytes = 1 << 20
    package var parts = 16_384
    package var renditions = 512

    package init() {}

    /// The limits of every upstream.
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
        case .trailingLines: \.trailingLines
        case .variables: \.variables
        case .expandedBytes: \.expandedBytes
        case .attributes: \.attributes
        case .keyFormats: \.keyFormats
        case .dateRanges: \.dateRanges
        case .dateRangeBytes: \.dateRangeBytes
        case .parts: \.parts
        case .renditions: \.renditions
        }
    }
}
