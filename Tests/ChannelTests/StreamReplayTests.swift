import Capture
import Channel
import ChannelTestSupport
import Foundation
import LiveRing
import Splice
import Synchronization
import TestSupport
import Testing
import Tracker

@testable import Fetch
@testable import Support

/// A stream is recorded with the times of its parts, and replayed to the same bytes.
@Suite struct StreamReplayTests {
    /// Sends parts of a stream, one connection for each request, a part in each half second.
    private final class StreamFetcher: Fetcher {
        let connections: [[UInt8]]
        private let clock = Mutex((requests: 0, now: Duration.zero))

        init(_ connections: [[UInt8]]) { self.connections = connections }

        var now: Duration { clock.withLock { $0.now } }

        func fetch(_ request: FetchRequest) async -> FetchOutcome {
            .failure(FetchError(.refused, url: request.url))
        }

        func fetch(
            _ request: FetchRequest, receive: @escaping @Sendable (StreamPart) async -> Void
        ) async -> FetchOutcome {
            let index = clock.withLock { clock in
                defer { clock.requests += 1 }
                return clock.requests
            }
            guard index < connections.count else { return await fetch(request) }
            let connection = connections[index]
            for start in stride(from: 0, to: connection.count, by: 20_000) {
                clock.withLock { $0.now += .milliseconds(200) }
                let bytes = Array(connection[start..<min(start + 20_000, connection.count)])
                await receive(StreamPart(finalURL: request.url, bytes: bytes))
            }
            return .success(FetchAnswer(status: 200, finalURL: request.url, body: []))
        }
    }

    /// A recording of connections that follow one another.
    private func record(_ connections: [[UInt8]], in directory: URL) async throws -> CaptureDirectory {
        let fetcher = StreamFetcher(connections)
        let writer = try CaptureWriter(directory, CaptureIndex(upstream: "http://origin.example/1"))
        let recorder = CapturingFetcher(fetcher, to: writer) { fetcher.now }
        for _ in connections {
            var request = FetchRequest(.multivariantPlaylist, url: "http://origin.example/1")
            request.acceptsStream = true
            _ = await recorder.fetch(request) { _ in }
        }
        #expect(await recorder.failure == nil)
        return try CaptureDirectory(directory)
    }

    private func withCapture<Result>(
        of connections: [[UInt8]], _ body: (CaptureDirectory) async throws -> Result
    ) async throws -> Result {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        return try await body(try await record(connections, in: directory))
    }

    private var stream: [UInt8] { get throws { Array(try CaptureFixture.clean.bodies("clean").joined()) } }

    @Test func aRecordedStreamGivesTheSameBytesEachTime() async throws {
        let stream = try stream
        let (middle, end) = (stream.count / 2 + 77, stream.count)
        try await withCapture(of: [Array(stream[..<middle]), Array(stream[(middle - 60_000)..<end])]) { capture in
            let (first, second) = (try await republish(capture), try await republish(capture))
            #expect(!first.segments.isEmpty && first.dvrPlaylist == second.dvrPlaylist)
            #expect(first.segments.map(\.bytes) == second.segments.map(\.bytes))
            #expect(first.status.upstream.stream?.connections ?? 0 >= 2)
            #expect(first.status.upstream.stream.map { $0.repeatedFrames > 0 } == true)
        }
    }

    @Test func aConnectionThatWasCutIsPublishedAsOneThatWasNot() async throws {
        let stream = try stream
        let middle = stream.count / 2 + 77
        let cut = [Array(stream[..<middle]), Array(stream[(middle - 60_000)...])]
        let (whole, joined) = (
            try await withCapture(of: [stream]) { try await republish($0) },
            try await withCapture(of: cut) { try await republish($0) }
        )
        #expect(whole.segments.map(\.bytes) == joined.segments.map(\.bytes))
        #expect(joined.status.splice.counts[.periods] == 1)
    }

    @Test func mediaThatNoConnectionHadAdvancesTheDates() async throws {
        let stream = try stream
        let cut = [Array(stream[..<(stream.count / 4)]), Array(stream[(stream.count * 2 / 5)...])]
        let result = try await withCapture(of: cut) { try await republish($0) }
        let (first, last) = (try #require(result.entries.first), try #require(result.entries.last))
        let dated = last.programDateTimeEnd.millisecondsSince1970 - first.programDateTime.millisecondsSince1970
        let media = result.entries.reduce(0) { $0 + $1.duration } / 90
        let lost = result.status.upstream.counts.lostDurations.values.reduce(.zero, +)
        #expect(result.status.splice.counts[.periods] == 2 && lost > .seconds(1))
        #expect(abs(dated - media - Int64(lost / .milliseconds(1))) <= 1)
    }

    @Test func aKilledRecordingLosesFewParts() async throws {
        let stream = try stream
        try await withCapture(of: Array(repeating: stream, count: 3)) { capture in
            let parts = capture.index.exchanges.flatMap(\.stream).flatMap(\.parts)
            #expect(parts.reduce(0) { $0 + $1.byteCount } == 3 * stream.count)
            #expect(capture.index.exchanges.count == 3)
        }
    }
}
