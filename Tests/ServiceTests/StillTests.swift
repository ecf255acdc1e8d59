import ChannelTestSupport
import Foundation
import LiveRing
import Media
import Mux
import Playlist
import Synchronization
import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import Transcode
@testable import WebServer

/// Stills of the rewind, judged by ffmpeg.
@Suite struct StillTests {
    private static func response(_ responder: ChannelResponder, _ uri: String) async throws -> Response {
        let target = try RequestTarget(method: .get, uri: uri)
        return await responder.answer(to: target).response()
    }

    private static func jpeg(_ response: Response) throws -> [UInt8] {
        guard case .bytes(let bytes, nil) = response.body, response.status == .ok else {
            Issue.record("\(response)")
            throw CancellationError()
        }
        #expect(response.contentType == .jpeg && response.etag != nil)
        return bytes
    }

    /// The number that is drawn into a still of the size of the frames.
    private static func frame(in jpeg: [UInt8]) throws -> PresentedFrame {
        let filter = "crop=256:16:16:16,scale=16:1:flags=area,format=gray"
        let cells = try FFmpegTool.run(
            "ffmpeg", ["-v", "error", "-i", "INPUT", "-vf", filter, "-f", "rawvideo", "-"], input: jpeg
        ).output
        let word = cells.prefix(16).reduce(0) { $0 << 1 | ($1 > 128 ? 1 : 0) }
        return PresentedFrame(program: word >> 12, number: word & 0xFFF)
    }

    /// The frames of a channel by their dates in ticks, and whether decoding may begin with each.
    private static func frames(
        _ state: ChannelState, _ result: ReplayResult
    ) throws -> [(date: Int64, isSync: Bool, width: Int, content: PresentedFrame)] {
        let snapshot = try #require(state.snapshot)
        let decoded = try result.decodedFrames
        var frames: [(date: Int64, isSync: Bool, width: Int)] = []
        for entry in snapshot.index.listed where !entry.isGap {
            let fragment = try StoredFragment(entry, in: snapshot)
            let start = entry.presented.lowerBound.count - entry.programDateTime.millisecondsSince1970 * 90
            let samples = zip(fragment.videoTimes, fragment.video?.samples ?? [])
            let width = entry.format.resolution?.width ?? 0
            frames += samples.map { ($0.count - start, $1.isRandomAccessPoint, width) }.sorted { $0.0 < $1.0 }
        }
        try #require(frames.count == decoded.count)
        return zip(frames, decoded).map { ($0.date, $0.isSync, $0.width, $1) }
    }

