import Capture
import Channel
import ChannelTestSupport
import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Fetch
@testable import HTTP
@testable import WebServer
@testable import liverelay

/// A directory that is removed at the end of the test.
struct TemporaryDirectory: ~Copyable {
    let url = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")

    func directory(_ name: String) -> URL { url.appending(path: name, directoryHint: .isDirectory) }

    deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite struct RecordingTests {
    /// Over a socket and back: the replay of a recording publishes the same bytes as the recorded relay.
    @Test func replayOfARecordingPublishesTheSameBytes() async throws {
        let scratch = TemporaryDirectory()
        let origin = try CapturedOrigin(finishedCapture(.ssaiTagged))
        let server = try await HTTPServer.start(origin, on: ListenAddress(host: "127.0.0.1", port: 0)) { .zero }
        let upstream = "http://127.0.0.1:\(server.port)\(origin.entryPath)"
        let writer = try CaptureWriter(scratch.directory("capture"), CaptureIndex(upstream: upstream))
        let recorder = CapturingFetcher(try CurlFetcher(upstream: upstream), to: writer) { .zero }
        let live = try await publish(from: recorder, at: upstream, spool: scratch.directory("spool"))
        await server.shutdown(within: .seconds(1))
        let replayed = try await republish(CaptureDirectory(scratch.directory("capture")))
        #expect(await recorder.failure == nil)
        #expect(live.segments.count == 34 && replayed.segments.map(\.bytes) == live.segments.map(\.bytes))
        #expect(replayed.dvrPlaylist == live.dvrPlaylist && replayed.end == .drained)
    }

    /// Captures whose faults, keys, maps and renditions a recording, redacted or not, has to preserve.
    static let rows: [(capture: String, strip: CaptureRedactor.Options)] = [
        ("segment_404", .none), ("short_body", .none), ("half_written", .none), ("expired_token", .none),
        ("redirected", .none), ("demuxed_aes128", .none), ("webvtt", .none), ("byteranges", .none),
        ("query_changes", .init(queries: true)), ("expired_token", .init(queries: true, headers: true, hosts: true)),
        ("redirected", .init(hosts: true)), ("html_200", .init(headers: true)), ("fmp4_maps", .init(hosts: true)),
    ]

    @Test(arguments: rows)
    func recordingOnAVirtualClockReplaysToTheSameBytes(_ name: String, _ strip: CaptureRedactor.Options) async throws {
        let scratch = TemporaryDirectory()
        let original = try CaptureDirectory(CaptureFixture(name).directory)
        try await record(original, into: scratch.directory("capture"), redaction: strip)
        let first = try await ReplayCache.shared.result(of: CaptureFixture(name))
        let second = try await republish(CaptureDirectory(scratch.directory("capture")))
        #expect(second.dvrPlaylist == first.dvrPlaylist && !first.dvrPlaylist.isEmpty)
        #expect(second.segments.map(\.bytes) == first.segments.map(\.bytes))
        #expect(second.segments.map(\.initialization) == first.segments.map(\.initialization))
        #expect(strip != .none || second.events == first.events)
    }

    @Test func redactedCaptureContainsNoQueryAndNoHost() async throws {
        let scratch = TemporaryDirectory()
        for name in ["query_changes", "expired_token"] {
            let original = try CaptureDirectory(CaptureFixture(name).directory)
            let copy = scratch.directory(name)
            _ = try CaptureExcerpt(of: original).write(
                to: copy, redaction: .init(queries: true, headers: true, hosts: true))
            var texts = [try String(contentsOf: copy.appending(path: "index.json"), encoding: .utf8)]
            for body in try FileManager.default.contentsOfDirectory(atPath: copy.appending(path: "body").path)
            where body.hasSuffix(".m3u8") {
                let bytes = try Data(contentsOf: copy.appending(path: "body/\(body)"))
                texts.append(String(decoding: bytes, as: UTF8.self))
            }
            for secret in ["signature=", "expires=", "token=", "channel.example"] {
                #expect(!texts.contains { $0.contains(secret) }, "\(name): \(secret)")
            }
        }
    }

    /// Time ranges of captures in seconds, and the segments that a session gets from the excerpt alone.
    static let excerpts: [(capture: String, seconds: ClosedRange<Int>, segments: Int)] = [
        ("ssai_tagged", 20...30, 7), ("demuxed_aes128", 3...6, 4), ("fmp4_maps", 2...5, 5), ("byteranges", 2...4, 4),
        ("query_changes", 2...4, 4), ("webvtt", 20...30, 7),
    ]

    @Test(arguments: excerpts)
    func excerptReplaysAlone(_ name: String, _ seconds: ClosedRange<Int>, _ segments: Int) async throws {
        let scratch = TemporaryDirectory()
        let original = try CaptureDirectory(CaptureFixture(name).directory)
        let range = Duration.seconds(seconds.lowerBound)..<Duration.seconds(seconds.upperBound)
        let totals = try CaptureExcerpt(of: original, timeRange: range)
            .write(to: scratch.directory("cut"), redaction: .init(queries: true))
        let cut = try CaptureDirectory(scratch.directory("cut"))
        let published = try await republish(cut)
        #expect(
            totals.exchanges < original.index.exchanges.count
                && cut.index.duration <= range.upperBound - range.lowerBound)
        #expect(published.end == nil, "the capture ends, the channel does not")
        #expect(!published.events.contains("tryFailed") && !published.events.contains("lost"), "\(published.events)")
        #expect(published.status.upstream.counts[.segmentsDelivered] >= segments, "\(published.status.upstream)")
        #expect(published.status.splice.segmentsSkipped == 0 && !published.segments.isEmpty)
    }

