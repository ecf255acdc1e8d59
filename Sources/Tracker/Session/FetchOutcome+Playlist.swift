import Fetch
import Playlist

extension FetchOutcome {
    /// Parses the answer to a playlist request. Returns the playlist and the URL against which its URIs are resolved.
    ///
    /// - Parameters:
    ///   - url: the URL of the request, for errors.
    ///   - variables: those of the multivariant playlist that names this one.
    func playlist(
        from url: String, variables: [VariableDefinition] = []
    ) throws(TrackerError) -> (document: PlaylistDocument, base: String) {
        switch self {
        case .failure(let error): throw TrackerError(error, url: url)
        case .success(let answer):
            guard answer.isSuccess else { throw TrackerError(.refused(status: answer.status), url: url) }
            do {
                return (try answer.parsePlaylist(imported: variables), answer.finalURL)
            } catch {
                if case .notAPlaylist(let kind, let beginning) = error.reason {
                    throw TrackerError(.notAPlaylist(kind, beginning: beginning), url: url, section: error.section)
                }
                throw TrackerError(.malformedPlaylist(error), url: url, section: error.section)
            }
        }
    }
}

extension FetchOutcome {
    /// Age and max-age of the answer; zero for a failure.
    var cacheFreshness: CacheFreshness {
        if case .success(let answer) = self { answer.cacheFreshness } else { CacheFreshness() }
    }

    /// The least time between two loads of a playlist of this size, so that reading it takes a small part of a core.
    var loadInterval: Duration {
        guard case .success(let answer) = self else { return .zero }
        return .milliseconds(answer.body.count * 1000 / Self.playlistBytesPerSecond)
    }

    /// Bytes of one playlist that are read in a second at most. A day of segments of 2 s is read every 3 s.
    static let playlistBytesPerSecond = 4 << 20
}

extension FetchAnswer {
    /// Parses the body. The last line of a media playlist that may be truncated counts only if it has a line end.
    ///
    /// Otherwise half a URL would be fetched. A playlist that never has that line end is one segment late by this.
    fileprivate func parsePlaylist(imported variables: [VariableDefinition]) throws(PlaylistError) -> PlaylistDocument {
        let document = try PlaylistParser.parse(body, url: finalURL, imported: variables)
        guard endsAtClose, case .media(let playlist) = document, !playlist.hasEndList else { return document }
        guard let lineEnd = body.lastIndex(of: 0x0A), lineEnd + 1 < body.count else { return document }
        return try PlaylistParser.parse(Array(body[...lineEnd]), url: finalURL, imported: variables)
    }
}
