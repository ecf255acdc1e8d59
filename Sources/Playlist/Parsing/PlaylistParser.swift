/// A playlist of either kind.
package enum PlaylistDocument: Equatable, Sendable {
    case media(MediaPlaylist)
    case multivariant(MultivariantPlaylist)
}

/// Reads a playlist of a kind not known yet.
package enum PlaylistParser {
    /// The first tag that only one kind has decides (RFC 8216 §4.1), one that governs media before one that does not:
    /// multivariant playlists with EXT-X-PLAYLIST-TYPE exist. Without any it is a media playlist.
    ///
    /// - Parameters: `address`: of the playlist after redirects, for EXT-X-DEFINE:QUERYPARAM; `imported`: variables of
    ///   the multivariant playlist that named this one, for EXT-X-DEFINE:IMPORT.
    package static func parse(
        _ bytes: [UInt8], url: String = "", imported: [VariableDefinition] = []
    ) throws(PlaylistError) -> PlaylistDocument {
        if try isMultivariant(bytes) {
            return .multivariant(try MultivariantPlaylistParser.parse(bytes, url: url))
        }
        return .media(try MediaPlaylistParser.parse(bytes, url: url, imported: imported))
    }

    private static func isMultivariant(_ bytes: [UInt8]) throws(PlaylistError) -> Bool {
        var weakVote: Bool?
        for line in try PlaylistLines(playlist: bytes) {
            guard case .tag(let tag, _) = line.content, tag.scope != .anyPlaylist else { continue }
            let vote = tag.scope == .multivariantPlaylist
            if tag.governsMedia { return vote }
            weakVote = weakVote ?? vote
        }
        return weakVote ?? false
    }
}
