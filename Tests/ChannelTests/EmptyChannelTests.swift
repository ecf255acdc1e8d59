import Foundation
import LiveRing
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Fetch
@testable import Media
@testable import Splice
@testable import Support
@testable import Tracker

/// A finished playlist of which nothing, or no video, can be published.
@Suite struct EmptyChannelTests {
    typealias Builder = TransportStreamBuilder

    static let url = "http://channel.example/vod.m3u8"
    static let aac = Builder.Stream(pid: 0x101, type: 0x0F)
    static let vc1 = Builder.Stream(pid: 0x100, type: 0xEA)
    static let h264 = Builder.Stream(pid: 0x100, type: 0x1B)
    static let ac4 = Builder.Stream(pid: 0x102, type: 0x06, descriptors: [0x05, 4] + Array("AC-4".utf8))

    /// One ADTS frame of 1024 samples.
    private static let frame: [UInt8] =
        [0xFF, 0xF1, 0x4C, 0x80, 0x02, 0x1F, 0xFC] + [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C, 0, 0, 0]

    private static func stream(_ streams: [Builder.Stream], audioFrames: Int = 0, from pts: Int64 = 0) -> [UInt8] {
        var builder = Builder()
        builder.tables(streams)
        for index in 0..<audioFrames {
            builder.pes(pid: 0x101, streamID: 0xC0, pts: pts + Int64(index) * 1920, frame)
        }
        return builder.cut()
    }

