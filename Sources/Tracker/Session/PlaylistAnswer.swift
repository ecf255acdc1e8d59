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
                let document = try PlaylistParser.parse(
                    answer.body, url: answer.finalURL, imported: variables, mayBeTruncated: answer.endsAtClose)
                return (document, answer.finalURL)
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
