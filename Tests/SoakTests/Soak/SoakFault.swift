import TestSupport

/// One thing that an upstream does wrong, and when. All times are milliseconds since the channel began.
struct SoakFault {
    enum Kind: String, CaseIterable {
        /// The list stands still, though segments come.
        case stalePlaylist
        /// An edge that is behind shows the list of some seconds ago.
        case laggingPlaylist
        case playlistRefused, playlistIsHTML, playlistTruncated
        /// Of one segment: refused for a while or for good, a page instead, cut short, damaged inside, late.
        case segmentRefused, segmentIsGone, segmentIsHTML, segmentTruncated, segmentBreaksOff, segmentIsDamaged
        case segmentIsLate
        /// Marked EXT-X-GAP.
        case gap
        /// The numbers count anew: with the addresses they had, with others, and as a new encoder that knows of nothing
        /// before.
        case renumbered, renamed, startedAnew
        /// ENDLIST, and a new encoder a moment later.
        case endedAndBegan
        /// Everything but the master playlist is refused until that was read again.
        case tokenExpired
        /// Nobody answers, though the encoder goes on.
        case unreachable, silent
        /// The encoder stands still: the list does too, and time is missing from the channel.
        case encoderPaused
        case metered
        case keyRefused
        case targetDurationRaised
        case slow

        /// How often it happens, compared with the others.
        var weight: Int {
            switch self {
            case .stalePlaylist, .laggingPlaylist, .segmentRefused, .unreachable: 3
            case .playlistRefused, .segmentIsGone, .segmentTruncated, .encoderPaused, .tokenExpired, .startedAnew: 2
            default: 1
            }
        }

        /// Seconds.
        var lasting: ClosedRange<Int> {
            switch self {
            case .stalePlaylist: 5...20
            case .laggingPlaylist: 4...9
            case .playlistRefused: 3...25
            case .playlistIsHTML, .playlistTruncated, .metered: 2...8
            case .unreachable: 5...120
            case .silent: 5...60
            case .encoderPaused: 5...60
            case .endedAndBegan: 2...5
            case .keyRefused: 3...6
            case .targetDurationRaised: 30...200
            case .slow: 5...30
            case .startedAnew: 1...8
            default: 10...10
            }
        }

        /// It is done to the next segment, and not to a moment.
        var isOfSegment: Bool {
            switch self {
            case .segmentRefused, .segmentIsGone, .segmentIsHTML, .segmentTruncated, .segmentBreaksOff,
                .segmentIsDamaged,
                .segmentIsLate, .gap:
                true
            default: false
            }
        }

        /// No segment is made as long as it lasts.
        var stopsEncoder: Bool { [.encoderPaused, .endedAndBegan, .startedAnew].contains(self) }

        /// - Parameter excluded: what would be no fault of this channel, or one that nobody could do anything about.
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
    /// An HTTP status, a number of tries, milliseconds: what the kind makes of it.
    let value: Int
    /// The segment that it is done to.
    var segment: Int?

    init(_ kind: Kind, at start: Int, using random: inout SeededGenerator) {
        self.kind = kind
        self.start = start
        end = start + Int.random(in: kind.lasting, using: &random) * 1000
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
