import ChannelTestSupport
import LiveRing
import Mux
import Playlist
import TestSupport
import Testing
import WebTestSupport

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// The I-frame playlist and its files, judged by ffmpeg.
@Suite(.ownThreads) struct IFrameTests {
    private static func bytes(_ responder: ChannelResponder, _ uri: String) async throws -> [UInt8] {
        let response = await responder.answer(to: try RequestTarget(method: .get, uri: uri)).response()
        switch response.body {
        case .bytes(let bytes, _): return bytes
        case .made(let file):
            var bytes: [UInt8] = []
            let stream = file.read(0..<file.byteCount)
            while let next = await stream.next() { bytes += next }
            #expect(bytes.count == file.byteCount && response.contentType == .videoMP4)
            return bytes
        case .empty, .file, .stream:
            Issue.record("\(uri): \(response)")
            return []
        }
    }

    @Test(arguments: ["ssai_tagged", "open_gop", "outage"])
    func iFramesAreThoseOfTheSegments(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let snapshot = try #require(state.snapshot)
        let responder = ChannelResponder(state)
        let text = try await Self.bytes(responder, "/dvr-iframes.m3u8")
        #expect(String(decoding: text, as: UTF8.self).contains("\n#EXT-X-I-FRAMES-ONLY\n"))
        let playlist = try MediaPlaylistParser.parse(text)
        let whole = try MediaPlaylistParser.parse(try await Self.bytes(responder, "/dvr.m3u8"))
        #expect(playlist.mediaSequence == whole.mediaSequence && playlist.segments.count == whole.segments.count)
        #expect(playlist.segments.map(\.programDateTime) == whole.segments.map(\.programDateTime))
        let decoded = try channel.result.decodedFrames
        var (files, expected, count): ([ReplayResult.File], [PresentedFrame], Int) = ([], [], 0)
        for (segment, entry) in zip(playlist.segments, snapshot.index.listed) where !entry.isGap {
            let video = try #require(try StoredFragment(entry, in: snapshot).video)
            #expect(segment.isGap == !entry.isIndependent)
            if entry.isIndependent {
                let map = try #require(segment.map).uri
                let file = try await Self.bytes(responder, "/" + segment.uri)
                files.append((segment.uri, try await Self.bytes(responder, "/" + map), file))
                let times = try StoredFragment(entry, in: snapshot).videoTimes
                expected.append(decoded[count + times.count { $0 < times[0] }])
            }
            count += video.samples.count
        }
        try #require(files.count > 3)
        #expect(try ReplayResult.frames(of: files) == expected)
    }

    private static let masters: [(uri: String, line: String?)] = [
        ("/master.m3u8", "URI=\"iframes.m3u8\""), ("/dvr-master.m3u8", "URI=\"dvr-iframes.m3u8\""),
        ("/dvr-master.m3u8?last=60", "URI=\"dvr-iframes.m3u8?last=60.000\""), ("/ts/master.m3u8", nil),
    ]

    @Test(arguments: masters) func masterNamesTheIFrames(uri: String, line: String?) async throws {
        var channel = try SpooledChannel(of: .clean)
        let state = try await channel.relay()
        let text = try await Self.bytes(ChannelResponder(state), uri)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        let found = lines.first { $0.hasPrefix("#EXT-X-I-FRAME-STREAM-INF:") }
        #expect((found != nil) == (line != nil))
        if let found, let line {
            #expect(found.contains(line) && found.contains("BANDWIDTH=") && !found.contains("mp4a"), "\(found)")
        }
    }

    @Test func audioHasNoIFrames() async throws {
        var channel = try SpooledChannel(of: .audioOnly)
        let state = try await channel.relay()
        let responder = ChannelResponder(state)
        let target = try RequestTarget(method: .get, uri: "/iframes.m3u8")
        #expect(await responder.answer(to: target).response().status == .notFound)
        let master = try await Self.bytes(responder, "/master.m3u8")
        #expect(!String(decoding: master, as: UTF8.self).contains("I-FRAME"))
    }
}
