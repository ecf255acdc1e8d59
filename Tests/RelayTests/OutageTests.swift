import Capture
import Channel
import ChannelTestSupport
import Export
import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Fetch
@testable import Support

/// A looped capture as an upstream, with a backup and faults, relayed on a virtual clock.
private struct OutageChannel {
    static let upstream = "http://primary.example/main.m3u8"
    static let backup = "http://backup.example/main.m3u8"

    var primary = CaptureFixture.clean
    /// Seconds during which the upstream refuses all connections.
    var unreachable: [Range<Int>] = []
    /// Seconds during which the upstream's segments hold no media.
    var garbage: [Range<Int>] = []
    var backup: CaptureFixture?
    var slate: SlateSource?
    /// Actions, in order; each is performed before the first output after so many seconds.
    var actions: [(second: Int64, perform: () throws -> Void)] = []

    func play(seconds: Int) async throws -> OutageResult {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        var configuration = RelayConfiguration(
            upstream: Self.upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        configuration.slate = slate
        configuration.backups = backup == nil ? [] : [Self.backup]
        let state = ChannelState(upstream: Self.upstream) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { 0 })
        let origins = [
            "primary.example": try Self.origin(primary), "backup.example": try Self.origin(backup ?? primary),
        ]
        var driver = ReplayDriver(
            session: ChannelSession(upstream: Self.upstream, policy: configuration.policy))
        var result = OutageResult()
        var actions = self.actions[...]
        _ = try await driver.run(until: .seconds(seconds)) { request, now in
            (answer(request, origins, at: now), .milliseconds(20))
        } perform: { output, now in
            while let next = actions.first, now >= .seconds(next.second) { try actions.removeFirst().perform() }
            let outcome = try await relay.perform(output, at: now)
            guard let live = state.snapshot?.livePlaylist(), live != result.versions.last?.text else { return outcome }
            result.versions.append((now, live))
            return outcome
        }
        result.status = state.status
        let snapshot = try #require(state.snapshot)
        for entry in snapshot.index.listed {
            let bytes = entry.isGap ? [] : Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.segment))))
            result.segments.append((entry, bytes))
        }
        return result
    }

    private func answer(_ request: FetchRequest, _ origins: [String: CapturedOrigin], at now: Duration) -> FetchOutcome
    {
        guard let url = URL(string: request.url), let origin = origins[url.host() ?? ""] else {
            return .failure(FetchError(.unresolvedHost, url: request.url))
        }
        let isPrimary = url.host() == "primary.example"
        let second = Int(now.components.seconds)
        if isPrimary, unreachable.contains(where: { $0.contains(second) }) {
            return .failure(FetchError(.refused, url: request.url))
        }
        if isPrimary, request.purpose == .segment, garbage.contains(where: { $0.contains(second) }) {
            return .success(FetchAnswer(status: 200, finalURL: request.url, body: Array(repeating: 0x21, count: 4000)))
        }
        let path = url.path() == "/main.m3u8" ? origin.entryPath : url.path()
        let response = origin.response(to: path, range: nil, at: now)
        return .success(FetchAnswer(status: response.status, finalURL: request.url, body: response.body))
    }

    private static func origin(_ fixture: CaptureFixture) throws -> CapturedOrigin {
        let capture = try CaptureDirectory(fixture.directory)
        return try CapturedOrigin(CaptureDirectory(capture.url, index: capture.index.withoutFaults), loops: true)
    }
}

/// Everything that a channel published.
private struct OutageResult {
    var versions: [(at: Duration, text: [UInt8])] = []
    var segments: [(entry: RingEntry, bytes: [UInt8])] = []
    var status: RelayStatus?

    /// The listed segments: `s` is a segment, `-` a gap, `|` precedes a discontinuity.
    var trace: String {
        segments.map { ($0.entry.isDiscontinuous ? "|" : "") + ($0.entry.isGap ? "-" : "s") }.joined()
    }

    /// The longest time during which live.m3u8 did not change.
    var longestStandstill: Duration {
        zip(versions, versions.dropFirst()).map { $1.at - $0.at }.max() ?? .zero
    }

