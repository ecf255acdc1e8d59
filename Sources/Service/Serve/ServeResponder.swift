import Channel
package import ChannelList
import Export
import Fleet
package import Guide
package import HTTP
import LiveRing
package import Observability
package import Support

/// Answers HTTP requests for the channels of a process: requests for the list, and requests below each channel's path,
/// or requests for the only channel, whose paths are at the root.
///
/// A channel answers in the same way in both cases, because its playlists have relative URIs.
package final class ServeResponder: Responder {
    let host: ChannelHost
    let addresses: ForwardedAddresses
    let tuner: TunerDevice
    let guide: GuideService?
    /// nil: there is no API.
    private let api: APIResponder?
    var hasAPI: Bool { api != nil }
    /// nil: channels are relayed. Otherwise only archives are served.
    private let archives: StoredArchives?
    /// nil: the server makes no recordings on request.
    let recordings: RecordingService?
    let health: HealthRecorder
    private let tokens: ServerTokens
    private let metrics: MetricsResponder?
    /// The other nodes of the fleet; nil: this process runs each channel of the list alone.
    let peers: PeerClient?
    let fleetDocuments: FleetDocuments?
    private let streamClients: ClientEvents
    /// Documents that change only with the list.
    let lists = DocumentCache(label: "liverelay.lists")
    /// Documents of the moment, metrics among them.
    let moments: DocumentCache
    /// Programs of single channels, which clients request one by one.
    let programs = DocumentCache(label: "liverelay.programs", pendingLimit: 1024)

    let clients: @Sendable () -> ClientCounts

    package init(
        _ host: ChannelHost, addresses: ForwardedAddresses = ForwardedAddresses(),
        tuner: TunerDevice? = nil, guide: GuideService? = nil, api: APIResponder? = nil,
        recordings: RecordingService? = nil, archives: StoredArchives? = nil,
        health: HealthRecorder = HealthRecorder(), tokens: ServerTokens = ServerTokens(),
        metrics: MetricsResponder? = nil, peers: PeerClient? = nil, streamClients: ClientEvents = ClientEvents(),
        clients: @escaping @Sendable () -> ClientCounts = { ClientCounts() }
    ) {
        self.clients = clients
        self.host = host
        self.addresses = addresses
        self.tuner = tuner ?? TunerDevice(tunerCount: host.policy.tunerCount)
        self.guide = guide
        self.api = api
        self.recordings = recordings
        self.archives = archives
        self.health = health
        self.tokens = tokens
        self.metrics = metrics
        self.peers = peers
        fleetDocuments = peers.flatMap { peers in host.fleet.map { FleetDocuments($0, peers) } }
        self.streamClients = streamClients
        moments = metrics?.documents ?? DocumentCache(label: "liverelay.moments")
    }

    package var paths: Route.Paths { host.isSingle ? .channel : .list }

    package var access: (tokens: ServerTokens, policy: any AccessPolicy)? { (tokens, host.directory) }

    package func tokenDocument(for route: Route, _ target: RequestTarget) -> Response? {
        switch route {
        case .page, .channel(_, .page): target.query.value(of: "token") == nil ? Page.token : Page.wrongToken
        default: nil
        }
    }

    package func answer(to route: Route, _ target: RequestTarget) -> Answer {
        if host.isHandingOver, isForSuccessor(route) { return .now(.redirect(.temporaryRedirect, to: target)) }
        return answerHere(to: route, target)
    }

    /// Whether the successor of this process answers a request: it runs the channel, or it has the newer state.
    private func isForSuccessor(_ route: Route) -> Bool {
        switch route {
        case .api, .tunerStream: true
        case .channel(let name, let resource):
            resource.traits.use != .description && host.isElsewhere(name ?? "")
        case .xtream(let request):
            switch request.resource {
            case .stream, .archive: true
            default: false
            }
        default: false
        }
    }

    private func answerHere(to route: Route, _ target: RequestTarget) -> Answer {
        switch route {
        case .page: .now(Page.overview)
        case .pageFile("/web/overview.json"): .later(ofAllNodes(.overview, overview(for: target), target))
        case .pageFile("/web/channels.json"): .later(channelNames(for: target))
        case .pageFile("/web/health.json"): .later(healthHistory(for: target))
        case .pageFile("/web/recordings.json"): .later(ofAllNodes(.recordings, recordingList(for: target), target))
        case .pageFile("/web/channels.html"): .later(plainList(for: target))
        case .pageFile(let path) where RecordingFileAddress(path: path) != nil: recordingFile(at: path, for: target)
        case .pageFile(let path): .now(Page.response(at: path) ?? .notFound(path))
        case .channelList(let format, let group):
            .later(channelList(format.flatMap(StreamFormat.init), group: group, for: target))
        case .guide(let isGzipFile): guideAnswer(to: target, asGzipFile: isGzipFile)
        case .library: guide == nil ? .now(.notFound(target.path)) : .later(library(for: target))
        case .status: .later(ofAllNodes(.status, status(for: target), target))
        case .health: .now(.text(.ok, "ok"))
        case .readiness: .now(readiness)
        case .api(let path, let field): apiAnswer(path, field, to: target)
        case .tuner(let request): document(request, target)
        case .tunerStream(let number, let tuner):
            streamClients.observed(
                .later { [self] in await stream(number, tuner: tuner, target).response() }, to: target)
        case .xtream(let request):
            // Events contain the path, which would reveal the password.
            streamClients.observed(answer(to: request, target), to: target.at(request.redactedPath))
        case .folder(let name):
            // The page's relative URLs are right below the folder.
            .now(
                host.directory[name] == nil
                    ? .notFound(target.path)
                    : .redirect(.permanentRedirect, to: "\(name)/", query: target.viewer.query))
        case .channel(let name?, let resource):
            streamClients.observed(answer(of: name, resource, to: target), to: target)
        case .channel(nil, let resource): streamClients.observed(onlyAnswer(resource, target), to: target)
        case .metrics: metrics?.answer(to: target) ?? .now(.notFound(target.path))
        case .notFound: .now(.notFound(target.path))
        }
    }

    private func apiAnswer(_ path: Route.API?, _ field: String, to target: RequestTarget) -> Answer {
        guard let api else { return .now(APIProblem.switchedOff.response()) }
        let request = APIRequest(field: field, target: target, documents: moments) { [host, clients, guide] in
            ServeStatus(host.overview, clients: clients(), guide: guide?.status)
        }
        return answerOfFleet(to: path, field, target, api.answer(to: path, request))
    }

    func guideAnswer(to target: RequestTarget, asGzipFile: Bool) -> Answer {
        guard let guide else { return .now(.notFound(target.path)) }
        return .later { await guide.response(to: target, asGzipFile: asGzipFile) }
    }
}

