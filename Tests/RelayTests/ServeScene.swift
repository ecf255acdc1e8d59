import Capture
import Channel
import Foundation
import LiveRing
import Logging
import Observability
import Support
import Synchronization
import TestSupport
import WebTestSupport

@testable import ChannelList
@testable import Fetch
@testable import Fleet
@testable import HTTP
@testable import Record
@testable import Service
@testable import WebServer
@testable import liverelay

/// A replayed capture as an upstream that counts its requests.
struct CountingOrigin {
    let server: HTTPServer
    let url: String
    private let requests = Counter()

    private final class Counter: Sendable {
        let count = Mutex(0)
        /// Time since the first request, which every request asks for.
        let clock = FirstRequestClock()

        func elapsed() -> Duration {
            count.withLock { $0 += 1 }
            return clock.elapsed()
        }
    }

    init(_ fixture: CaptureFixture) async throws {
        let capture = try CaptureDirectory(fixture.directory)
        let origin = try CapturedOrigin(
            CaptureDirectory(capture.url, index: capture.index.withoutFaults), loops: true)
        let requests = requests
        server = try await HTTPServer.start(origin, on: ListenAddress(host: "127.0.0.1", port: 0)) {
            requests.elapsed()
        }
        url = "http://127.0.0.1:\(server.port)\(origin.entryPath)"
    }

    var requestCount: Int { requests.count.withLock { $0 } }
}

