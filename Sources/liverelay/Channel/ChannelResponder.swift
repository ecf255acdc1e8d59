import Compression
import LiveRing
import Playlist
import Synchronization
import Tracker

/// What viewers see of one channel: its ring, its status, and playlists compressed once per change.
///
/// It answers on event loops while the channel's task publishes, so all that it holds is behind a lock that is never held
/// for longer than it takes to copy a value.
final class ChannelResponder: Sendable {
    private struct State: Sendable {
        var ring: DVRRing?
        var status: RelayStatus
        /// Of the status's state, by the site's clock.
        var stateSince = Duration.zero
        /// Nothing can be written since then, by the site's clock.
        var writeFailureSince: Duration?
        var rendered: [String: RenderedPlaylist] = [:]
    }

    /// A playlist as it was at one version of the ring.
    private struct RenderedPlaylist: Sendable {
        var version: UInt64
        var response: Response
    }

    /// Players ask again at once; a person who is too early reads why.
    private static let retryAfter = HeaderField(name: "Retry-After", value: "1")

    private let state: Mutex<State>
    private let now: @Sendable () -> Duration

    /// - Parameter now: time since the channel was started, for the status.
    init(upstream: String, now: @escaping @Sendable () -> Duration) {
        state = Mutex(State(status: RelayStatus(upstream: upstream)))
        self.now = now
    }

    func setRing(_ ring: DVRRing) {
        state.withLock {
            $0.ring = ring
            // Another ring counts its versions from the beginning.
            $0.rendered = [:]
        }
    }

    var status: RelayStatus {
        var (status, since, troubleSince) = state.withLock { ($0.status, $0.stateSince, $0.writeFailureSince) }
        let now = now()
        status.uptime = now.seconds
        status.secondsInState = (now - since).seconds
        if let troubleSince { status.output.writeFailure?.seconds = (now - troubleSince).seconds }
        if let snapshot = snapshot { status.update(from: snapshot) }
        return status
    }

    func update(_ change: (inout RelayStatus) -> Void) { state.withLock { change(&$0.status) } }

    /// Whether what is published can be written.
    func record(_ trouble: SpoolFailure) {
        state.withLock {
            $0.writeFailureSince = trouble.error == nil ? nil : $0.writeFailureSince ?? now()
            $0.status.output.writeFailure = RelayStatus.WriteFailure(trouble)
        }
    }

    /// How the intake stands.
    /// - Parameter time: of the intake's session.
    func record(_ upstream: UpstreamStatus, at time: Duration) {
        let isOver = state.withLock {
            $0.status.update(from: upstream, at: time)
            return $0.status.state.isFinal
        }
        if !isOver { setState(RelayStatus.State(upstream), reason: upstream.stall?.words(at: time)) }
    }

    /// The state changes, or why it is what it is.
    func setState(_ newState: RelayStatus.State, reason: String?) {
        state.withLock {
            if $0.status.state != newState { $0.stateSince = now() }
            ($0.status.state, $0.status.reason) = (newState, reason)
        }
    }

    /// What is published now; nil before the ring is open.
    var snapshot: RingSnapshot? { state.withLock { $0.ring }?.snapshot }