    @Test(arguments: ["ssai_tagged", "interlaced", "mid_gop", "open_gop", "video_codecs"])
    func stillIsTheSyncFrameBefore(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let frames = try Self.frames(state, channel.result)
        let dates = try #require(state.snapshot?.dates)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<12 {
            let range = dates.first.millisecondsSince1970..<dates.end.millisecondsSince1970
            let at = Int64.random(in: range, using: &random)
            guard let expected = frames.last(where: { $0.isSync && $0.date <= at * 90 + 90 }) else { continue }
            let uri = "/still.jpg?at=\(at / 1000).\(String(1000 + at % 1000).dropFirst())&width=\(expected.width)"
            let response = try await Self.response(responder, uri)
            #expect(response.cacheControl == .immutable)
            #expect(try Self.frame(in: try Self.jpeg(response)) == expected.content, "\(name) \(at)")
        }
        let last = try #require(frames.last { $0.isSync })
        let newest = try await Self.response(responder, "/still.jpg?width=\(last.width)")
        #expect(newest.cacheControl != .immutable)
        #expect(try Self.frame(in: try Self.jpeg(newest)) == last.content)
    }

    private static let rows: [(when: String, capture: String, uri: String, status: HTTPStatus)] = [
        ("a moment in ISO 8601", "clean", "/still.jpg?at=2026-01-01T12:00:10Z", .ok),
        ("a moment after the live edge", "clean", "/still.jpg?at=2030-01-01T00:00:00Z", .ok),
        ("before the window", "clean", "/still.jpg?at=2020-01-01T00:00:00Z", .notFound),
        ("an unreadable moment", "clean", "/still.jpg?at=noon", .badRequest),
        ("an odd width", "clean", "/still.jpg?width=161", .ok), ("the smallest", "clean", "/still.jpg?width=16", .ok),
        ("the largest", "clean", "/still.jpg?width=1280", .ok),
        ("too small", "clean", "/still.jpg?width=15", .badRequest),
        ("too large", "clean", "/still.jpg?width=1281", .badRequest),
        ("no number", "clean", "/still.jpg?width=x", .badRequest),
        ("no video", "audio_only", "/still.jpg", .notFound),
        ("no sheet of that name", "clean", "/stills-7-0.jpg", .notFound),
        ("a sheet of the past", "clean", "/stills-10-1000000.jpg", .notFound),
        ("a track", "clean", "/stills.vtt", .ok), ("a track of nothing", "clean", "/stills.vtt?end=1", .notFound),
        ("a track of an unreadable range", "clean", "/stills.vtt?last=x", .badRequest),
    ]

    @Test(arguments: rows)
    func stillIsAnswered(when: String, capture: String, uri: String, status: HTTPStatus) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(capture))
        let state = try await channel.relay()
        let response = try await Self.response(ChannelResponder(state), uri)
        #expect(response.status == status, "\(when): \(response)")
        let without = try await Self.response(ChannelResponder(state, offersStills: false), uri)
        #expect(without.status == (status == .badRequest ? .badRequest : .notFound), "\(when)")
    }

    @Test func lostAndDamagedSegments() async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let snapshot = try #require(state.snapshot)
        let (damaged, lost) = (snapshot.index.listed[1], snapshot.index.listed[2])
        let file = channel.spool.appending(path: damaged.segment.name)
        let fragment = try #require(try StoredFragment(damaged, in: snapshot).video)
        var bytes = Array(try Data(contentsOf: file))
        for index in fragment.samples[0].bytes { bytes[index] = 0xFF }
        try Data(bytes).write(to: file)
        try FileManager.default.removeItem(at: channel.spool.appending(path: lost.segment.name))
        let first = try await Self.response(responder, "/still.jpg?at=\(damaged.programDateTime.text)")
        #expect(first.status == .badGateway)
        let second = try await Self.response(responder, "/still.jpg?at=\(lost.programDateTime.text)")
        #expect(second.status == .notFound)
        #expect(state.status.stills?.failed == 2)
    }

    @Test func imagesAreKept() async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let first = try Self.jpeg(try await Self.response(responder, "/still.jpg?at=2026-01-01T12:00:10Z&width=64"))
        let again = try Self.jpeg(try await Self.response(responder, "/still.jpg?at=2026-01-01T12:00:10.1Z&width=64"))
        #expect(first == again)
        let stills = try #require(state.status.stills)
        #expect(stills.made + stills.cached == 2 && stills.cached >= 1)
    }

    // MARK: Limits

    @Test func equalRequestsAreOnePendingStill() async throws {
        let store = StillStore(pool: MediaPool("test", .init(pending: 2, ofClient: 1)))
        let (barrier, release) = AsyncStream<Void>.makeStream()
        let made = Mutex(0)
        let work: @Sendable () async -> StillResponder.Outcome = {
            for await _ in barrier {}
            made.withLock { $0 += 1 }
            return .made([1])
        }
        await withTaskGroup(of: Bool.self) { group in
            func ask(_ name: String, _ client: String?) {
                group.addTask { (try? await store.outcome(of: name, for: client, make: work)) == nil }
            }
            ask("0", "a")
            while store.pool.pendingCount < 1 { await Task.yield() }
            ask("0", "a")
            ask("0", "b")
            #expect((try? await store.outcome(of: "1", for: "a", make: work)) == nil, "one client has enough")
            ask("1", "b")
            while store.pool.pendingCount < 2 { await Task.yield() }
            #expect((try? await store.outcome(of: "2", for: "c", make: work)) == nil, "all have enough")
            release.finish()
            for await isRefused in group { #expect(!isRefused) }
        }
        #expect(made.withLock { $0 } == 2 && store.pool.pendingCount == 0)
    }

    @Test func keptBytesAreLimited() {
        let store = StillStore(byteLimit: 1000)
        for number in 0..<100 {
            store.keep(Array(repeating: 0, count: 90), as: "\(number)")
            _ = store.still(named: "0")
            #expect(store.byteCount <= 1000)
        }
        #expect(store.still(named: "0") != nil && store.still(named: "99") != nil)
        #expect(store.still(named: "50") == nil)
    }

    // MARK: Sheets

    /// A channel that published the same segment for 8 minutes or so long, with a minute without media in the middle.
    private static func repeated(_ milliseconds: Int64 = 480_000, in directory: URL) async throws -> ChannelState {
        var channel = try SpooledChannel(of: .clean)
        let source = try #require(try await channel.relay().snapshot)
        let entry = source.index.listed[1]
        let ring = try DVRRing(
            directory: directory.path, policy: RetentionPolicy(rewind: .seconds(7200), freeReserve: 0),
            targetDuration: 10)
        let initialization = InitializationFile(
            name: entry.initialization.name, bytes: try source.bytes(of: entry.initialization))
        let bytes = try source.bytes(of: entry.segment)
        let step = entry.duration / 90
        for number in 0..<milliseconds / step {
            let isLate: Int64 = number * step < 240_000 ? 0 : 60_000
            try await ring.publish(
                NewSegment(
                    initialization: initialization, header: bytes, payload: [], duration: entry.duration,
                    isDiscontinuous: number > 0,
                    programDateTime: ProgramDateTime(millisecondsSince1970: 1_000_000 + step * number + isLate),
                    resumePoint: entry.resumePoint, format: entry.format))
        }
        let state = ChannelState(upstream: "http://localhost/") { .zero }
        state.setRing(ring)
        return state
    }

    @Test func sheetHasTheRowsThatArePublished() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let state = try await Self.repeated(in: directory)
        let responder = ChannelResponder(state)
        let track = try await Self.response(responder, "/stills.vtt")
        guard case .bytes(let text, nil) = track.body else { return #expect(Bool(false), "\(track)") }
        let cues = String(decoding: text, as: UTF8.self).split(separator: "\n\n").dropFirst()
        // 540 s of time are over, of which 60 s have no media: five rows of ten tiles, without the tiles in the hole.
        #expect(cues.count == 44 && track.contentType == .webVTT)
        #expect(
            cues.first == "00:00:00.000 --> 00:00:10.000\nstills-10-1000.jpg#xywh=0,0,160,90",
            "\(cues.first ?? "")")
        let sheet = try await Self.response(responder, "/stills-10-1000.jpg")
        #expect(sheet.cacheControl == .maxAge(seconds: 10))
        let jpeg = try Self.jpeg(sheet)
        let gray = try FFmpegTool.run(
            "ffmpeg",
            ["-v", "error", "-i", "INPUT", "-vf", "scale=10:10:flags=area,format=gray", "-f", "rawvideo", "-"],
            input: jpeg
        ).output
        // The hole from 1240 s to 1300 s is the six tiles from the 24th on.
        let drawn = (0..<100).filter { gray[$0] > 8 }
        #expect(drawn == Array(0..<24) + Array(30..<50), "\(drawn)")
        #expect(try await Self.response(responder, "/stills-10-2000.jpg").status == .notFound)
    }

    @Test func sheetWithoutATileIsNotKept() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let state = try await Self.repeated(1_000_000, in: directory)
        let responder = ChannelResponder(state)
        let entry = try #require(state.snapshot?.index.listed[30])
        let (file, away) = (directory.appending(path: entry.segment.name), directory.appending(path: "away"))
        try FileManager.default.moveItem(at: file, to: away)
        let incomplete = try await Self.response(responder, "/stills-10-1000.jpg")
        #expect(incomplete.cacheControl == .maxAge(seconds: 10))
        _ = try Self.jpeg(incomplete)
        #expect(state.status.stills?.failed == 1 && state.status.stills?.made == 0)
        try FileManager.default.moveItem(at: away, to: file)
        let whole = try await Self.response(responder, "/stills-10-1000.jpg")
        #expect(whole.cacheControl == .immutable && whole.etag != incomplete.etag)
        #expect(state.status.stills?.made == 1)
    }

    private static let spans: [(seconds: Int64, interval: Int64)] = [
        (60, 10), (7200, 10), (19_999, 10), (20_000, 30), (86_400, 60), (604_800, 600), (31_622_400, 21_600),
    ]

    @Test(arguments: spans) func intervalGrowsWithTheWindow(seconds: Int64, interval: Int64) {
        #expect(StillSheet.interval(for: seconds * 1000) == interval)
    }

    private static let names: [(name: String, exists: Bool)] = [
        ("stills-10-1000.jpg", true), ("stills-600-60000.jpg", true), ("stills-10-1010.jpg", false),
        ("stills-11-1100.jpg", false), ("stills-10--1000.jpg", false), ("stills-10-01000.jpg", false),
        ("stills-10-1000", false), ("stills--.jpg", false), ("stills-10-99999999999999000.jpg", false),
    ]

    @Test(arguments: names) func sheetsHaveNames(name: String, exists: Bool) {
        #expect((StillSheet(name: name) != nil) == exists)
        if exists { #expect(StillSheet(name: name)?.name == name) }
    }
}
