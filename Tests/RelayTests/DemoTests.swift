import Capture
import Channel
import ChannelTestSupport
import Foundation
import LiveRing
import Logging
import Synchronization
import TestSupport
import Testing
import Tracker

@testable import Fetch
@testable import Observability
@testable import Support

/// The bundled capture as `./run` presents it, on a virtual clock.
struct DemoTests {
    /// What a new user sees.
    private struct Demo {
        /// Log lines of level info and above.
        var log: [(level: Logger.Level, text: String)] = []
        var breaks: [AdBreak] = []
        var status: RelayStatus?
        var end: SessionEnd?
    }

    private func play(_ fixture: CaptureFixture, seconds: Int) async throws -> Demo {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let origin = try CapturedOrigin(CaptureDirectory(fixture.directory), loops: true)
        let upstream = "http://demo.example" + origin.entryPath
        var configuration = RelayConfiguration(
            upstream: upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        configuration.opening = .enduring(giveUp: nil)
        let state = ChannelState(upstream: upstream) { .zero }
        var demo = Demo()
        let log = Mutex<[(level: Logger.Level, text: String)]>([])
        var relay = Relay(
            configuration, state: state, wallClock: { 0 },
            observe: { event in
                let line: LogLine? =
                    switch event.kind {
                    case .upstream(let upstream): upstream.logLine(isDuringOutage: event.isDuringOutage)
                    case .pipeline(let pipeline): pipeline.logLine(isDuringOutage: event.isDuringOutage)
                    case .resumed, .breakSlate, .found, .drained: nil
                    }
                if let line, line.level >= .info { log.withLock { $0.append((line.level, line.text)) } }
            })
        var driver = ReplayDriver(session: ChannelSession(upstream: upstream, policy: configuration.policy))
        demo.end = try await driver.run(until: .seconds(seconds)) { request, now in
            let path = URL(string: request.url)?.path() ?? ""
            let response = origin.response(to: path, range: nil, at: now)
            let answer = FetchAnswer(status: response.status, finalURL: request.url, body: response.body)
            switch response.transmission {
            case .paced: return (.success(answer), .milliseconds(20))
            case .cut: return (.failure(FetchError(.shortBody, url: request.url)), .milliseconds(20))
            case .reset: return (.failure(FetchError(.reset, url: request.url)), .milliseconds(20))
            case .silent: return (.failure(FetchError(.timedOut, url: request.url)), .seconds(8))
            }
        } perform: { output, now in
            try await relay.perform(output, at: now)
        }
        demo.log = log.withLock { $0 }
        demo.breaks = state.snapshot?.adBreaks(.whole) ?? []
        demo.status = state.status
        return demo
    }

    @Test func theFirstThreeMinutes() async throws {
        let demo = try await play(CaptureFixture("cue_tags"), seconds: 180)
        #expect(demo.end == nil)
        #expect(demo.log.filter { $0.level > .info }.map(\.text) == [])
        #expect(!demo.breaks.isEmpty && demo.breaks.allSatisfy { $0.evidence == .signalled })
        let first = try #require(demo.breaks.first)
        #expect(first.end.map { $0.milliseconds(since: first.start) } == 30_012)
    }
}
