import Fetch
import Playlist
import Support
import Tracker

/// A URL, and the byte range of it that was requested.
struct CapturedResource: Hashable, Sendable {
    let url: String
    let byteRange: ByteRange?
}

/// The playlists, segments, keys and maps that the playlists of an excerpt name, by absolute URL.
struct ReferencedResources {
    private(set) var playlists: Set<String> = []
    private var others: Set<CapturedResource> = []
    private var variables: [VariableDefinition] = []

    func contains(_ exchange: CapturedExchange) -> Bool {
        others.contains(CapturedResource(url: exchange.url, byteRange: exchange.byteRange))
    }

    /// Adds the resources that a playlist names; a malformed playlist adds none, as a session cannot read it either.
    mutating func insertReferences(
        of exchange: CapturedExchange, in capture: CaptureDirectory
    ) throws(CaptureError) {
        guard case .answer(let recorded) = exchange.ending, exchange.isSuccess else { return }
        let answer = try capture.answer(recorded, to: exchange.url)
        let base = answer.finalURL
        switch try? PlaylistParser.parse(answer.body, url: base, imported: variables) {
        case .multivariant(let playlist):
            variables = playlist.variables
            let uris = playlist.variants.map(\.uri) + playlist.renditions.compactMap(\.uri)
            playlists.formUnion(uris.map { URIReference.resolve($0, against: base) })
        case .media(let playlist):
            for segment in playlist.segments {
                guard let requests = try? SegmentRequests(segment, base: base) else { continue }
                insert(requests)
            }
        case nil: return
        }
    }

    /// Adds each resource whole as well: an origin may ignore the byte range.
    private mutating func insert(_ requests: SegmentRequests) {
        for request in [requests.media] + requests.resources {
            others.insert(CapturedResource(url: request.url, byteRange: request.byteRange))
            others.insert(CapturedResource(url: request.url, byteRange: nil))
        }
    }
}
