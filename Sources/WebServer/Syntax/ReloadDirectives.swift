package import LiveRing
import Playlist

/// The directives of a player that loads a playlist again (draft-pantos-hls-rfc8216bis §6.2.5).
package struct ReloadDirectives: Equatable, Sendable {
    /// `_HLS_msn`: the answer waits until the playlist has this segment; nil: it does not wait.
    package let mediaSequence: UInt64?
    /// `_HLS_skip`: whether segments may be skipped that the player has.
    package let skips: Bool

    package init(_ query: [RequestTarget.QueryItem]) throws(RewindRange.BadQuery) {
        mediaSequence = try Self.number("_HLS_msn", in: query)
        // There are no parts: the segment of a part has all of them when it is there. A part alone names none.
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
    /// How the viewer wants ad breaks: `ads`; nil if the query does not say it.
    package func adPresentation() throws(RewindRange.BadQuery) -> AdPresentation? {
        guard let text = value(of: "ads") else { return nil }
        guard let ads = AdPresentation(rawValue: text) else { throw .value(name: "ads", value: text) }
        return ads
    }
}
