import ChannelTestSupport
import Foundation
import LiveRing
import Media
import Mux
import Playlist
import Synchronization
import TestSupport
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import Transcode
@testable import WebServer

/// The slate in the place of ad breaks, by HTTP, judged by ffmpeg.
@Suite(.ownThreads) struct BreakSlateTests {
    private static func bytes(_ responder: ChannelResponder, _ uri: String) async throws -> [UInt8] {
        let response = await responder.answer(to: try RequestTarget(method: .get, uri: uri)).response()
        #expect(response.status == .ok, "\(uri)")
        switch response.body {
        case .bytes(let bytes, _): return bytes
        case .file(let path, _): return [UInt8](try Data(contentsOf: URL(filePath: path)))
        case .made(let file):
            var bytes: [UInt8] = []
            let stream = file.read(0..<file.byteCount)
            while let next = await stream.next() { bytes += next }
            return bytes
        case .empty, .stream:
            Issue.record("\(uri): \(response)")
            return []
        }
    }

    private static func withChannel(
        _ capture: String, _ use: (ChannelState, ChannelResponder) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4")
        try SlateFixture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var channel = try SpooledChannel(of: CaptureFixture(capture))
        let state = try await channel.relay()
        state.setAds(
            .keep,
            BreakSlate(try SlateSource(file.path), longestSegment: .seconds(6), audio: AudioSettings()) { .zero })
        try await use(state, ChannelResponder(state))
    }

