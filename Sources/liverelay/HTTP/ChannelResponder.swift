import Channel
import HTTPSyntax
import LiveRing
import Media
import Mux
import Playlist

/// Answers HTTP requests for one channel from what is published now.
///
/// Event loops call it concurrently. Playlists are rendered, and compressed, when they are asked for, once per version of
/// the ring.
final class ChannelResponder: Sendable {
    /// Makes a player ask again at once, instead of giving up.
    private static let retryAfter = HeaderField(name: "Retry-After", value: "1")
    /// hls.js and Kodi wait 20 s for an answer.
    private static let longestHold = Duration.seconds(15)

    private let state: ChannelState
    /// Media that a client of the endless transport stream gets at once.
    private let burst: Ticks
    /// Bytes of the channel that were sent to clients.
    let sentBytes: ByteCounter
    private let playlists: PlaylistResponder

    /// - Parameter channel: the channel's slug; nil in a process of one channel.
    init(_ state: ChannelState, burst: Ticks = EndlessStream.Policy().burst, channel: String? = nil) {
        self.state = state
        self.burst = burst
        sentBytes = ByteCounter(channel: channel)
        playlists = PlaylistResponder(state)
    }

    private var snapshot: RingSnapshot? { state.snapshot }

    func response(to target: RequestTarget) -> Response {
        var response = uncountedResponse(to: target)
        response.sentBytes = sentBytes
        return response
    }

    private func uncountedResponse(to target: RequestTarget) -> Response {
        let query = target.query.map { (name: $0.name, value: $0.value) }
        let request = ResourceRequest(path: target.path, query: query)
        if let playlist = PlaylistResource(request) { return playlists.response(playlist, query: target.viewer.query) }
        switch request {
        case .initSection(let name): return file(at: target.path) { $0.index.initializationFile(named: name) }
        case .segment(let name): return file(at: target.path) { $0.index.segmentFile(named: name) }
        case .subtitles(let name): return file(at: target.path) { $0.subtitleFile(named: name) }
        case .endlessStream(let request): return endlessStream(request, at: target.path)
        case .status:
            return Response(contentType: .json, cacheControl: .noStore, body: .bytes(state.status.json, gzip: nil))
        case .health: return .text(.ok, "ok")
        case .readiness: return readiness
        case .page: return Page.channel
        case .livePlaylist, .masterPlaylist, .subtitlePlaylist, .dvrPlaylist, .dvrMasterPlaylist, .dvrSubtitlePlaylist,
            .transportStream, .clip, .metrics:
            return .notFound(target.path)
        case .notFound(.unknownPath): return Page.response(at: target.path) ?? .notFound(target.path)
        case .notFound(.badQuery(let name, let value)): return .text(.badRequest, "\(name)=\(value) cannot be read.")
        case .notFound(.emptyRange): return .text(.badRequest, "end has to be after start.")
        }
    }

    /// Returns an endless response, or one range as a file. Nothing is made before the client reads.
    private func endlessStream(_ request: ResourceRequest.EndlessStreamRequest, at path: String) -> Response {
        var policy = EndlessStream.Policy(burst: burst)
        var isComplete = false
        if request.range != .whole {
            guard let part = snapshot?.part(of: request.range) else {
                return .refusedStream(.notFound, reason: nothingInRange)
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

    /// Returns the work for a long playlist, for a segment as a transport stream, and for a stream of which nothing is
    /// published yet; nil for any other request.
    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        guard let work = uncountedWork(for: target) else { return nil }
        return { [sentBytes] in
            var response = await work()
            response.sentBytes = sentBytes
            return response
        }
    }

    private func uncountedWork(for target: RequestTarget) -> (@Sendable () async -> Response)? {
        let request = ResourceRequest(
            path: target.path, query: target.query.map { (name: $0.name, value: $0.value) })
        if let playlist = PlaylistResource(request) {
            return playlists.deferredResponse(playlist, for: target)
        }
        switch request {
        case .transportStream(.segment(let name)):
            return { [self] in await transportSegment(named: name, at: target.path) }
        case .endlessStream where target.method == .get && snapshot?.hasTransportStream != true:
            return { [self] in
                await waitForTransportStream()
                guard snapshot?.hasTransportStream == true else { return streamNotYetPublished }
                return uncountedResponse(to: target)
            }
        default: return nil
        }
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
            var refusal = Response.text(.serviceUnavailable, "Other clients read too many segments. Ask again.")
            refusal.extraHeaders = [Self.retryAfter]
            return refusal
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

    private var streamNotYetPublished: Response {
        var response = Response.refusedStream(.serviceUnavailable, reason: "Nothing is published yet: see status.json.")
        response.extraHeaders.append(Self.retryAfter)
        return response
    }

    private var nothingInRange: String { snapshot.nothingInRange }

    private var readiness: Response {
        let status = state.status
        if let failure = status.output.writeFailure {
            return .text(.serviceUnavailable, "not ready: \(failure.reason.message)")
        }
        return state.isReady ? .text(.ok, "ready") : .text(.serviceUnavailable, "\(status.state): not ready")
    }
}
