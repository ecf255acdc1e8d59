package import Playlist

/// Reports each kind of irregularity of a playlist once, however often the playlist is loaded.
struct IrregularityLog: Equatable, Sendable {
    /// The tag and the name of the reason.
    private var reported: Set<[String]> = []
    private var reportedLimits: Set<PlaylistLimit> = []

    /// Returns the limits that no playlist exceeded before, in the order of their names, with what was dropped.
    mutating func recordNew(_ dropped: [PlaylistLimit: Int]) -> [(limit: PlaylistLimit, count: Int)] {
        dropped.filter { reportedLimits.insert($0.key).inserted }.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { (limit: $0.key, count: $0.value) }
    }

    /// Returns the irregularities of a kind that was not reported before.
    mutating func recordNew(_ irregularities: [PlaylistError]) -> [PlaylistError] {
        irregularities.filter { reported.insert([$0.tag, $0.reason.name]).inserted }
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
        case .exceeds(let limit): "exceeds-\(limit.rawValue)"
        case .canceled: "canceled"
        }
    }
}
