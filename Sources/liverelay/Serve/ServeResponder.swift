import Channel
import ChannelList
import HTTPSyntax
import Playlist

/// Answers HTTP requests for many channels: those for the list, and those below each channel's path.
///
/// A channel answers as it does alone, because its playlists have relative URIs.
final class ServeResponder: Sendable {
    let host: ChannelHost
    let addresses: ServerAddresses
    let tuner: TunerIdentity
    /// nil: no guide is read.
    let guide: GuideService?
    let api: APIResponder
    /// Documents that change with the list alone, and those of the moment.
    let (lists, moments) = (DocumentCache(label: "liverelay.lists"), DocumentCache(label: "liverelay.moments"))

    /// The connections of the server.
    let clients: @Sendable () -> RelayStatus.Clients

    init(
        _ host: ChannelHost, addresses: ServerAddresses = ServerAddresses(), tuner: TunerIdentity = TunerIdentity(),
        guide: GuideService? = nil, api: APIResponder = APIResponder(),
        clients: @escaping @Sendable () -> RelayStatus.Clients = { RelayStatus.Clients() }
    ) {
        self.clients = clients
        self.host = host
        self.addresses = addresses
        self.tuner = tuner
        self.guide = guide
        self.api = api
    }

    func response(to target: RequestTarget) -> Response {
        switch ServeRequest(target) {
        case .page: Page.overview
        case .pageFile: Page.response(at: target.path) ?? .notFound(target.path)
        case .folder(let name):
            host.directory[name] == nil
                ? .notFound(target.path) : Page.redirect(toFolder: name, query: target.viewer.query)
        case .health: .text(.ok, "ok")
        case .readiness: .text(.ok, "ready: \(host.directory.channels.count) channels are listed")
        case .channel(let name, let path, let use): response(of: name, at: path, use, to: target)
        case .tuner(let request): document(request, target)
        case .channelList, .status, .api, .guide, .notFound: .notFound(target.path)
        }
    }

    /// Returns the work for a request that may have to wait for its channel; nil for any other request.
    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        if let work = documentWork(for: target) { return work }
        let request = ServeRequest(target)
        if case .tuner(let tuner) = request { return { [self] in await response(to: tuner, target) } }
        if case .guide(let isGzipFile) = request, let guide {
            return { await guide.response(to: target, asGzipFile: isGzipFile) }
        }
        guard case .channel(let name, let path, let use) = request else { return nil }
        let below = target.at(path)
        // A HEAD starts nothing, but its answer may take as long.
        guard target.method == .get else { return host.running(name)?.responder.deferredResponse(to: below) }
        switch use {
        case .none: return nil
        case .presence: return host.recordRequest(of: name)?.responder.deferredResponse(to: below)
        case .watch(let isStream):
            if let running = host.recordRequest(of: name, isStream: isStream) {
                // The playlists of a run that publishes take no time.
                guard let work = running.responder.deferredResponse(to: below) else { return nil }
                return { [self] in present(await work(), of: running) }
            }
            guard host.directory[name] != nil else { return nil }
            return { [self] in
                switch await host.waitUntilRunning(name, isStream: isStream) {
                case .running(let running): answer(of: running, to: below)
                case .refused(let refusal, let status): refusal.response(isStream: isStream, status: status)
                }
            }
        }
    }

    /// Returns the work for a request that changes something; nil where nothing can be changed.
    func action(for target: RequestTarget) -> RequestAction? {
        ServeRequest(target) == .api ? api.action(for: target) : nil
    }

    private func response(
        of name: String, at path: String, _ use: ServeRequest.Use, to target: RequestTarget
    ) -> Response {
        // The files of the page are the same for every channel, whether it exists or not.
        if let file = Page.response(at: path) { return file }
        guard host.directory[name] != nil else { return .notFound(target.path) }
        let below = target.at(path)
        if use == .none, let known = descriptiveResponse(of: name, to: below) { return known }
        let running = target.method == .get ? host.recordRequest(of: name) : host.running(name)
        if let running { return answer(of: running, to: below) }
        guard case .watch(let isStream) = use else { return .notFound(target.path) }
        if target.method == .get {
            // The run ended a moment ago.
            return ChannelSupervisor.Refusal.startTimedOut.response(isStream: isStream, status: nil)
        }
        // A HEAD only asks what the path is: nothing starts.
        return Response(contentType: isStream ? .transportStream : .playlist, cacheControl: .noStore, body: .empty)
    }

    private func answer(of running: RunningChannel, to target: RequestTarget) -> Response {
        present(running.responder.response(to: target), of: running)
    }

    /// Returns `response` with the presence of its viewer.
    private func present(_ response: Response, of running: RunningChannel) -> Response {
        var response = response
        if case .stream(let stream) = response.body {
            response.body = .stream(StreamPresence(of: running, at: host).stream(stream))
        }
        return response
    }
}

// MARK: - Descriptions

extension ServeResponder {
    /// Answers what can be asked of a channel without watching it; nil if only its run can.
    private func descriptiveResponse(of name: String, to target: RequestTarget) -> Response? {
        if target.path == "/" { return Page.listedChannel }
        if let running = host.running(name) { return running.responder.response(to: target) }
        let listing = host.listing(of: name)
        switch target.path {
        case "/status.json":
            let status = ServeStatus.Channel(name, listing?.channel, listing?.entry, status: nil, at: host.uptime)
            return Response(
                contentType: .json, cacheControl: .noStore, body: .bytes(StatusDocument.json(of: status), gzip: nil))
        case "/healthz": return .text(.ok, "ok")
        case "/readyz": return .text(.serviceUnavailable, "\(ServeStatus.state(of: listing?.entry)): not ready")
        default: return nil
        }
    }

    /// The URL of this server as the client sees it, without a slash at its end.
    func base(of target: RequestTarget) -> String { addresses.baseURL(of: target.fields) }
}

// MARK: - Refusals

extension ChannelSupervisor.Refusal {
    /// The reason, as one line of plain ASCII text for a header field.
    private func reason(_ status: RelayStatus?) -> String {
        let text =
            switch self {
            case .startTimedOut:
                "The channel published nothing in time. "
                    + (status?.reason?.message ?? "Its upstream has not delivered a segment yet.")
            case .full(let limit): "All \(limit) channels that may run at once are being watched."
            case .failed(let reason, _): reason
            }
        return String(text.unicodeScalars.map { (0x20..<0x7F).contains($0.value) ? Character($0) : "?" }.prefix(500))
    }

    private var retryAfter: Int64 {
        guard case .failed(_, let time) = self else { return 1 }
        return max(1, time.components.seconds)
    }

    /// The answer 503. A stream has no body, because some clients would play it.
    fileprivate func response(isStream: Bool, status: RelayStatus?) -> Response {
        let reason = reason(status)
        var response = Response.text(.serviceUnavailable, reason)
        if isStream { (response.contentType, response.body) = (nil, .empty) }
        response.extraHeaders = [
            HeaderField(name: "Retry-After", value: "\(retryAfter)"),
            HeaderField(name: "X-Liverelay-Reason", value: reason),
        ]
        if isStream { response.extraHeaders.append(tunerError.header) }
        return response
    }
}