    @Test(arguments: ["dash_periods", "event_messages"])
    func slateHasTheTimesOfTheBreak(_ capture: String) async throws {
        try await Self.withChannel(capture) { state, responder in
            let index = try #require(state.snapshot).index
            let plain = try MediaPlaylistParser.parse(try await Self.bytes(responder, "/dvr.m3u8"))
            let playlist = try MediaPlaylistParser.parse(try await Self.bytes(responder, "/dvr.m3u8?ads=slate"))
            #expect(playlist.segments.map(\.mediaSequence) == plain.segments.map(\.mediaSequence))
            #expect(playlist.segments.map(\.duration) == plain.segments.map(\.duration))
            var replaced = 0
            for (segment, entry) in zip(playlist.segments, index.listed) {
                #expect((segment.uri != entry.segment.name) == entry.adBreak.isInside)
                guard entry.adBreak.isInside else { continue }
                replaced += 1
                let map = try await Self.bytes(responder, "/" + (try #require(segment.map).uri))
                let file = try await Self.bytes(responder, "/" + segment.uri)
                let tracks = try FragmentTrack.tracks(
                    of: BoxReader.wholeBoxes(in: file[...]).boxes.require("moof"))
                let video = try #require(tracks[TrackID.video])
                let end = video.samples.reduce(video.decodeTime) { $0 + Int64($1.duration) }
                let offset = Int64(video.samples[0].compositionOffset)
                #expect(end + offset == entry.resumePoint.presentationEnd)
                #expect(video.decodeTime + offset == entry.resumePoint.presentationEnd - entry.duration)
                #expect(video.samples[0].isRandomAccessPoint)
                var time = video.decodeTime
                for sample in video.samples {
                    #expect(time + Int64(sample.compositionOffset) < entry.resumePoint.presentationEnd)
                    time += Int64(sample.duration)
                }
                let audio = try #require(tracks[TrackID.audio])
                let length = audio.samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
                #expect(abs(length - entry.duration * 1568 / 10) <= Int64(audio.samples[0].duration))
                let decoded = try FFmpegTool.run(
                    "ffmpeg", ["-v", "warning", "-i", "INPUT", "-f", "null", "-"], input: map + file)
                #expect(decoded.errors == "", "\(segment.uri)")
            }
            #expect(replaced > 1, "\(replaced)")
        }
    }

    @Test func otherFormsHaveTheSlateToo() async throws {
        try await Self.withChannel("dash_periods") { state, responder in
            let entries = try #require(state.snapshot).index.listed
            let plain = try MediaPlaylistParser.parse(try await Self.bytes(responder, "/ts/dvr.m3u8"))
            let playlist = try MediaPlaylistParser.parse(try await Self.bytes(responder, "/ts/dvr.m3u8?ads=slate"))
            var stream: [UInt8] = []
            for ((segment, published), entry) in zip(zip(playlist.segments, plain.segments), entries) {
                #expect((segment.uri != published.uri) == entry.adBreak.isInside)
                stream += try await Self.bytes(responder, "/ts/" + segment.uri)
            }
            let probe = try FFmpegTool.run(
                "ffprobe", ["-v", "error", "-count_frames", "-show_entries", "stream=codec_type", "INPUT"],
                input: stream)
            #expect(probe.text.contains("video") && probe.text.contains("audio"))
            for path in ["/dvr-iframes.m3u8", "/dvr-video.m3u8", "/dvr-audio-0.m3u8"] {
                let response = await responder.answer(
                    to: try RequestTarget(method: .get, uri: path + "?ads=slate")
                ).response()
                guard response.status == .ok, case .bytes(let text, _) = response.body else { continue }
                for segment in try MediaPlaylistParser.parse(text).segments where !segment.isGap {
                    #expect(try await !Self.bytes(responder, "/" + segment.uri).isEmpty)
                    if let map = segment.map { #expect(try await !Self.bytes(responder, "/" + map.uri).isEmpty) }
                }
            }
            let master = String(decoding: try await Self.bytes(responder, "/master.m3u8?ads=slate"), as: UTF8.self)
            #expect(master.contains("live.m3u8?ads=slate\n"))
            let first = try #require(entries.first { $0.adBreak.isInside })
            let made = try await state.transportSegment(of: first, in: try #require(state.snapshot), ads: .slate)
            #expect(made.entry.segment.name != first.segment.name && !made.segment.bytes.isEmpty)
            let kept = try await state.transportSegment(of: first, in: try #require(state.snapshot))
            #expect(kept.entry == first)
        }
    }

    @Test func refusals() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let responder = ChannelResponder(try await channel.relay())
        for (uri, status) in [
            ("/live.m3u8?ads=slate", 404), ("/live.ts?ads=slate", 404), ("/live.m3u8?ads=skip", 400),
            ("/live.m3u8?ads=keep", 200), ("/live.m3u8?ads=mark", 200), ("/live.ts?ads=skip", 400),
        ] {
            let response = await responder.answer(to: try RequestTarget(method: .get, uri: uri)).response()
            #expect(response.status.rawValue == status, "\(uri)")
        }
    }

    private typealias Reading = SlateReading<Int, Int>
    private static let failure = SlateError(.media(MediaError(.noVideo, section: "")), path: "slate.mp4")
    private static let otherFailure = SlateError(.media(MediaError(.canceled, section: "")), path: "slate.mp4")

    private enum Act {
        case ask(at: Int, String)
        case end(Result<Int, SlateError>, at: Int, waiters: Int, BreakSlateChange?)
    }

    private static let readings: [(when: String, acts: [Act])] = [
        (
            "it is read once for all",
            [
                .ask(at: 0, "read"), .ask(at: 0, "wait"), .ask(at: 1, "wait"),
                .end(.success(1), at: 2, waiters: 3, nil),
                .ask(at: 3, "use"), .ask(at: 300, "use"),
            ]
        ),
        (
            "a failure is for all who wait",
            [
                .ask(at: 0, "read"), .ask(at: 0, "wait"), .end(.failure(failure), at: 1, waiters: 2, .failed(failure)),
            ]
        ),
        (
            "nobody reads it for a while",
            [
                .ask(at: 0, "read"), .end(.failure(failure), at: 10, waiters: 1, .failed(failure)),
                .ask(at: 10, "refuse"),
                .ask(at: 39, "refuse"), .ask(at: 40, "read"), .ask(at: 40, "wait"),
            ]
        ),
        (
            "the same failure is reported once, and then that it is over",
            [
                .ask(at: 0, "read"), .end(.failure(failure), at: 0, waiters: 1, .failed(failure)), .ask(at: 60, "read"),
                .end(.failure(failure), at: 60, waiters: 1, nil), .ask(at: 120, "read"),
                .end(.failure(otherFailure), at: 120, waiters: 1, .failed(otherFailure)), .ask(at: 180, "read"),
                .end(.success(1), at: 180, waiters: 1, .recovered), .ask(at: 181, "use"),
            ]
        ),
        ("an end without a reading", [.end(.success(1), at: 0, waiters: 0, nil), .ask(at: 0, "read")]),
        (
            "too many wait",
            [.ask(at: 0, "read")] + (1..<Reading.mostWaiters).map { _ in .ask(at: 0, "wait") } + [.ask(at: 0, "refuse")]
        ),
    ]

    @Test func slateIsReadOnceAtATime() {
        for row in Self.readings {
            var reading = Reading()
            for (number, act) in row.acts.enumerated() {
                switch act {
                case .ask(let seconds, let expected):
                    let step = reading.request(number, at: .seconds(seconds))
                    #expect("\(step)".prefix { $0 != "(" } == expected, "\(row.when), \(number)")
                case .end(let result, let seconds, let count, let change):
                    let ended = reading.finish(result, at: .seconds(seconds))
                    #expect(ended.waiters.count == count && ended.change == change, "\(row.when), \(number)")
                }
            }
        }
    }

    /// Players that ask at once get one reading of the slate, and one report if it fails.
    @Test func playersShareAReading() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4")
        try SlateFixture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let source = try SlateSource(file.path)
        let bytes = try Data(contentsOf: file)
        var channel = try SpooledChannel(of: CaptureFixture("dash_periods"))
        let state = try await channel.relay()
        let seconds = Mutex(0)
        let changes = Mutex<[BreakSlateChange]>([])
        let slate = BreakSlate(
            source, longestSegment: .seconds(6), audio: AudioSettings(),
            now: { .seconds(seconds.withLock { $0 }) }, report: { change in changes.withLock { $0.append(change) } })
        state.setAds(.slate, slate)
        func ask() async -> Int {
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { await state.loadBreakSlate() != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        try Data().write(to: file)
        #expect(await ask() == 0)
        try bytes.write(to: file)
        #expect(await ask() == 0, "nobody reads it for 30 s")
        #expect(changes.withLock { $0.count } == 1)
        seconds.withLock { $0 = 30 }
        #expect(await ask() == 20)
        #expect(changes.withLock { $0.last } == .recovered && changes.withLock { $0.count } == 2)
    }
}
