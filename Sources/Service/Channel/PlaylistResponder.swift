import Channel
import LiveRing
import Playlist
import Support
import WebServer

/// Answers requests for the playlists of one channel.
///
/// A short playlist is rendered on the event loop that asks for it, and others on a thread of their own.
final class PlaylistResponder: Sendable {
    /// The number of segments that take less than a millisecond to render.
    private static let shortPlaylist = 64
    /// The number of bytes that take less than a millisecond to compress.
    private static let shortText = 16 * 1024

    private let state: ChannelState
    private let cache = PlaylistCache()

    init(_ state: ChannelState) { self.state = state }

    /// Answers at once if the playlist is short, or known already.
    func answer(to resource: Route.Playlist, for target: RequestTarget) -> Answer {
        guard let publication = state.publication else { return .now(absence(of: resource, nil)) }
        let resource = resource.rounded(in: publication.snapshot)
        let key = PlaylistCache.Key(resource: resource, query: target.viewer.query)
        let isCompressed = target.fields.range == nil && AcceptEncoding.allowsGzip(target.fields.acceptEncoding)
        if let known = cache.rendered(key, of: publication) {
            let takesLonger = isCompressed && known.bytes.count > Self.shortText && !known.gzip.isFinished
            if !takesLonger { return .now(response(known, as: resource, publication)) }
        } else if resource.segmentCount(in: publication.snapshot) <= Self.shortPlaylist {
            return .now(response(cache.playlist(key, of: publication), as: resource, publication))
        }
        let client = Self.client(of: target.fields)
        return .later { [self] in
            do throws(PlaylistCache.Refusal) {
                let rendered = try await cache.playlist(key, of: publication, compressed: isCompressed, client: client)
                return response(rendered, as: resource, publication)
            } catch {
                state.update { $0.output.rangesRefused += 1 }
                return refusal
            }
        }
    }

    private func response(
        _ rendered: PlaylistCache.Rendered?, as resource: Route.Playlist, _ publication: ChannelState.Publication
    ) -> Response {
        guard let rendered else { return absence(of: resource, publication.snapshot) }
        return Response(
            contentType: .playlist,
            cacheControl: .playlist(targetDuration: publication.snapshot.index.targetDuration),
            body: .bytes(rendered.bytes, gzip: rendered.gzip))
    }

    /// The answer if a playlist lists nothing. An empty playlist would make a player give up.
    private func absence(of resource: Route.Playlist, _ snapshot: RingSnapshot?) -> Response {
        switch resource {
        case .live(.subtitles(let number)) where snapshot?.subtitles.contains { $0.number == number } == false:
            return .notFound("subs-\(number).m3u8")
        case .live, .master(_, nil), .rewind(.fragmentedMP4, .whole), .rewind(.transportStream, .whole):
            return .unavailable("Nothing is published yet: see status.json.")
        case .master, .rewind, .selection: return .text(.notFound, snapshot.nothingInRange)
        }
    }

    /// The client as it or its proxy says: a wrong name costs nothing, because all clients together have a limit too.
    private static func client(of fields: RequestTarget.Fields) -> String? {
        fields.peer.map {
            [$0, fields.forwarding.addresses ?? fields.forwarding.forwarded ?? ""].joined(separator: " ")
        }
    }

    private var refusal: Response { .unavailable("Too many parts of the rewind are asked for at once.") }
}

extension RingSnapshot? {
    /// The text of an answer 404 for a range.
    var nothingInRange: String {
        guard let dates = self?.dates else { return "Nothing of that range is in the ring, which is empty." }
        return "Nothing of that range is in the ring, which has \(dates.first.text) to \(dates.end.text)."
    }
}