    @Test func timeRangeWithoutExchangesIsRefused() throws {
        let original = try CaptureDirectory(CaptureFixture.clean.directory)
        #expect(throws: CaptureError(.emptyTimeRange, path: original.url.path)) {
            try CaptureExcerpt(of: original, timeRange: .seconds(1000)..<Duration.seconds(1001))
        }
    }

    private func record(_ original: CaptureDirectory, into directory: URL, redaction: CaptureRedactor.Options)
        async throws
    {
        var writer = try CaptureWriter(directory, CaptureIndex(upstream: original.index.upstream), redaction: redaction)
        var responder = ReplayResponder(original)
        var driver = ReplayDriver(
            session: ChannelSession(
                upstream: original.index.upstream, policy: .init(session: .init(variant: .highest))))
        var failure: CaptureError?
        _ = try await driver.run(until: original.index.duration + Replay.grace) { request, now in
            guard let (outcome, latency) = responder.answer(request, at: now) else { return nil }
            do throws(CaptureError) {
                try writer.append(request, outcome, at: now, took: latency)
            } catch { failure = error }
            return (outcome, latency)
        } perform: { _, _ in
            .published
        }
        #expect(failure == nil)
    }
}

/// Runs a relay on any upstream until it ends, and returns what it published.
private func publish(from upstream: any Fetcher, at url: String, spool: URL) async throws -> ReplayResult {
    try FileManager.default.createDirectory(at: spool, withIntermediateDirectories: true)
    let configuration = RelayConfiguration(
        upstream: url, giveUp: nil, spool: spool.path, retention: RetentionPolicy(rewind: nil, freeReserve: 0))
    let state = ChannelState(upstream: url) { .zero }
    var relay = Relay(configuration, state: state, wallClock: { 0 })
    var result = ReplayResult(status: state.status)
    result.end = try await TrackerDriver(upstream: upstream, clock: ContinuousClock())
        .run(reporting: ChannelSession(upstream: url, policy: configuration.policy)) { output, now in
            try await relay.perform(output, at: now)
        }
    try result.read(state)
    return result
}
