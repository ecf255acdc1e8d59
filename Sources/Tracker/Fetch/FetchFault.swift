/// What was wrong with one answer, or with there being none: what faults are counted by.
package enum FetchFault: Hashable, Sendable {
    case refused(status: Int)
    case transfer(FetchError.Reason)
    /// A page, an error message, or nothing, where a segment, a key or a map was due.
    case notMedia
    /// The body ends in the middle of what it holds.
    case cutShort
    /// A page, or nothing, where a playlist was due.
    case notAPlaylist
    case malformedPlaylist

    /// `http404`, or the case's name, or its reason's.
    package var name: String {
        switch self {
        case .refused(let status): "http\(status)"
        case .transfer(let reason): reason.rawValue
        case .notMedia: "notMedia"
        case .cutShort: "cutShort"
        case .notAPlaylist: "notAPlaylist"
        case .malformedPlaylist: "malformedPlaylist"
        }
    }

    init(_ failure: FetchFailure) {
        switch failure {
        case .refused(let status): self = .refused(status: status)
        case .unreachable(let reason, _): self = .transfer(reason)
        case .notMedia, .empty: self = .notMedia
        case .shortRange, .truncated: self = .cutShort
        }
    }

    /// nil for what the playlist says and not how it came.
    init?(_ error: TrackerError) {
        switch error.reason {
        case .refused(let status): self = .refused(status: status)
        case .unreachable(let reason): self = .transfer(reason)
        case .notAPlaylist, .unexpectedPlaylistKind: self = .notAPlaylist
        case .malformedPlaylist: self = .malformedPlaylist
        case .noVariant, .noSegments, .unsupportedProtection, .silent, .nothingUsable, .openingTimedOut:
            return nil
        }
    }
}
