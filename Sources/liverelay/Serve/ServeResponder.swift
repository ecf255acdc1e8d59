import Channel
import ChannelList
import HTTPSyntax

/// Answers HTTP requests for many channels: those for the list, and those below each channel's path.
///
/// A channel answers as it does alone, because its playlists have relative URIs.
final class ServeResponder: Sendable {
    let host: ChannelHost
    let addresses: ServerAddresses
    let tuner: TunerIdentity
    private let api: APIResponder

    init(
        _ host: ChannelHost, addresses: ServerAddresses = ServerAddresses(), tuner: TunerIdentity = TunerIdentity(),
        api: APIResponder = APIResponder()
    ) {
        self.host = host
        self.addresses = addresses
        self.tuner = tuner
        self.api = api
    }

    func response(to target: RequestTarget) -> Response {
        switch ServeRequest(target) {
        case .page: .text(.ok, page(base: base(of: target)))
        case .channelList(let format, let group): channelList(format, group: group, base: base(of: target))
        case .status:
            Response(
                contentType: .json, cacheControl: .noStore,
                body: .bytes(StatusDocument.json(of: ServeStatus(host.overview)), gzip: nil))
        case .api: api.response(to: target)
        case .health: .text(.ok, "ok")
        case .readiness: .text(.ok, "ready: \(host.directory.channels.count) channels are listed")
        case .channel(let name, let path, let use): response(of: name, at: path, use, to: target)
        case .tuner(let request): document(request, target)
        case .notFound: .notFound(target.path)
        }
    }

    /// Returns the work for a request that may have to wait for its channel; nil for any other request.
    func deferredResponse(to target: RequestTarget) -> (@Sendable () async -> Response)? {
        let request = ServeRequest(target)
        if case .tuner(let tuner) = request { return { [self] in await response(to: tuner, target) } }
        guard case .channel(let name, let path, let use) = request else { return nil }
        let below = target.below(path)
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
        guard host.directory[name] != nil else { return .notFound(target.path) }
        let below = target.below(path)
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

extension RequestTarget {
    /// The same request for a path below its channel.
    fileprivate func below(_ path: String) -> RequestTarget {
        RequestTarget(method: method, path: path, query: query, fields: fields)
    }
}

// MARK: - Descriptions

extension ServeResponder {
    /// Answers what can be asked of a channel without watching it; nil if only its run can.
    private func descriptiveResponse(of name: String, to target: RequestTarget) -> Response? {
        if let running = host.running(name) { return running.responder.response(to: target) }
        let entry = host.overview.channels[name]
        switch target.path {
        case "/status.json":
            let status = ServeStatus.Channel(name, host.directory[name], entry, status: nil, at: host.overview.uptime)
            return Response(
                contentType: .json, cacheControl: .noStore, body: .bytes(StatusDocument.json(of: status), gzip: nil))
        case "/healthz": return .text(.ok, "ok")
        case "/readyz": return .text(.serviceUnavailable, "\(ServeStatus.state(of: entry)): not ready")
        case "/": return .text(.ok, "\(host.directory[name]?.name ?? name)\nlive.m3u8  dvr.m3u8  master.m3u8  live.ts")
        default: return nil
        }
    }

    private func page(base: String) -> String {
        let overview = host.overview
        let channels = overview.directory.channels.map { channel in
            "\(base)/\(channel.slug)/live.m3u8  \(ServeStatus.state(of: overview.channels[channel.slug]))  \(channel.name)"
        }
        let head = [
            "liverelay: \(channels.count) channels", "list     \(base)/playlist.m3u   ?format=ts",
            "status   \(base)/status.json", "",
        ]
        return (head + channels).joined(separator: "\n")
    }

    /// The list of all channels, or of one group, with URLs of this server.
    private func channelList(_ format: StreamFormat, group: String?, base: String) -> Response {
        let text = ChannelListWriter(baseURL: base, format: format).write(host.directory.channels, group: group)
        return Response(
            contentType: .channelList, cacheControl: .noStore, body: .bytes(Array(text.utf8), gzip: nil))
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
