import Channel
import Foundation
import LiveRing
import Logging
import Observability
import Support
import Testing

@testable import ChannelList
@testable import HTTP
@testable import Service
@testable import Tracker

/// A process of one channel: paths at the root, no name, and an end that the process judges.
@Suite(.timeLimit(.minutes(1))) struct SingleChannelTests {
    private static let token = "0123456789abcdef"

    private static func use(
        _ url: String, _ body: (ServeResponder, AsyncStream<ChannelRunner.End>) async throws -> Void
    ) async throws {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-single-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
        var options = ChannelOptions()
        options.isAlways = true
        let (ends, end) = AsyncStream<ChannelRunner.End>.makeStream()
        var settings = ChannelSettings(
            configuration: RelayConfiguration(upstream: "", spool: "", retention: RetentionPolicy(rewind: nil)),
            spool: spool.path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        settings.single = ChannelSettings.Single(
            opening: { .patient(giveUp: $0) }, complete: { $0.logLinesDropped = 7 },
            ended: { ended, _ in end.yield(ended) })
        let host = ChannelHost(
            ChannelDirectory([ListedChannel(sources: [url], options: options)]), policy: .init(), settings: settings)
        let tokens = try #require(AccessToken(token))
        let responder = ServeResponder(host, tokens: ServerTokens([tokens]))
        host.start()
        try await body(responder, ends)
        await host.shutdown()
        #expect(FileManager.default.fileExists(atPath: spool.path), "the spool is the given directory")
        try FileManager.default.removeItem(at: spool)
    }

    private static let rows: [(uri: String, status: Int)] = [
        ("/healthz", 200), ("/readyz", 503), ("/web/page.css", 200), ("/live.m3u8", 401), ("/status.json", 401),
        ("/metrics", 401), ("/live.m3u8?token=\(token)", 503), ("/status.json?token=\(token)", 200),
        ("/?token=\(token)", 200), ("/playlist.m3u?token=\(token)", 404), ("/api/channels?token=\(token)", 404),
        ("/programs.json?token=\(token)", 404),
    ]

    /// Nothing is held until the channel publishes.
    @Test func channelIsAtTheRoot() async throws {
        try await Self.use("http://127.0.0.1:1/live.m3u8") { responder, _ in
            #expect(responder.paths == .channel)
            for row in Self.rows {
                let response = await responder.answer(to: try RequestTarget(method: .get, uri: row.uri)).response()
                #expect(response.status.rawValue == row.status, "\(row.uri)")
            }
            let target = try RequestTarget(method: .get, uri: "/status.json?token=\(Self.token)")
            guard case .bytes(let bytes, _) = await responder.answer(to: target).response().body else {
                Issue.record("no document")
                return
            }
            let status = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            #expect(status?["channels"] == nil && status?["logLinesDropped"] as? Int == 7)
        }
    }

    @Test func processLearnsWhyTheChannelEnded() async throws {
        try await Self.use("htps://127.0.0.1/live.m3u8") { responder, ends in
            for await end in ends {
                guard case .failed(let error) = end else {
                    Issue.record("\(end)")
                    return
                }
                #expect(error.exit == .upstreamUnavailable)
                break
            }
            let status = try RequestTarget(method: .get, uri: "/status.json?token=\(Self.token)")
            #expect(await responder.answer(to: status).response().status == .ok, "what is known stays")
        }
    }
}
