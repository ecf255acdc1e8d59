import Channel
import HTTPSyntax
import LiveRing
import Playlist

/// Answers requests for the playlists of one channel.
///
/// A short playlist is rendered on the event loop that asks for it, and others on a thread of their own.
final class PlaylistResponder: Sendable {
    /// The number of segments that take less than a millisecond to render.
    private static let shortPlaylist = 64
    /// The number of bytes that take less than a millisecond to compress.
    private static let shortText = 16 * 1024
    /// Makes a player ask again at once, instead of giving up.
    private static let retryAfter = HeaderField(name: "Retry-After", value: "1")

    private let state: ChannelState
    private let cache = PlaylistCache()

    init(_ state: ChannelState) { self.state = state }

    /// Answers at once.
    /// - Parameter query: that the playlist's URIs carry, as in `Viewer`.
    func response(_ resource: PlaylistResource, query: Secret?) -> Response {
        guard let publication = state.publication else { return absence(of: resource, nil) }
        let resource = resource.rounded(in: publication.snapshot)
        let playlist = cache.playlist(.init(resource: resource, query: query), of: publication)
        return response(playlist, as: resource, publication)
    }

    /// Returns the work for a playlist that takes longer; nil if it is known already or short.
    func deferredResponse(
        _ resource: PlaylistResource, for target: RequestTarget
    ) -> (@Sendable () async -> Response)? {
        guard let publication = state.publication else { return nil }
        let fields = target.fields
        let resource = resource.rounded(in: publication.snapshot)
        let compressed = fields.range == nil && AcceptEncoding.allowsGzip(fields.acceptEncoding)
        let key = PlaylistCache.Key(resource: resource, query: target.viewer.query)
        if let known = cache.rendered(key, of: publication) {
            if !compressed || known.bytes.count <= Self.shortText || known.gzip.isFinished { return nil }
        } else if resource.segmentCount(in: publication.snapshot) <= Self.shortPlaylist {
            return nil
        }
        return { [self] in
            do throws(PlaylistCache.Refusal) {
                let rendered = try await cache.playlist(
                    key, of: publication, compressed: compressed, client: Self.client(of: fields))
                return response(rendered, as: resource, publication)
            } catch {
                state.update { $0.output.rangesRefused += 1 }
                return refusal
            }
        }
    }

    private func response(
        _ rendered: PlaylistCache.Rendered?, as resource: PlaylistResource, _ publication: ChannelState.Publication
    ) -> Response {
        guard let rendered else { return absence(of: resource, publication.snapshot) }
        return Response(
            contentType: .playlist,
            cacheControl: .playlist(targetDuration: publication.snapshot.index.targetDuration),
            body: .bytes(rendered.bytes, gzip: rendered.gzip))
    }

    /// The answer if a playlist lists nothing. An empty playlist would make a player give up.
    private func absence(of resource: PlaylistResource, _ snapshot: RingSnapshot?) -> Response {
        switch resource {
        case .live(.subtitles(let number)) where snapshot?.subtitles.contains { $0.number == number } == false:
            return .notFound("subs-\(number).m3u8")
        case .live, .master(_, nil), .rewind(.fragmentedMP4, .whole), .rewind(.transportStream, .whole):
            var response = Response.text(.serviceUnavailable, "Nothing is published yet: see status.json.")
            response.extraHeaders = [Self.retryAfter]
            return response
        case .master, .rewind, .selection: return .text(.notFound, snapshot.nothingInRange)
        }
    }

    /// The client as it or its proxy says: a wrong name costs nothing, because all clients together have a limit too.
    private static func client(of fields: RequestTarget.Fields) -> String? {
        fields.peer.map {
            [$0, fields.forwarding.addresses ?? fields.forwarding.forwarded ?? ""].joined(separator: " ")
        }
    }

    private var refusal: Response {
        var response = Response.text(.serviceUnavailable, "Too many parts of the rewind are asked for at once.")
        response.extraHeaders = [Self.retryAfter]
        return response
    }
}

extension RingSnapshot? {
    /// The text of an answer 404 for a range.
    var nothingInRange: String {
        guard let dates = self?.dates else { return "Nothing of that range is in the ring, which is empty." }
        return "Nothing of that range is in the ring, which has \(dates.first.text) to \(dates.end.text)."
    }
}
