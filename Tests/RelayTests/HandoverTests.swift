import Channel
import Foundation
import Glibc
import LiveRing
import Logging
import Observability
import Playlist
import Support
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import WebServer
@testable import liverelay

/// Two processes of one list, in one: the second takes the channels of the first over.
@Suite(.ownThreads, .timeLimit(.minutes(1))) struct HandoverTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A process.
    private final class Service: Sendable {
        let host: ChannelHost
        let ends = RunEnds()
        let connections = OpenConnections()
        let started = Mutex<HTTPServer?>(nil)

        init(
            _ channels: [ListedChannel], spool: URL, generation: Int = 0, clock: HostClock = .continuous()
        ) {
            var settings = ChannelSettings(
                configuration: RelayConfiguration(
                    upstream: "", spool: "", retention: RetentionPolicy(rewind: .seconds(600), freeReserve: 0)),
                spool: spool.path, logger: HandoverTests.logger)
            if generation > 0 { settings.runPrefix = "\(generation)-" }
            host = ChannelHost(ChannelDirectory(channels), policy: .init(), settings: settings, clock: clock) {
                [ends] in
                if case .ended(let run, _) = $0 { ends.report(run.channel) }
            }
        }

        func start(listening: Int32? = nil) async throws -> HTTPServer {
            let server = try await HTTPServer.start(
                on: ListenAddress(host: "127.0.0.1", port: 0), listening: listening, connections: connections,
                threads: 1, responder: ServeResponder(host))
            started.withLock { $0 = server }
            return server
        }

        func end() async {
            host.close()
            await started.withLock { $0 }?.shutdown(within: .zero)
            await host.shutdown()
        }
    }

    /// A viewer with a keep-alive connection, on a thread of its own, who notices everything that a player would.
    private final class Viewer: Sendable {
        let findings = Mutex<[String]>([])
        let isOver = Mutex(false)
        /// The playlists that the viewer got, the newest at least.
        private let got = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
        private let ended = AsyncStream<Void>.makeStream()

        init(_ path: String, port: Int) {
            Thread.detachNewThread { [self] in
                var newest: UInt64 = 0
                var client: RawClient?
                while !isOver.withLock({ $0 }) {
                    do {
                        if client == nil { client = try RawClient(port: port) }
                        try client?.send(request("GET", path))
                        guard let response = try client?.response() else { break }
                        if response.status != 200 { report("status \(response.status)") }
                        if response["Connection"] == "close" { client = nil }
                        let playlist = try MediaPlaylistParser.parse(response.body)
                        let number = playlist.mediaSequence + UInt64(playlist.segments.count)
                        if number < newest { report("back from \(newest) to \(number)") }
                        newest = number
                        got.continuation.yield(String(decoding: response.body, as: UTF8.self))
                    } catch {
                        report("\(error)")
                        client = nil
                    }
                    usleep(10_000)
                }
                ended.continuation.finish()
            }
        }

        private func report(_ finding: String) { findings.withLock { $0.append(finding) } }

        /// Returns when the viewer has got a playlist with some text.
        func gets(_ text: String) async {
            for await playlist in got.stream where playlist.contains(text) { return }
        }

        func end() async -> [String] {
            isOver.withLock { $0 = true }
            for await _ in ended.stream {}
            return findings.withLock { $0 }
        }
    }

    private static func channels(_ url: String) -> [ListedChannel] {
        ["always", "watched"].map { slug in
            var channel = ListedChannel(slug: slug, name: slug, sources: [ListedSource(url: url)])
            channel.options.isAlways = slug == "always"
            return channel
        }
    }

    private static func upgrade(
        _ service: Service, _ server: HTTPServer, _ spool: URL, drain: Duration = .milliseconds(300)
    ) -> Upgrade {
        var limits = OutgoingHandover.Limits()
        (limits.drain, limits.boundary) = (drain, .seconds(3))
        return Upgrade(
            host: service.host, server: server, updater: nil, recordings: nil, health: HealthRecorder(),
            spool: SpoolLocation(of: spool.path, lock: nil), generation: 0, connections: service.connections,
            logger: logger, limits: limits)
    }

    /// A successor that runs here.
    /// - Parameter isKilled: whether it ends before it has a channel.
    private static func starting(
        _ next: Service, isKilled: Bool = false
    ) -> Upgrade.Start {
        { listener, input throws(ProgramStart.Failure) in
            guard let (own, other) = HandoverLink.makePair() else { throw ProgramStart.Failure(code: EMFILE) }
            let listener = dup(listener)
            let predecessor = PredecessorProcess(other)
            Task {
                let offered = try await predecessor.offer()
                let handed = try await predecessor.takeOver(offered, next.host, nil)
                #expect(Set(handed.channels.keys) == ["always", "watched"])
                next.host.start()
                _ = try await next.start(listening: listener)
                if isKilled {
                    Task {
                        try? await Task.sleep(for: .milliseconds(500))
                        await next.end()
                        predecessor.refuse(RelayError(.internalError, "killed", advice: ""))
                    }
                }
                await predecessor.run(next.host)
            }
            let link = HandoverLink(own) { input($0.map { .message($0) } ?? .successorEnded(reason: "killed")) }
            return Upgrade.Successor(number: 1, link: link) {}
        }
    }

    @Test func viewersNoticeNothing() async throws {
        let origin = try await CountingOrigin(CaptureFixture("healthy"))
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-handover-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
        let (first, second) = (
            Service(Self.channels(origin.url), spool: spool),
            Service(Self.channels(origin.url), spool: spool, generation: 1)
        )
        let server = try await first.start()
        first.host.start()
        for slug in ["always", "watched"] {
            var client = try RawClient(port: server.port)
            try client.send(request("GET", "/\(slug)/live.m3u8"))
            #expect(try client.response().status == 200)
        }
        let viewers = ["/always/live.m3u8", "/watched/live.m3u8", "/always/ts/live.m3u8"].map {
            Viewer($0, port: server.port)
        }
        for viewer in viewers { await viewer.gets("#EXTINF") }
        #expect(await Self.upgrade(first, server, spool).run(first.ends, start: Self.starting(second)))
        #expect(first.host.runs.isEmpty && second.host.runs.count == 2)
        for viewer in viewers.prefix(2) { await viewer.gets("#EXT-X-DISCONTINUITY\n") }
        for viewer in viewers { #expect(await viewer.end().isEmpty) }
        await server.finish(within: .seconds(10))
        #expect(first.connections.isEmpty)
        for slug in ["always", "watched"] {
            let dates = try #require(second.host.running(slug)?.state.snapshot?.index.listed)
            #expect(dates.contains { $0.isDiscontinuous } && !dates.contains { $0.isGap })
        }
        await first.end()
        await second.end()
        await origin.server.shutdown(within: .zero)
        try FileManager.default.removeItem(at: spool)
    }

    /// A new process may read the rings for longer than a channel runs without viewers.
    @Test func channelOfTheOtherProcessCountsAsWatched() async throws {
        let origin = try await CountingOrigin(CaptureFixture("healthy"))
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-handover-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
        let clock = ManualHostClock()
        let (first, second) = (
            Service(Self.channels(origin.url), spool: spool),
            Service(Self.channels(origin.url), spool: spool, generation: 1, clock: clock.clock)
        )
        guard case .running = await first.host.waitUntilRunning("watched", isStream: false) else {
            Issue.record("the channel does not start")
            return
        }
        await second.host.follow(first.host.spools) { _, _ in }
        for _ in 0..<100 {
            clock.advance(by: .seconds(1))
            second.host.handle(.wake)
        }
        #expect(second.host.recordRequest(of: "watched") != nil)
        await first.end()
        #expect(second.host.takeOverChannel("watched"))
        for seconds in [29, 14] {
            #expect(second.host.listing(of: "watched")?.entry?.state.run != nil, "as if it had a viewer then")
            clock.advance(by: .seconds(seconds))
            second.host.handle(.wake)
        }
        if let entry = second.host.listing(of: "watched")?.entry {
            #expect(entry.state.run.map { .ending($0) } == entry.state)
        }
        await second.end()
        await origin.server.shutdown(within: .zero)
        try FileManager.default.removeItem(at: spool)
    }

    @Test func failureLeavesTheOldProcess() async throws {
        let origin = try await CountingOrigin(CaptureFixture("healthy"))
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-handover-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
        let (first, second) = (
            Service(Self.channels(origin.url), spool: spool),
            Service(Self.channels(origin.url), spool: spool, generation: 1)
        )
        let server = try await first.start()
        first.host.start()
        var newest: [String: UInt64] = [:]
        for slug in ["always", "watched"] {
            var client = try RawClient(port: server.port)
            try client.send(request("GET", "/\(slug)/live.m3u8"))
            #expect(try client.response().status == 200)
            newest[slug] = first.host.running(slug)?.state.snapshot?.index.nextMediaSequence
        }
        #expect(
            await !Self.upgrade(first, server, spool, drain: .seconds(60))
                .run(first.ends, start: Self.starting(second, isKilled: true)))
        #expect(!first.host.isHandingOver)
        for slug in ["always", "watched"] {
            var client = try RawClient(port: server.port)
            try client.send(request("GET", "/\(slug)/live.m3u8"))
            let response = try client.response()
            #expect(response.status == 200 && response["Connection"] == nil)
            let playlist = try MediaPlaylistParser.parse(response.body)
            #expect(playlist.mediaSequence + UInt64(playlist.segments.count) >= newest[slug] ?? .max)
        }
        await first.end()
        await origin.server.shutdown(within: .zero)
        try FileManager.default.removeItem(at: spool)
    }
}

struct InheritanceTests {
    private static let rows: [(when: String, environment: [String: String], found: [Int32?])] = [
        ("nothing", [:], [nil, nil, nil]),
        ("a socket of systemd", ["LISTEN_PID": "7", "LISTEN_FDS": "1"], [3, nil, nil]),
        ("several sockets", ["LISTEN_PID": "7", "LISTEN_FDS": "2"], [3, nil, nil]),
        ("a socket for another process", ["LISTEN_PID": "8", "LISTEN_FDS": "1"], [nil, nil, nil]),
        ("no socket", ["LISTEN_PID": "7", "LISTEN_FDS": "0"], [nil, nil, nil]),
        ("a predecessor", ["LIVERELAY_HANDOVER": "2"], [4, 3, nil]),
        ("a predecessor with a temporary spool", ["LIVERELAY_HANDOVER": "3"], [4, 3, 5]),
        ("nonsense", ["LIVERELAY_HANDOVER": "x"], [nil, nil, nil]),
    ]

    @Test func descriptorsAreFound() {
        for row in Self.rows {
            let found = Inheritance(environment: row.environment, processID: 7)
            #expect([found.listener, found.link, found.spoolLock] == row.found, "\(row.when)")
        }
    }
}