// MARK: - Channels

extension ServeResponder {
    /// Answers a request for the only channel of the process, which runs as long as the process: nothing is held until
    /// it publishes.
    private func onlyAnswer(_ resource: Route.Resource, _ target: RequestTarget) -> Answer {
        if let running = host.running("") { return answer(of: running, resource, to: target) }
        return .now(resource == .health ? .text(.ok, "ok") : .unavailable("The channel is not running."))
    }

    /// Answers a request for a resource of a channel, and records its viewer once.
    func answer(of name: String, _ resource: Route.Resource, to target: RequestTarget) -> Answer {
        // The files of the page are the same for every channel, whether it exists or not.
        if case .pageFile(let file) = resource, let file = Page.response(at: file) { return .now(file) }
        guard let channel = host.directory[name] else { return .now(.notFound(target.path)) }
        if let elsewhere = answerElsewhere(name, resource, to: target) { return elsewhere }
        if let archives {
            return archives.answer(of: channel, resource, to: target) ?? description(of: name, resource, to: target)
        }
        if let (range, resource) = providerRange(of: name, resource) {
            let folder = Self.isOfTransportStream(resource) ? "/\(range.name)/ts" : "/\(range.name)"
            return answer(of: range.name, resource, to: target.at("\(folder)/dvr.m3u8"))
        }
        switch resource.traits.use {
        case .description: return description(of: name, resource, to: target)
        // A HEAD only asks what the path is: nothing starts.
        case .watch(let isStream) where target.method == .head:
            if let running = host.running(name) { return answer(of: running, resource, to: target) }
            return .now(
                Response(contentType: isStream ? .transportStream : .playlist, cacheControl: .noStore, body: .empty))
        case .presence:
            let running = target.method == .head ? host.running(name) : host.recordRequest(of: name)
            if let running { return answer(of: running, resource, to: target) }
            if host.running(name)?.continuesRing == true || host.isBeingTaken(name) {
                return .later { [self] in await answerWhenRunning(name, resource, isStream: false, to: target) }
            }
            return .now(.notFound(target.path))
        case .watch(let isStream):
            if let running = host.recordRequest(of: name, isStream: isStream) {
                return answer(of: running, resource, to: target)
            }
            return .later { [self] in await answerWhenRunning(name, resource, isStream: isStream, to: target) }
        }
    }

    private func answerWhenRunning(
        _ name: String, _ resource: Route.Resource, isStream: Bool, to target: RequestTarget
    ) async -> Response {
        if let fleet = host.fleet {
            if fleet.place(of: name) == .nowhere { await fleet.awaitOwner(of: name) }
            if let elsewhere = answerElsewhere(name, resource, to: target) { return await elsewhere.response() }
        }
        switch await host.waitUntilRunning(
            name, isStream: isStream, for: addresses.clientAddress(of: target.fields))
        {
        case .running(let running): return await answer(of: running, resource, to: target).response()
        case .refused(let refusal, let status):
            if let elsewhere = answerElsewhere(name, resource, to: target) { return await elsewhere.response() }
            // This process ends, and the other node asks the next owner.
            if target.isFromNode, host.isClosed { return Self.misdirected }
            return refusal.response(isStream: isStream, status: status)
        case .handedOver: return .redirect(.temporaryRedirect, to: target)
        }
    }