/// A clock that a test moves.
final class ManualHostClock: Sendable {
    private struct State {
        var now = Duration.zero
        var sleepers: [UInt64: (until: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var canceled: Set<UInt64> = []
        var count: UInt64 = 0
    }

    private let state = Mutex(State())

    var clock: HostClock {
        HostClock(now: { self.state.withLock { $0.now } }, sleep: { try await self.sleep(until: $0) })
    }

    func advance(by time: Duration) {
        let due = state.withLock { state in
            state.now += time
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func sleep(until time: Duration) async throws {
        let id = state.withLock { state in
            state.count += 1
            return state.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.canceled.remove(id) != nil { return .failure(CancellationError()) }
                    if time <= state.now { return .success(()) }
                    state.sleepers[id] = (time, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)?.continuation
                if sleeper == nil { state.canceled.insert(id) }
                return sleeper
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }
}

/// A process of many channels on loopback, whose time a test moves.
struct ServeScene {
    static let token = "0123456789abcdef"

    let host: ChannelHost
    let updater: CatalogUpdater
    let server: HTTPServer
    let spool: URL
    let clock = ManualHostClock()
    let connections = OpenConnections()
    /// nil: there is no place for recordings.
    let recordings: RecordingService?
    private let recordingChanges: AsyncStream<Void>
    /// Yields after each input of the supervisor.
    private let changes: AsyncStream<Void>

    init(
        _ upstreams: [(slug: String, url: String)], _ policy: ChannelSupervisor.Policy = .init(),
        always: Set<String> = [], hasAPI: Bool = true, tokens: [AccessToken] = [],
        recordings: RecordingPlace? = nil, node: FleetPlace? = nil
    ) async throws {
        let channels = upstreams.map { upstream in
            var channel = ListedChannel(
                slug: upstream.slug, name: upstream.slug, sources: [ListedSource(url: upstream.url)])
            if always.contains(upstream.slug) { channel.options.isAlways = true }
            return channel
        }
        try await self.init(channels, policy, hasAPI: hasAPI, tokens: tokens, recordings: recordings, node: node)
    }

    /// A node of a fleet.
    struct FleetPlace {
        let member: FleetMember
        let port: Int
        var passes = true
        /// With which the node asks upstreams.
        var userAgent: String?
    }

    /// Where recordings are written, and which time it is there.
    struct RecordingPlace {
        let pattern: RecordingPattern
        var clock = RecordingClock.wall
        var fileSystem = FileSystem(space: { _ in nil })
    }

    init(
        _ channels: [ListedChannel], _ policy: ChannelSupervisor.Policy = .init(), hasAPI: Bool = true,
        tokens: [AccessToken] = [], recordings: RecordingPlace? = nil, node: FleetPlace? = nil
    ) async throws {
        let spool = Self.newSpool
        let list = spool.appending(path: "list.m3u").path
        let catalog = ChannelCatalog(
            ChannelConfiguration(playlist: list),
            lists: [.init(name: list, list: M3UChannelList(channels: channels))])
        let source = CatalogSource(location: list, requests: CurlConfiguration())
        try await self.init(
            catalog, source, spool, policy, hasAPI: hasAPI, tokens: tokens, recordings: recordings, node: node)
    }

    /// The channels of a configuration, which `write` replaces and the updater reads again.
    init(yaml: String, tokens: [AccessToken] = []) async throws {
        let spool = Self.newSpool
        try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
        let file = spool.appending(path: "channels.yaml")
        try Data(yaml.utf8).write(to: file)
        let source = CatalogSource(location: file.path, requests: CurlConfiguration(), environment: [:])
        try await self.init(try await source.read(), source, spool, .init(), hasAPI: true, tokens: tokens)
    }

    private static var newSpool: URL {
        FileManager.default.temporaryDirectory.appending(path: "liverelay-serve-\(UUID().uuidString)")
    }

    private init(
        _ catalog: ChannelCatalog, _ source: CatalogSource, _ spool: URL, _ policy: ChannelSupervisor.Policy,
        hasAPI: Bool, tokens: [AccessToken], recordings place: RecordingPlace? = nil, node: FleetPlace? = nil
    ) async throws {
        self.spool = spool
        var configuration = RelayConfiguration(
            upstream: "", spool: "", retention: RetentionPolicy(rewind: .seconds(600), freeReserve: 0))
        if let userAgent = node?.userAgent { configuration.requests.userAgent = userAgent }
        var settings = ChannelSettings(
            configuration: configuration, spool: spool.path,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        settings.fleet = node?.member
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.changes = changes
        host = ChannelHost(
            ChannelDirectory(catalog.channels, connections: catalog.connections), policy: policy, settings: settings,
            clock: clock.clock
        ) { _ in change.yield() }
        updater = CatalogUpdater(catalog, from: source, host: host)
        let (recordingChanges, recordingChange) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.recordingChanges = recordingChanges
        recordings = try place.map { [host, settings] place in
            try RecordingService(
                place.pattern, host: host, logger: settings.logger, bus: EventBus(), clock: place.clock,
                on: place.fileSystem
            ) { recordingChange.yield() }
        }
        server = try await HTTPServer.start(
            on: ListenAddress(host: "127.0.0.1", port: node?.port ?? 0), connections: connections, threads: 1,
            responder: ServeResponder(
                host,
                api: AccessToken(Self.token).flatMap { [host, updater, recordings] token in
                    hasAPI
                        ? APIResponder(token: token, host: host, updater: updater, recordings: recordings) : nil
                },
                recordings: recordings, tokens: ServerTokens(tokens),
                peers: node.map { PeerClient($0.member.key, passes: $0.passes) }))
        node?.member.texts.observe(.channels) { [updater] in Task { await updater.adoptChanges() } }
        node?.member.texts.observe(.recordings) { [recordings] in recordings?.adoptShared() }
    }

    /// Replaces the configuration and reads it again.
    func reload(_ yaml: String) async throws {
        try Data(yaml.utf8).write(to: spool.appending(path: "channels.yaml"))
        _ = try await updater.reload().get()
    }

    func get(_ path: String, method: String = "GET") throws -> RawResponse {
        var client = try RawClient(port: server.port)
        try client.send(request(method, path))
        return try client.response(toHead: method == "HEAD")
    }

    func text(_ path: String) throws -> String { String(decoding: try get(path).body, as: UTF8.self) }

    /// Sends a request to the API.
    func api(
        _ method: String, _ path: String, _ body: String? = nil, token: String? = Self.token,
        type: String = "application/json"
    ) throws -> RawResponse {
        var client = try RawClient(port: server.port)
        var fields = token.map { ["Authorization: Bearer \($0)"] } ?? []
        if let body { fields += ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] }
        try client.send(request(method, path, fields) + (body ?? ""))
        return try client.response(toHead: method == "HEAD")
    }

    /// Returns when the channel is in that state.
    func reaches(_ state: String, _ slug: String) async {
        await reaches { ServeStatus.state(of: $0.channels[slug]) == state }
    }

    /// Returns when so many runs were started.
    func reachesStarts(_ count: Int) async { await reaches { $0.startCount >= count } }

    /// Returns when the channels are as `condition` says.
    func reaches(_ condition: (ChannelHost.Overview) -> Bool) async {
        var changes = changes.makeAsyncIterator()
        while !condition(host.overview), await changes.next() != nil {}
    }

    /// Returns when a recording is as `condition` says; nil: it is not there.
    func reaches(recording id: Int, _ condition: (RequestedRecording?) -> Bool) async {
        var changes = recordingChanges.makeAsyncIterator()
        while !condition(recordings?[id]), await changes.next() != nil {}
    }

    func end() async {
        await recordings?.close()
        host.close()
        await server.shutdown(within: .zero)
        await host.shutdown()
        try? FileManager.default.removeItem(at: spool)
    }
}
