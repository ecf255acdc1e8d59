package import Playlist

/// Reports each kind of irregularity of a playlist once, however often the playlist is loaded.
struct IrregularityLog: Equatable, Sendable {
    private struct Kind: Hashable, Sendable {
        let tag: String
        let reason: String
    }

    private var reported: Set<Kind> = []

    /// Returns the irregularities of a kind that was not reported before.
    mutating func recordNew(_ irregularities: [PlaylistError]) -> [PlaylistError] {
        irregularities.filter { reported.insert(Kind(tag: $0.tag, reason: $0.reason.name)).inserted }
    }
}

extension PlaylistError.Reason {
    /// The name without the values, which may differ with each load.
    package var name: String {
        switch self {
        case .notAPlaylist: "not-a-playlist"
        case .missing: "missing"
        case .missingAttribute(let name): "missing-\(name)"
        case .duplicate: "duplicate"
        case .badValue: "bad-value"
        case .undefinedVariable: "undefined-variable"
        case .misplaced: "misplaced"
        }
    }
}
