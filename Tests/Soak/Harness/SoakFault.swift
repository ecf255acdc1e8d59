import TestSupport

/// A fault of the upstream. All times are milliseconds since the channel began.
struct SoakFault {
    enum Kind: String, CaseIterable {
        /// The playlist is stale although there are new segments.
        case stalePlaylist
        /// A lagging CDN edge sends the playlist of some seconds ago.
        case laggingPlaylist
        case playlistRefused, playlistIsHTML, playlistTruncated
        /// One segment is rejected temporarily or permanently, replaced by an HTML page, truncated, damaged or late.
        case segmentRefused, segmentIsGone, segmentIsHTML, segmentTruncated, segmentBreaksOff, segmentIsDamaged
        case segmentIsLate
        /// A segment has EXT-X-GAP.
        case gap
        /// The media sequence numbers restart: with equal URLs, with different URLs, or from a new encoder without earlier
        /// segments.
        case renumbered, renamed, encoderRestarted
        /// ENDLIST, followed by a new encoder.
        case endedAndRestarted
        /// Everything but the multivariant playlist is rejected until that is reloaded.
        case tokenExpired
        /// The server does not answer while the encoder continues.
        case unreachable, silent
        /// The encoder pauses, and media time is missing.
        case encoderPaused
        case rateLimited
        case keyRefused
        case targetDurationRaised
        case slow

        /// Relative frequency.
        var weight: Int {
            switch self {
            case .stalePlaylist, .laggingPlaylist, .segmentRefused, .unreachable: 3
            case .playlistRefused, .segmentIsGone, .segmentTruncated, .encoderPaused, .tokenExpired, .encoderRestarted:
                2
            default: 1
            }
        }

        /// Range of durations, seconds.
        var durations: ClosedRange<Int> {
            switch self {
            case .stalePlaylist: 5...20
            case .laggingPlaylist: 4...9
            case .playlistRefused: 3...25
            case .playlistIsHTML, .playlistTruncated, .rateLimited: 2...8
            case .unreachable: 5...120
            case .silent: 5...60
            case .encoderPaused: 5...60
            case .endedAndRestarted: 2...5
            case .keyRefused: 3...6
            case .targetDurationRaised: 30...200
            case .slow: 5...30
            case .encoderRestarted: 1...8
            default: 10...10
            }
        }

        /// Whether it affects the next segment instead of a time range.
        var affectsSegment: Bool {
            switch self {
            case .segmentRefused, .segmentIsGone, .segmentIsHTML, .segmentTruncated, .segmentBreaksOff,
                .segmentIsDamaged,
                .segmentIsLate, .gap:
                true
            default: false
            }
        }

        /// Whether the encoder makes no segments during the fault.
        var stopsEncoder: Bool { [.encoderPaused, .endedAndRestarted, .encoderRestarted].contains(self) }

        /// Returns a random kind.
        /// - Parameter excluded: kinds that do not apply to this channel, or that no relay could handle.
        static func random(without excluded: Set<Kind>, using random: inout SeededGenerator) -> Kind {
            let kinds = allCases.filter { !excluded.contains($0) }
            var ticket = Int.random(in: 0..<kinds.reduce(0) { $0 + $1.weight }, using: &random)
            for kind in kinds {
                ticket -= kind.weight
                if ticket < 0 { return kind }
            }
            return .stalePlaylist
        }
    }

    let kind: Kind
    let start: Int
    var end: Int
    /// Parameter of the kind: an HTTP status, a number of attempts, or milliseconds.
    let value: Int
    /// Index of the affected segment.
    var segment: Int?

    init(_ kind: Kind, at start: Int, using random: inout SeededGenerator) {
        self.kind = kind
        self.start = start
        end = start + Int.random(in: kind.durations, using: &random) * 1000
        value =
            switch kind {
            case .playlistRefused: [404, 500, 503].randomElement(using: &random) ?? 404
            case .segmentRefused: Int.random(in: 1...2, using: &random)
            case .laggingPlaylist: Int.random(in: 8...25, using: &random) * 1000
            case .segmentIsLate: Int.random(in: 2000...9000, using: &random)
            case .segmentTruncated, .segmentBreaksOff: Int.random(in: 1...4, using: &random)
            default: Int.random(in: 1...1000, using: &random)
            }
    }
}