    private static func isOfTransportStream(_ resource: Route.Resource) -> Bool {
        switch resource {
        case .playlist(.rewind(.transportStream, _)), .playlist(.master(.transportStream, _)): true
        default: false
        }
    }

    /// The range of a provider's archive for a request, and the resource requested from it; nil if the channel's own
    /// archive reaches that far or is in a store, or if neither archive does.
    private func providerRange(of name: String, _ resource: Route.Resource) -> (ProviderRange, Route.Resource)? {
        let asked: (range: RewindRange, ofRange: Route.Resource)
        switch resource {
        case .playlist(.rewind(let content, let range)): asked = (range, .playlist(.rewind(content, .whole)))
        case .playlist(.master(let content, let range?)): asked = (range, .playlist(.master(content, .whole)))
        case .endlessStream(let stream):
            let beginning = RewindRange.between(start: ProgramDateTime(millisecondsSince1970: 0), end: nil)
            asked = (stream.range, .endlessStream(.init(range: beginning, speed: stream.speed)))
        default: return nil
        }
        guard let found = ProviderRange(asked.range, of: name), host.directory[found.name] != nil,
            host.directory[name]?.options.archiveStore == nil
        else { return nil }
        let own = host.running(name)?.state.snapshot?.dates
        return own.map { $0.first <= found.firstDate } ?? false ? nil : (found, asked.ofRange)
    }

    /// The answer of a run. It records the presence of the viewer.
    private func answer(of running: RunningChannel, _ resource: Route.Resource, to target: RequestTarget) -> Answer {
        guard let refresh = running.refresh else { return answerNow(of: running, resource, to: target) }
        return .later { [self] in
            await refresh()
            return await answerNow(of: running, resource, to: target).response()
        }
    }

    private func answerNow(
        of running: RunningChannel, _ resource: Route.Resource, to target: RequestTarget
    ) -> Answer {
        running.responder.answer(to: resource, target) { [host] stream in
            // The stream ends with the run.
            ByteStream { running.isOver ? nil : await stream.next() }.observed {
                host.handle(.streamOpened(running.run))
            } closed: { _, _ in
                host.handle(.streamClosed(running.run))
            }
        }
    }

    /// Answers requests about a channel that need no running channel.
    private func description(of name: String, _ resource: Route.Resource, to target: RequestTarget) -> Answer {
        if resource == .page { return .now(Page.listedChannel(hasGuide: guide?.hasSources == true)) }
        if case .programs(let range) = resource { return programs(of: name, in: range, target) }
        if let running = host.running(name) {
            guard resource == .status, let failure = host.failure(of: name) else {
                return running.responder.answer(to: resource, target)
            }
            var status = running.state.status
            status.lastFailure = failure.status(at: host.now)
            return .now(.json(of: status))
        }
        switch resource {
        case .status: return .now(statusOfIdle(name))
        case .health: return .now(.text(.ok, "ok"))
        case .readiness:
            return .now(
                .text(.serviceUnavailable, "\(ServeStatus.state(of: host.listing(of: name)?.entry)): not ready"))
        default: return .now(.notFound(target.path))
        }
    }

    private func statusOfIdle(_ name: String) -> Response {
        let listing = host.listing(of: name)
        return .json(
            of: ServeStatus.Channel(
                name, listing?.channel, listing?.entry, host.failure(of: name), status: nil, at: host.now))
    }

    /// The URL of this server as the client sees it, without a slash at its end.
    func base(of target: RequestTarget) -> String { addresses.baseURL(of: target.fields) }
}

// MARK: - Refusals

extension ChannelSupervisor.Refusal {
    /// The reason, in one line.
    func reason(_ status: RelayStatus?) -> FailureText {
        switch self {
        case .startTimedOut:
            let reason = status?.reason?.text ?? "Its upstream has not delivered a segment yet."
            let start = "The channel published nothing in time. "
            return FailureText(operatorText: start + reason.operatorText, viewerText: start + reason.viewerText)
        case .full(let limit): return "All \(limit) channels that may run at once are being watched."
        case .accountFull(let account, let connections):
            // The host of a panel may identify its account.
            return connections == 1
                ? "The only connection of the account \(account.redactingURLs) is being watched."
                : "All \(connections) connections of the account \(account.redactingURLs) are being watched."
        case .failed(let reason, _): return reason
        }
    }

    var retryAfter: Int64 {
        guard case .failed(_, let time) = self else { return 1 }
        return max(1, time.components.seconds)
    }

    /// The answer 503. A stream has no body, because some clients would play it.
    fileprivate func response(isStream: Bool, status: RelayStatus?) -> Response {
        let reason = reason(status).viewerText
        var response = Response.text(.serviceUnavailable, reason)
        if isStream { (response.contentType, response.body) = (nil, .empty) }
        response.extraHeaders = [
            .retryAfter(seconds: retryAfter),
            .reason(reason),
        ]
        if isStream { response.extraHeaders.append(tunerError.header) }
        return response
    }
}
