package import LiveRing
import Playlist

/// The directives of a player that reloads a playlist (draft-pantos-hls-rfc8216bis §6.2.5).
package struct ReloadDirectives: Equatable, Sendable {
    /// `_HLS_msn`: the answer waits until the playlist contains this segment; nil: it does not wait.
    package let mediaSequence: UInt64?
    /// `_HLS_skip`: whether segments that the player already has may be skipped.
    package let skips: Bool

    package init(_ query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) {
        mediaSequence = try Self.number("_HLS_msn", in: query)
        // Playlists contain no partial segments, and a published segment includes all of its parts. A part without a
        // segment is an error.
        if let part = try Self.number("_HLS_part", in: query), mediaSequence == nil {
            throw .value(name: "_HLS_part", value: String(part))
        }
        skips = ["YES", "v2"].contains(query.value(of: "_HLS_skip"))
    }

    private static func number(
        _ name: String, in query: [RequestTarget.QueryItem]
    ) throws(RewindRange.BadQuery) -> UInt64? {
        guard let text = query.value(of: name) else { return nil }
        guard let number = UInt64(text), number < .max / 2 else { throw .value(name: name, value: text) }
        return number
    }
}

extension [RequestTarget.QueryItem] {
    /// How the viewer wants ad breaks to be presented: `ads`; nil if the query does not contain it.
    package func adPresentation() throws(RewindRange.BadQuery) -> AdPresentation? {
        guard let text = value(of: "ads") else { return nil }
        guard let ads = AdPresentation(rawValue: text) else { throw .value(name: "ads", value: text) }
        return ads
    }
}