    private static var scrambled: [UInt8] {
        var builder = Builder()
        builder.tables([h264, aac])
        for index in 0..<200 {
            let bytes = (0..<184).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index) }
            builder.packet(pid: 0x100, startsUnit: index % 20 == 0, payload: bytes, isScrambled: true)
        }
        return builder.cut()
    }

    /// The box structure of an MP4 file that is not fragmented.
    private static var movie: [UInt8] {
        func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
            let size = UInt32(8 + body.count)
            return (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(type.utf8) + body
        }
        return box("ftyp", Array("isom".utf8) + [0, 0, 2, 0])
            + box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)))
            + box("mdat", [UInt8](repeating: 1, count: 5000))
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// Segments; nil is answered with 404.
        let segments: [[UInt8]?]
        var requiresVideo = false
        let matches: @Sendable (ChannelError?) -> Bool

        var testDescription: String { when }
    }

    private static func isUnusable(_ error: ChannelError?, segments: Int, _ reason: MediaError.Reason) -> Bool {
        guard case .unusable(let error, segments, false, url)? = error else { return false }
        return error.reason == reason
    }

    static let rows = [
        Row(when: "one segment of garbage", segments: [[UInt8](repeating: 9, count: 1000)]) {
            isUnusable($0, segments: 1, .unknownContainer(firstBytes: [UInt8](repeating: 9, count: 16)))
        },
        Row(when: "scrambled video", segments: [scrambled, scrambled]) { isUnusable($0, segments: 2, .scrambled) },
        Row(when: "MP4 files without tracks", segments: [movie, movie]) {
            isUnusable($0, segments: 2, .noSupportedTrack(sampleEntries: []))
        },
        Row(when: "VC-1 alone", segments: [stream([vc1])]) {
            isUnusable($0, segments: 1, .noSupportedStream(streamTypes: [0xEA], names: ["VC-1"]))
        },
        Row(when: "no segment", segments: []) {
            guard case .empty(let found, url)? = $0 else { return false }
            return found == EmptyChannel()
        },
        Row(when: "segments that are gone", segments: [nil, nil]) {
            guard case .empty(let found, url)? = $0 else { return false }
            return found.segments == 0 && found.lost == 2 && found.lossReason == .unavailable(.refused(status: 404))
        },
        Row(
            when: "VC-1 beside audio, video required",
            segments: [
                stream([vc1, aac], audioFrames: 90), stream([vc1, aac], audioFrames: 90, from: 90 * 1920),
            ],
            requiresVideo: true
        ) {
            isUnusable($0, segments: 2, .noUsableVideo(streams: ["VC-1", "AAC or MPEG audio"]))
        },
        Row(when: "audio alone, video required", segments: [stream([aac], audioFrames: 90)], requiresVideo: true) {
            isUnusable($0, segments: 1, .noUsableVideo(streams: ["AAC or MPEG audio"]))
        },
        Row(when: "audio alone", segments: [stream([aac], audioFrames: 90)]) { $0 == nil },
    ]

    @Test(arguments: rows) func finishedChannelSaysWhatWasFound(row: Row) async throws {
        let (error, status) = try await play(row.segments, requiresVideo: row.requiresVideo)
        #expect(row.matches(error), "\(String(describing: error))")
        #expect((status.state == .failed) == (error != nil))
    }

    static let warningRows: [(when: String, streams: [Builder.Stream], video: [String]?, audio: [String]?)] = [
        ("audio alone", [aac], nil, nil),
        ("VC-1 beside audio", [vc1, aac], ["VC-1"], nil),
        ("AC-4 beside audio that is followed", [aac, ac4], nil, ["AC-4"]),
        ("two kinds of video", [vc1, Builder.Stream(pid: 0x103, type: 0x42), aac], ["VC-1", "AVS video"], nil),
    ]

    @Test(arguments: warningRows)
    func statusNamesMediaThatIsMissing(
        when: String, streams: [Builder.Stream], video: [String]?, audio: [String]?
    ) async throws {
        let (error, status) = try await play([Self.stream(streams, audioFrames: 90)])
        #expect(error == nil, "\(when)")
        let program = try #require(status.splice.program)
        #expect(program.unsupportedVideo == video && program.unsupportedAudio == audio, "\(when)")
    }

    /// AC-4 beside video is not published.
    @Test func unsupportedAudioBesideVideo() throws {
        var builder = Builder()
        builder.tables([Self.h264, Self.ac4])
        var demuxer = TransportDemuxer()
        let program = try #require(try demuxer.feed(builder.cut() + builder.cut()).program)
        #expect(program.unsupportedAudio == ["AC-4"] && program.unsupportedVideo.isEmpty)
    }

    /// Plays a finished playlist to its end.
    private func play(
        _ segments: [[UInt8]?], requiresVideo: Bool = false
    ) async throws -> (error: ChannelError?, status: RelayStatus) {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        var configuration = RelayConfiguration(
            upstream: Self.url, giveUp: nil, spool: spool.path,
            retention: RetentionPolicy(rewind: nil, freeReserve: 0))
        configuration.requiresVideo = requiresVideo
        let state = ChannelState(upstream: Self.url) { .zero }
        var relay = Relay(configuration, state: state, wallClock: { 0 })
        var driver = ReplayDriver(session: ChannelSession(upstream: Self.url, policy: configuration.policy))
        do {
            let end = try await driver.run(until: .seconds(120)) { request, _ in
                (Self.answer(request, segments), .milliseconds(20))
            } perform: { output, now in
                try await relay.perform(output, at: now)
            }
            try relay.recordEnd(try #require(end))
        } catch let error as ChannelError {
            return (error, state.status)
        }
        return (nil, state.status)
    }

    private static func answer(_ request: FetchRequest, _ segments: [[UInt8]?]) -> FetchOutcome {
        guard request.url != url else {
            let lines = segments.indices.map { "#EXTINF:2,\n\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n"
            return .success(FetchAnswer(status: 200, finalURL: url, body: Array(text.utf8)))
        }
        let name = request.url.split(separator: "/").last.map(String.init) ?? ""
        let body = Int(name.dropLast(3)).flatMap { segments[$0] }
        return .success(FetchAnswer(status: body == nil ? 404 : 200, finalURL: request.url, body: body ?? []))
    }
}
