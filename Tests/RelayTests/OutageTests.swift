import Capture
import Foundation
import LiveRing
import Logging
import Playlist
import Splice
import TestSupport
import Testing
import Tracker

@testable import liverelay

/// A channel that plays a capture over and over, and its backup, each away at times, on a virtual clock.
private struct OutageChannel {
    static let upstream = "http://home.example/main.m3u8"
    static let backup = "http://backup.example/main.m3u8"

    var home = CaptureFixture.clean
    /// Seconds in which a source answers nothing.
    var away: [Range<Int>] = []
    /// Seconds in which its segments are something else.
    var garbage: [Range<Int>] = []
    var backup: CaptureFixture?
    var slate: SlateSource?
    /// What somebody does meanwhile, in front of the first thing that is published after so many seconds; in order.
    var meanwhile: [(second: Int64, act: () throws -> Void)] = []

    func play(seconds: Int) async throws -> PlayedOutage {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        var configuration = RelayConfiguration(
            upstream: Self.upstream, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        configuration.slate = slate
        configuration.backups = backup == nil ? [] : [Self.backup]
        let site = ChannelResponder(upstream: Self.upstream) { .zero }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var relay = Relay(configuration, site: site, log: RelayLog(logger)) { 0 }
        let origins = ["home.example": try Self.origin(home), "backup.example": try Self.origin(backup ?? home)]
        var driver = ReplayDriver(
            session: ChannelSession(upstream: Self.upstream, policy: configuration.policy))
        var aired = PlayedOutage()
        var meanwhile = self.meanwhile[...]
        _ = try await driver.run(until: .seconds(seconds)) { request, now in
            (answer(request, origins, at: now), .milliseconds(20))
        } perform: { output, now in
            while let next = meanwhile.first, now >= .seconds(next.second) { try meanwhile.removeFirst().act() }
            let reception = try await relay.perform(output, at: now)
            guard let live = site.snapshot?.livePlaylist, live != aired.versions.last?.text else { return reception }
            aired.versions.append((now, live))
            return reception
        }
        aired.status = site.status
        let snapshot = try #require(site.snapshot)
        for entry in snapshot.index.listed {
            let bytes = entry.isGap ? [] : Array(try Data(contentsOf: URL(filePath: snapshot.path(of: entry.segment))))
            aired.segments.append((entry, bytes))
        }
        return aired
    }

    private func answer(_ request: FetchRequest, _ origins: [String: RecordedOrigin], at now: Duration) -> FetchOutcome
    {
        guard let url = URL(string: request.url), let origin = origins[url.host() ?? ""] else {
            return .failure(FetchError(.unresolvedHost, url: request.url))
        }
        let isHome = url.host() == "home.example"
        if isHome, away.contains(where: { $0.contains(Int(now.components.seconds)) }) {
            return .failure(FetchError(.refused, url: request.url))
        }
        if isHome, request.purpose == .segment, garbage.contains(where: { $0.contains(Int(now.components.seconds)) }) {
            return .success(FetchAnswer(status: 200, finalURL: request.url, body: Array(repeating: 0x21, count: 4000)))
        }
        let path = url.path() == "/main.m3u8" ? origin.entryPath : url.path()
        let response = origin.response(to: path, range: nil, at: now)
        return .success(FetchAnswer(status: response.status, finalURL: request.url, body: response.body))
    }

    private static func origin(_ fixture: CaptureFixture) throws -> RecordedOrigin {
        let capture = try CaptureDirectory(fixture.directory)
        return try RecordedOrigin(CaptureDirectory(capture.url, index: capture.index.withoutFaults), loops: true)
    }
}

/// What a channel published.
private struct PlayedOutage {
    var versions: [(at: Duration, text: [UInt8])] = []
    var segments: [(entry: RingEntry, bytes: [UInt8])] = []
    var status: RelayStatus?

    /// `s` a segment, `-` a gap, `|` before what lies behind a discontinuity.
    var trace: String {
        segments.map { ($0.entry.isDiscontinuous ? "|" : "") + ($0.entry.isGap ? "-" : "s") }.joined()
    }

    /// The longest time in which live.m3u8 did not change.
    var longestStandstill: Duration {
        zip(versions, versions.dropFirst()).map { $1.at - $0.at }.max() ?? .zero
    }

    /// Each segment begins, in the bytes of it, where the clocks stood behind the one before, gaps included.
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

