/// The reason why one attempt to fetch media, a key or a map failed.
package enum FetchFailure: Error, Equatable, Sendable {
    case refused(status: Int)
    /// The transfer failed. `ipAddress` is the host's address, if the request was denied because of it.
    case unreachable(FetchError.Reason, ipAddress: String? = nil)
    /// A page of HTML or XML, a JSON answer, or a playlist.
    case notMedia
    case empty
    /// The answer contains fewer bytes than the range that was requested.
    case shortRange
    /// The answer contains other bytes than the range that was requested, by Content-Range or by the length of the
    /// body.
    case wrongRange
    /// The body ended with its connection, inside a packet, a box or a cipher block.
    case truncated
    /// The body ended with its connection, and plays for much shorter than its EXTINF says.
    case tooShort
}

/// A kind of fault; failed fetches are counted by kind.
package enum FetchFault: Hashable, Sendable {
    case refused(status: Int)
    case transfer(FetchError.Reason)
    /// A page, an error message or an empty body in place of a segment, a key or a map.
    case notMedia
    /// The body ends inside a unit of its format.
    case cutShort
    /// Other bytes than the range that was requested.
    case wrongRange
    /// A page or an empty body in place of a playlist.
    case notAPlaylist
    case malformedPlaylist

    /// The name in `/status.json`: `http404`, the name of the case, or the raw value of the transfer's reason.
    package var name: String {
        switch self {
        case .refused(let status): "http\(status)"
        case .transfer(let reason): reason.rawValue
        case .notMedia: "notMedia"
        case .cutShort: "cutShort"
        case .wrongRange: "wrongRange"
        case .notAPlaylist: "notAPlaylist"
        case .malformedPlaylist: "malformedPlaylist"
        }
    }

    package init(_ failure: FetchFailure) {
        switch failure {
        case .refused(let status): self = .refused(status: status)
        case .unreachable(let reason, _): self = .transfer(reason)
        case .notMedia, .empty: self = .notMedia
        case .shortRange, .truncated, .tooShort: self = .cutShort
        case .wrongRange: self = .wrongRange
        }
    }
}
