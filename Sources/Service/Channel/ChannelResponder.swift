package import Channel
import LiveRing
package import Media
import Observability
import Support
package import WebServer

/// Answers HTTP requests for one channel from what is published now.
///
/// Event loops call it concurrently. Playlists are rendered, and compressed, when they are asked for, once per version of
/// the ring: short ones on the event loop that asks, others on a thread of their own.
package final class ChannelResponder: Sendable {
    /// hls.js and Kodi wait 20 s for an answer.
    private static let longestHold = Duration.seconds(15)
    /// The number of segments that take less than a millisecond to render.
    private static let shortPlaylist = 64
    /// The number of bytes that take less than a millisecond to compress.
    private static let shortText = 16 * 1024

    private let state: ChannelState
    /// Media that a client of the endless transport stream gets at once.
    private let burst: Ticks
    /// Bytes of the channel that were sent to clients.
    package let sentBytes: ByteCounter
    private let cache = PlaylistCache()

    /// - Parameter channel: the channel's slug; nil in a process of one channel.
    package init(_ state: ChannelState, burst: Ticks = EndlessStream.Policy().burst, channel: String? = nil) {
        self.state = state
        self.burst = burst
        sentBytes = ByteCounter(channel: channel)
    }

    private var snapshot: RingSnapshot? { state.snapshot }

    /// Answers a request for a resource of the channel, and counts what is sent.
    /// - Parameter watch: adds to an endless stream what the process does while somebody reads it.
    func answer(
        to resource: Route.Resource, _ target: RequestTarget,
        watch: @escaping @Sendable (ByteStream) -> ByteStream = { $0 }
    ) -> Answer {
        let answer: Answer =
            switch resource {
            case .playlist(let playlist): answer(to: playlist, for: target)
            case .transportSegment(let name): .later { [self] in await transportSegment(named: name, at: target.path) }
            case .endlessStream(let stream) where target.method == .get && snapshot?.hasTransportStream != true:
                .later { [self] in
                    await waitForTransportStream()
                    guard snapshot?.hasTransportStream == true else {
                        return .refusal(
                            .serviceUnavailable, of: .stream, reason: "Nothing is published yet: see status.json.",
                            retryAfter: 1)
                    }
                    return endlessStream(stream)
                }
            default: .now(response(to: resource, at: target.path))
            }
        return answer.map { [sentBytes] in
            var response = $0
            response.sentBytes = sentBytes
            response.body = response.body.mapStreams(watch)
            return response
        }
    }

    /// The response to a request that takes no time.
    private func response(to resource: Route.Resource, at path: String) -> Response {
        switch resource {
        case .initSection(let name): file(at: path) { $0.index.initializationFile(named: name) }
        case .segment(let name): file(at: path) { $0.index.segmentFile(named: name) }
        case .subtitles(let name): file(at: path) { $0.subtitleFile(named: name) }
        case .endlessStream(let stream): endlessStream(stream)
        case .status:
            Response(contentType: .json, cacheControl: .noStore, body: .bytes(state.status.json, gzip: nil))
        case .health: .text(.ok, "ok")
        case .readiness: readiness
        case .page: Page.channel
        case .pageFile(let file): Page.response(at: file) ?? .notFound(path)
        case .playlist, .transportSegment, .clip, .notFound: .notFound(path)
        case .badQuery(.value(let name, let value)): .text(.badRequest, "\(name)=\(value) cannot be read.")
        case .badQuery(.emptyRange): .text(.badRequest, "end has to be after start.")
        }
    }

    /// Returns an endless response, or a published range as a file. Nothing is made before the client reads.
    private func endlessStream(_ request: Route.EndlessStream) -> Response {
        if let file = transportStreamFile(request) { return file }
        var policy = EndlessStream.Policy(burst: burst)
        var isComplete = false
        if request.range != .whole {
            guard let part = snapshot?.part(of: request.range) else {
                return nothingInRange
            }
            policy.start = .segment(part.first, offset: Ticks(part.offset))
            policy.end = request.end
            policy.longestLag = nil
            isComplete = part.isComplete && request.end != nil
        }
        switch request.speed {
        case .maximum: policy.pace = .none
        case .percent(let percent): policy.pace = .realTime(percent: percent)
        case .automatic: policy.pace = isComplete ? .none : .realTime(percent: 100)
        }
        let reader = EndlessStreamReader(state, policy)
        return Response(
            contentType: .transportStream, cacheControl: .noStore, body: .stream(ByteStream { await reader.next() }))
    }

    /// The file of a range that is published and has no pace.
    private func transportStreamFile(_ request: Route.EndlessStream) -> Response? {
        if case .percent = request.speed { return nil }
        guard let snapshot, let file = snapshot.transportStreamFile(request.range) else { return nil }
        let body = MadeFile(byteCount: file.byteCount) { [state] bytes in
            let reader = TransportFileReader(state, file, in: snapshot, bytes: bytes)
            return ByteStream { await reader.next() }
        }
        return Response(
            contentType: .transportStream, cacheControl: .noStore,
            etag: "\"\(ContentHash.hexName(of: Array(file.name.utf8)))\"", body: .made(body))
    }

    /// Waits for the first media, so that a stream begins with its tables and not with silence.
    private func waitForTransportStream() async {
        let clock = ContinuousClock()
        let end = clock.now + Self.longestHold
        while clock.now < end, !Task.isCancelled, !state.isOver, snapshot?.hasTransportStream != true {
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func transportSegment(named name: String, at path: String) async -> Response {
        guard let snapshot, let entry = snapshot.index.entry(ofTransportStream: name) else {
            return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
        }
        do throws(TransportStreamError) {
            let file = try await state.transportStreams.file(of: entry, in: snapshot)
            return Response(
                contentType: .transportStream, cacheControl: .immutable, etag: "\"\(name)\"",
                body: .bytes(file.bytes, gzip: nil), held: file)
        } catch .busy {
            return .unavailable("Other clients read too many segments. Ask again.")
        } catch {
            return .notFound(path)
        }
    }

    /// Returns a file of the spool. Names are never reused for other bytes, so the name is the entity tag.
    private func file(at path: String, _ find: (RingSnapshot) -> SpoolFile?) -> Response {
        guard let snapshot, let file = find(snapshot) else {
            return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
        }
        return Response(
            contentType: snapshot.index.isAudioOnly(file.name) ? .audioMP4 : MimeType(fileName: file.name),
            cacheControl: .immutable, etag: "\"\(file.name)\"",
            body: .file(path: snapshot.path(of: file), byteCount: file.byteCount))
    }

    /// With a body, unlike a stream that is refused for now: people read what there is, and no client plays a 404.
    private var nothingInRange: Response {
        let reason = snapshot.nothingInRange
        var response = Response.text(.notFound, reason)
        response.extraHeaders = [HeaderField(name: "X-Liverelay-Reason", value: reason)]
        return response
    }

    private var readiness: Response {
        let status = state.status
        if let failure = status.output.writeFailure {
            return .text(.serviceUnavailable, "not ready: \(failure.reason.message)")
        }
        return state.isReady ? .text(.ok, "ready") : .text(.serviceUnavailable, "\(status.state): not ready")
    }
}

// MARK: - Playlists

extension ChannelResponder {
    /// Answers at once if the playlist is short, or known already.
    private func answer(to resource: Route.Playlist, for target: RequestTarget) -> Answer {
        guard let publication = state.publication else { return .now(absence(of: resource, nil)) }
        let resource = resource.rounded(in: publication.snapshot)
        let key = PlaylistCache.Key(resource: resource, query: target.viewer.query)
        let isCompressed = target.fields.range == nil && AcceptField.allowsGzip(target.fields.acceptEncoding)
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
                return .unavailable("Too many parts of the rewind are asked for at once.")
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
}

extension RingSnapshot? {
    /// The text of an answer 404 for a range.
    var nothingInRange: String {
        guard let dates = self?.dates else { return "Nothing of that range is in the ring, which is empty." }
        return "Nothing of that range is in the ring, which has \(dates.first.text) to \(dates.end.text)."
    }
}