    /// Of the first `tfdt` in a segment, which is the video track's: version 1, so 64 bits behind version and flags.
    private static func videoDecodeTime(_ bytes: [UInt8]) -> UInt64? {
        let type = Array("tfdt".utf8)
        guard let index = bytes.indices.first(where: { bytes[$0...].starts(with: type) }) else { return nil }
        return bytes[index...].dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Dates go on from one entry to the next, gaps included.
    func expectContinuousDates(_ comment: Comment) {
        for (entry, next) in zip(segments, segments.dropFirst()) {
            let (end, start) = (entry.entry.programDateTimeEnd, next.entry.programDateTime)
            let apart = start.millisecondsSince1970 - end.millisecondsSince1970
            #expect((-1...1).contains(apart), "\(comment): \(next.entry.mediaSequence)")
        }
    }
}

/// The capture is five segments of 2 s, played over and over, each round behind a discontinuity of its own.
@Test func anOutageIsShownByGapsAndTheChannelGoesOnBehindThem() async throws {
    let aired = try await OutageChannel(away: [20..<41]).play(seconds: 60)
    #expect(aired.trace == "sssss|sssss|ss--------|sssss|sssss|sssss|ss", "a loop brings no duplicates")
    #expect(aired.longestStandstill <= .milliseconds(8100), "eight seconds, as target durations are short")
    #expect(aired.status?.output.gapSegments == 8 && aired.status?.upstream.outageSeconds == 16)
    aired.expectContinuousClocks("an outage")
    aired.expectContinuousDates("an outage")
}

@Test func aBackupStandsInAndIsLeftAgain() async throws {
    let aired = try await OutageChannel(away: [20..<41], backup: .ssaiTagged).play(seconds: 160)
    #expect(aired.trace.hasPrefix("sssss|sssss|ss-|ssss|"), "one gap until the backup is known to be alive")
    #expect(aired.longestStandstill <= .milliseconds(8100))
    let status = try #require(aired.status)
    #expect(status.upstream.activeSource == 0 && status.upstream.failovers == 2)
    #expect(status.state == .live && status.output.gapSegments == 1)
    let codecs = Set(aired.segments.map { $0.entry.initialization.name })
    #expect(codecs.count > 1, "the backup's own init sections")
    aired.expectContinuousClocks("a backup")
    aired.expectContinuousDates("a backup")
}

/// The list goes on all the while.
@Test func segmentsThatAreNoMediaAreAnOutage() async throws {
    let aired = try await OutageChannel(garbage: [20..<90]).play(seconds: 40)
    let status = try #require(aired.status)
    #expect(status.state == .outage && status.output.gapSegments > 3)
    #expect(status.reason?.contains("there is no media in its segments") == true, "\(status.reason ?? "-")")
    #expect(aired.longestStandstill <= .milliseconds(8100))
    aired.expectContinuousClocks("no media")
}

@Test func aBackupStandsInForSegmentsThatAreNoMedia() async throws {
    let aired = try await OutageChannel(garbage: [20..<900], backup: .ssaiTagged).play(seconds: 240)
    let status = try #require(aired.status)
    #expect(status.state == .live && status.upstream.activeSource == 1)
    #expect(status.upstream.failovers == 1, "the upstream is not taken back for its list")
    #expect(aired.longestStandstill <= .milliseconds(10_000))
    aired.expectContinuousClocks("a backup for garbage")
}

@Test func sourcesMayHaveTheirSoundInOtherPlaces() async throws {
    let aired = try await OutageChannel(away: [20..<41], backup: .demuxedAES128).play(seconds: 60)
    #expect(aired.trace.hasPrefix("sssss|sssss|ss-|s"))
    #expect(aired.status?.upstream.activeSource == 1)
    #expect(aired.segments.allSatisfy { $0.entry.isGap || $0.entry.format.audioCodec != nil })
    aired.expectContinuousClocks("another structure")
}

@Test func aSlateStandsInBeforeViewersRunDry() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
    defer { try? FileManager.default.removeItem(at: file) }
    try makeSlate(file)
    let aired = try await OutageChannel(away: [20..<41], slate: try SlateSource(file.path)).play(seconds: 60)
    #expect(aired.longestStandstill <= .milliseconds(3100), "one and a half target durations")
    let status = try #require(aired.status)
    #expect(status.output.gapSegments == 0 && status.output.slateSegments >= 11)
    #expect(aired.trace.contains("|sssss|sssss") && !aired.trace.contains("-"))
    aired.expectContinuousClocks("a slate")
    aired.expectContinuousDates("a slate")
}

@Test func aSlateThatIsWrittenOverIsGapsUntilItIsWhole() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "liverelay-slate-\(UUID().uuidString).mp4")
    let other = file.deletingPathExtension().appendingPathExtension("other.mp4")
    defer { for file in [file, other] { try? FileManager.default.removeItem(at: file) } }
    try makeSlate(file)
    try makeSlate(other, picture: "testsrc=size=192x108:rate=25:duration=3")
    let new = try Data(contentsOf: other)
    let channel = OutageChannel(
        away: [20..<41], slate: try SlateSource(file.path),
        meanwhile: [(28, { try new.prefix(3000).write(to: file) }), (34, { try new.write(to: file) })])
    let aired = try await channel.play(seconds: 60)
    let widths = aired.segments.map { $0.entry.isGap ? 0 : $0.entry.format.resolution?.width ?? -1 }
    let changes = widths.indices.filter { $0 == 0 || widths[$0] != widths[$0 - 1] }.map { widths[$0] }
    #expect(changes == [640, 320, 0, 192, 640], "\(widths)")
    #expect(aired.longestStandstill <= .milliseconds(3100))
    aired.expectContinuousClocks("a slate that is written over")
    aired.expectContinuousDates("a slate that is written over")
}

/// Three seconds of a source of pictures, and tone.
func makeSlate(_ file: URL, picture: String = "testsrc=size=320x180:rate=25:duration=3") throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i"]
        + ["sine=frequency=440:sample_rate=44100:duration=3", "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p"]
        + ["-c:a", "aac", "-ac", "1", file.path]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
}