    /// Expects that each segment's `tfdt` is the end of the entry before it, gaps included.
    func expectContinuousClocks(_ comment: Comment) {
        var expected: UInt64?
        for (entry, bytes) in segments {
            let begins = entry.isGap ? expected : Self.videoDecodeTime(bytes)
            if let expected { #expect(begins == expected, "\(comment): \(entry.mediaSequence)") }
            expected = entry.resumePoint.videoDecodeTime
            guard let begins, let expected else { continue }
            #expect(expected - begins == UInt64(entry.duration), "\(comment): \(entry.mediaSequence)")
        }
    }

    /// Returns the value of the first `tfdt` in a segment, which is the video track's: 64 bits, since its version is 1.
    private static func videoDecodeTime(_ bytes: [UInt8]) -> UInt64? {
        let type = Array("tfdt".utf8)
        guard let index = bytes.indices.first(where: { bytes[$0...].starts(with: type) }) else { return nil }
        return bytes[index...].dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Expects that each entry's date is the end of the entry before it, gaps included.
    func expectContinuousDates(_ comment: Comment) {
        for (entry, next) in zip(segments, segments.dropFirst()) {
            let (end, start) = (entry.entry.programDateTimeEnd, next.entry.programDateTime)
            let difference = start.millisecondsSince1970 - end.millisecondsSince1970
            #expect((-1...1).contains(difference), "\(comment): \(next.entry.mediaSequence)")
        }
    }
}

/// The capture has five segments of 2 s; each iteration begins with a discontinuity.
@Test func outageIsFilledWithGaps() async throws {
    let result = try await OutageChannel(unreachable: [20..<41]).play(seconds: 60)
    #expect(result.trace == "sssss|sssss|ss---------|ssss|sssss|ss", "looped media is no duplicate")
    #expect(result.longestStandstill <= .milliseconds(5900), "2.875 target durations")
    #expect(result.status?.output.gapSegments == 9 && result.status?.upstream.outageSeconds == 18)
    result.expectContinuousClocks("an outage")
    result.expectContinuousDates("an outage")
}

@Test func backupTakesOverUntilPrimaryIsHealthy() async throws {
    let result = try await OutageChannel(unreachable: [20..<41], backup: .ssaiTagged).play(seconds: 160)
    #expect(result.trace.hasPrefix("sssss|sssss|ss|sss|ssssss"), "the backup proves alive before a gap")
    #expect(result.longestStandstill <= .milliseconds(8100))
    let status = try #require(result.status)
    #expect(status.upstream.activeSource == 0 && status.upstream.failovers == 2)
    #expect(status.state == .live && status.output.gapSegments == 0)
    let codecs = Set(result.segments.map { $0.entry.initialization.name })
    #expect(codecs.count > 1, "the backup's own init sections")
    result.expectContinuousClocks("a backup")
    result.expectContinuousDates("a backup")
}

/// The playlist grows all the time.
@Test func segmentsWithoutMediaAreAnOutage() async throws {
    let result = try await OutageChannel(garbage: [20..<90]).play(seconds: 40)
    let status = try #require(result.status)
    #expect(status.state == .outage && status.output.gapSegments > 3)
    let message = status.reason?.message ?? "-"
    #expect(message.contains("there is no media in its segments"), "\(message)")
    #expect(result.longestStandstill <= .milliseconds(8100))
    result.expectContinuousClocks("no media")
}

@Test func backupTakesOverFromSegmentsWithoutMedia() async throws {
    let result = try await OutageChannel(garbage: [20..<900], backup: .ssaiTagged).play(seconds: 240)
    let status = try #require(result.status)
    #expect(status.state == .live && status.upstream.activeSource == 1)
    #expect(status.upstream.failovers == 1, "a growing playlist alone is not healthy")
    #expect(result.longestStandstill <= .milliseconds(10_000))
    result.expectContinuousClocks("a backup for garbage")
}

@Test func backupMayHaveCompanionAudio() async throws {
    let result = try await OutageChannel(unreachable: [20..<41], backup: .demuxedAES128).play(seconds: 60)
    #expect(result.trace.hasPrefix("sssss|sssss|ss-|s"))
    #expect(result.status?.upstream.activeSource == 1)
    #expect(result.segments.allSatisfy { $0.entry.isGap || $0.entry.format.audioCodec != nil })
    result.expectContinuousClocks("another structure")
}

@Test func slateIsPublishedBeforePlayersRunDry() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
    defer { try? FileManager.default.removeItem(at: file) }
    try SlateFixture.write(to: file)
    let result = try await OutageChannel(unreachable: [20..<41], slate: try SlateSource(file.path)).play(seconds: 60)
    #expect(result.longestStandstill <= .milliseconds(5900), "2.875 target durations")
    let status = try #require(result.status)
    #expect(status.output.gapSegments == 0 && status.output.slateSegments >= 11)
    #expect(result.trace.hasPrefix("sssss|sssss") && !result.trace.contains("-"))
    result.expectContinuousClocks("a slate")
    result.expectContinuousDates("a slate")
}

@Test func overwrittenSlateIsGapsUntilItIsComplete() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
    let other = file.deletingPathExtension().appendingPathExtension("other.mp4")
    defer { for file in [file, other] { try? FileManager.default.removeItem(at: file) } }
    try SlateFixture.write(to: file)
    try SlateFixture.write(to: other, pattern: "testsrc=size=192x108:rate=25:duration=3")
    let new = try Data(contentsOf: other)
    let channel = OutageChannel(
        unreachable: [20..<41], slate: try SlateSource(file.path),
        actions: [(28, { try new.prefix(3000).write(to: file) }), (34, { try new.write(to: file) })])
    let result = try await channel.play(seconds: 60)
    let widths = result.segments.map { $0.entry.isGap ? 0 : $0.entry.format.resolution?.width ?? -1 }
    let changes = widths.indices.filter { $0 == 0 || widths[$0] != widths[$0 - 1] }.map { widths[$0] }
    #expect(changes == [640, 320, 0, 192, 640], "\(widths)")
    #expect(result.longestStandstill <= .milliseconds(5900))
    result.expectContinuousClocks("an overwritten slate")
    result.expectContinuousDates("an overwritten slate")
}