    func response(to target: RequestTarget) -> Response {
        let query = target.query.map { (name: $0.name, value: $0.value) }
        switch ResourceRequest(path: target.path, query: query) {
        case .livePlaylist: return playlist("live") { $0.livePlaylist }
        case .masterPlaylist: return playlist("master") { $0.masterPlaylist() }
        case .subtitlePlaylist(let number): return subtitlePlaylist(number)
        case .dvrSubtitlePlaylist(let number, let range):
            return ranged(at: target.path) { $0.subtitlePlaylist(number, range) }
        case .dvrMasterPlaylist(let range): return ranged(at: target.path) { $0.dvrMasterPlaylist(range) }
        case .dvrPlaylist(.whole): return playlist("dvr") { $0.dvrPlaylist(.whole) }
        case .dvrPlaylist(let range): return ranged(at: target.path) { $0.dvrPlaylist(range) }
        case .initSection(let name): return file(at: target.path) { $0.index.initializationFile(named: name) }
        case .segment(let name): return file(at: target.path) { $0.index.segmentFile(named: name) }
        case .subtitles(let name): return file(at: target.path) { $0.subtitleFile(named: name) }
        case .status: return Response(contentType: .json, cacheControl: .noStore, body: .bytes(status.json, gzip: nil))
        case .health: return .text(.ok, "ok")
        case .readiness: return readiness
        case .page: return .text(.ok, resourceList)
        case .clip, .metrics: return .notFound(target.path)
        case .notFound(.unknownPath): return .notFound(target.path)
        case .notFound(.badQuery(let name, let value)): return .text(.badRequest, "\(name)=\(value) cannot be read.")
        case .notFound(.emptyRange): return .text(.badRequest, "end has to be after start.")
        }
    }

    /// A playlist of the ring as it is now, rendered and compressed once for each of its versions.
    private func playlist(_ name: String, _ render: (RingSnapshot) -> [UInt8]?) -> Response {
        guard let snapshot else { return notYetPublished }
        if let rendered = state.withLock({ $0.rendered[name] }), rendered.version == snapshot.version {
            return rendered.response
        }
        guard let bytes = render(snapshot) else { return notYetPublished }
        let response = Response(
            contentType: .playlist, cacheControl: .maxAge(seconds: max(1, snapshot.index.targetDuration / 2)),
            body: .bytes(bytes, gzip: Gzip.compress(bytes)))
        state.withLock { $0.rendered[name] = RenderedPlaylist(version: snapshot.version, response: response) }
        return response
    }

    private func subtitlePlaylist(_ number: Int) -> Response {
        let isKnown = snapshot?.subtitles.contains { $0.number == number } ?? true
        return isKnown ? playlist("subs-\(number)") { $0.subtitlePlaylist(number) } : .notFound("subs-\(number).m3u8")
    }

    private func ranged(at path: String, _ render: (RingSnapshot) -> [UInt8]?) -> Response {
        guard let snapshot, let bytes = render(snapshot) else {
            return .text(.notFound, "Nothing of that range is in the ring.")
        }
        return Response(
            contentType: .playlist, cacheControl: .maxAge(seconds: max(1, snapshot.index.targetDuration / 2)),
            body: .bytes(bytes, gzip: Gzip.compress(bytes)))
    }

    /// A name never comes back with other bytes, so it is its own entity tag.
    private func file(at path: String, _ find: (RingSnapshot) -> SpoolFile?) -> Response {
        guard let snapshot, let file = find(snapshot) else {
            return .notFound(path, cacheControl: .maxAge(seconds: snapshot?.index.targetDuration ?? 1))
        }
        return Response(
            contentType: snapshot.index.isSoundAlone(file.name) ? .audioMP4 : MimeType(fileName: file.name),
            cacheControl: .immutable, etag: "\"\(file.name)\"",
            body: .file(path: snapshot.path(of: file), byteCount: file.byteCount))
    }

    /// An empty list makes a player give up; this makes it ask again.
    private var notYetPublished: Response {
        var response = Response.text(.serviceUnavailable, "Nothing is published yet: see status.json.")
        response.extraHeaders = [Self.retryAfter]
        return response
    }

    private var readiness: Response {
        let status = status
        let isReady = snapshot?.isFilled == true && (status.state == .live || status.state == .ended)
        if let trouble = status.output.writeFailure {
            return .text(.serviceUnavailable, "not ready: \(trouble.reason)")
        }
        return isReady ? .text(.ok, "ready") : .text(.serviceUnavailable, "\(status.state): not ready")
    }

    private var resourceList: String {
        """
        liverelay: \(status.upstream.url)
        live     live.m3u8
        rewind   dvr.m3u8    ?last=600  ?start=…&end=… (ISO 8601 or seconds since 1970)
        master   master.m3u8, with subtitles; dvr-master.m3u8 of the rewind
        status   status.json  healthz  readyz
        """
    }
}
