import DASH
import Fetch
import Playlist
import Support

/// A document that an upstream answers with, recognized by its first bytes.
enum UpstreamDocument: Sendable {
    case playlist(PlaylistDocument)
    case manifest(DASHManifest)
}

extension FetchOutcome {
    /// Parses the answer to a playlist request. Returns the document and the URL against which its URIs are resolved.
    ///
    /// - Parameters:
    ///   - url: the URL of the request, for errors.
    ///   - variables: those of the multivariant playlist that names this one.
    func playlist(
        from url: String, variables: [VariableDefinition] = []
    ) throws(TrackerError) -> (document: UpstreamDocument, base: String) {
        switch self {
        case .failure(let error): throw TrackerError(error, url: url)
        case .success(let answer):
            guard answer.isSuccess else {
                throw TrackerError(
                    .refused(status: answer.status), url: url, words: answer.words(withoutSecretsOf: url))
            }
            guard (try? ResourcePart(of: answer, range: nil)) != nil else {
                throw TrackerError(.unreachable(.shortBody), url: url)
            }
            do {
                return (try answer.document(variables: variables), answer.finalURL)
            } catch {
                if case .notAPlaylist(let kind, let beginning) = error.reason {
                    throw TrackerError(
                        .notAPlaylist(kind, beginning: beginning), url: url, section: error.section,
                        words: answer.words(withoutSecretsOf: url))
                }
                throw TrackerError(.malformedPlaylist(error), url: url, section: error.section)
            }
        }
    }
}

extension Fetcher {
    /// Whether a source answers within seconds with a media playlist or a manifest, perhaps by way of multivariant playlists.
    package func findsPlaylist(at url: String, of source: Int) async -> Bool {
        var (purpose, url) = (FetchRequest.Purpose.multivariantPlaylist, url)
        for _ in 0..<3 {
            var request = FetchRequest(purpose, url: url)
            request.silenceLimit = .seconds(2)
            request.source = source
            guard let (document, base) = try? await fetch(request).playlist(from: url) else { return false }
            guard case .playlist(.multivariant(let playlist)) = document, let variant = playlist.variants.first else {
                return true
            }
            (purpose, url) = (.mediaPlaylist, URIReference.resolve(variant.uri, against: base))
        }
        return false
    }
}

extension FetchAnswer {
    fileprivate func document(variables: [VariableDefinition]) throws(PlaylistError) -> UpstreamDocument {
        if DASHManifestParser.isManifest(body) {
            return .manifest(try DASHManifestParser.parse(body, url: finalURL))
        }
        return .playlist(
            try PlaylistParser.parse(body, url: finalURL, imported: variables, mayBeTruncated: endsAtClose))
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
