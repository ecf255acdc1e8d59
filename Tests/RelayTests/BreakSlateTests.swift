import ChannelTestSupport
import Foundation
import LiveRing
import Media
import Mux
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Service
@testable import Support
@testable import WebServer

/// The slate in the place of ad breaks, by HTTP, judged by ffmpeg.
@Suite(.ownThreads) struct BreakSlateTests {
    private static func bytes(_ responder: RelayResponder, _ uri: String) async throws -> [UInt8] {
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
        _ capture: String, _ use: (ChannelState, RelayResponder) async throws -> Void
    ) async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "slate-\(UUID().uuidString).mp4")
        try SlateFixture.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var channel = try SpooledChannel(of: CaptureFixture(capture))
        let state = try await channel.relay()
        state.setAds(
            .keep, BreakSlate(try SlateSource(file.path), longestSegment: .seconds(6), audio: AudioSettings()))
        try await use(state, RelayResponder(channel: ChannelResponder(state)))
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
        let responder = RelayResponder(channel: ChannelResponder(try await channel.relay()))
        for (uri, status) in [
            ("/live.m3u8?ads=slate", 404), ("/live.ts?ads=slate", 404), ("/live.m3u8?ads=skip", 400),
            ("/live.m3u8?ads=keep", 200), ("/live.m3u8?ads=mark", 200), ("/live.ts?ads=skip", 400),
        ] {
            let response = await responder.answer(to: try RequestTarget(method: .get, uri: uri)).response()
            #expect(response.status.rawValue == status, "\(uri)")
        }
    }
}
