import ChannelTestSupport
import Foundation
import LiveRing
import Media
import Mux
import Playlist
import TestSupport
import Testing

@testable import Channel
@testable import Export
@testable import HTTP
@testable import Service
@testable import Support
@testable import WebServer

/// Ranges of the rewind as MP4 files, judged by ffmpeg.
@Suite struct MovieClipTests {
    /// What a capture publishes, sample by sample, from the segments alone.
    private struct Published {
        struct Frame {
            let date: Int64
            let content: PresentedFrame
        }

        var frames: [Frame] = []
        var video: [UInt8] = []
        var audio: [UInt8] = []
        /// When each video frame is presented, from the first on; missing media takes 200 ms.
        var times: [Int64] = []

        init(_ state: ChannelState, _ result: ReplayResult, hasVideo: Bool) throws {
            let snapshot = try #require(state.snapshot)
            var (first, end, shift): (Int64?, Int64?, Int64) = (nil, nil, 0)
            for entry in snapshot.index.listed where !entry.isGap {
                let fragment = try StoredFragment(entry, in: snapshot)
                let file = try snapshot.bytes(of: entry.segment)
                for sample in fragment.video?.samples ?? [] { video += file[sample.bytes] }
                for sample in fragment.audio?.samples ?? [] { audio += file[sample.bytes] }
                let start = entry.presented.lowerBound.count
                if let end, start - end > 36_000 { shift += (start - end - 18_000) / 5 * 5 }
                end = entry.presented.upperBound.count
                let ordered = fragment.videoTimes.map(\.count).sorted()
                first = first ?? ordered.first
                times += ordered.map { $0 - shift - (first ?? 0) }
                dates.append((ordered, entry, start))
            }
            guard hasVideo else { return }
            let decoded = try result.decodedFrames
            let all = dates.flatMap { ordered, entry, start in
                ordered.map { entry.programDateTime.millisecondsSince1970 * 90 + $0 - start }
            }
            try #require(decoded.count == all.count)
            frames = zip(all, decoded).map { Frame(date: $0, content: $1) }
        }

        private var dates: [(times: [Int64], entry: RingEntry, start: Int64)] = []

        /// The frames of a range in milliseconds.
        func frames(in range: Range<Int64>) -> [PresentedFrame] {
            frames.filter { $0.date > range.lowerBound * 90 - 90 && $0.date <= range.upperBound * 90 - 90 }.map(
                \.content)
        }
    }

    private static func response(
        _ state: ChannelState, _ query: String, responder: ChannelResponder? = nil
    ) async throws -> Response {
        let target = try RequestTarget(method: .get, uri: "/clip.mp4?\(query)")
        let responder = responder ?? ChannelResponder(state)
        return await responder.answer(to: target).response()
    }

    private static func bytes(_ response: Response, _ range: Range<Int>? = nil) async throws -> [UInt8] {
        guard case .made(let file) = response.body else {
            Issue.record("\(response)")
            throw CancellationError()
        }
        let stream = file.read(range ?? 0..<file.byteCount)
        var bytes: [UInt8] = []
        while let next = await stream.next() { bytes += next }
        #expect(bytes.count == range?.count ?? file.byteCount)
        return bytes
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
    }

    private static func query(_ range: Range<Int64>) -> String {
        "start=\(seconds(range.lowerBound))&end=\(seconds(range.upperBound))"
    }

    private static func whole(_ state: ChannelState) throws -> Range<Int64> {
        let dates = try #require(state.snapshot?.dates)
        return dates.first.millisecondsSince1970..<dates.end.millisecondsSince1970
    }

    private static let captures = [
        "ssai_tagged", "audio_changes", "outage", "audio_only", "video_codecs", "wrap", "open_gop", "two_switches",
        "interlaced", "mid_gop", "backup",
    ]
    /// libav reads a track with the decoder of its first sample entry.
    private static let severalCodecs: Set = ["video_codecs", "open_gop"]

    @Test(arguments: captures) func clipHasEverySampleOfItsRange(_ name: String) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let movie = try await Self.bytes(try await Self.response(state, Self.query(try Self.whole(state))))
        let hasVideo = name != "audio_only"
        let isDecoded = hasVideo && !Self.severalCodecs.contains(name)
        let published = try Published(state, channel.result, hasVideo: isDecoded)
        func copy(_ track: String) throws -> [UInt8] {
            let arguments = ["-v", "error", "-i", "INPUT", "-map", track, "-c", "copy", "-f", "data", "-"]
            return try FFmpegTool.run("ffmpeg", arguments, input: movie).output
        }
        #expect(try copy("0:a") == published.audio)
        guard hasVideo else { return }
        #expect(try copy("0:v") == published.video)
        let packets = try FFmpegTool.run(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts", "-of", "csv=p=0", "INPUT"],
            input: movie)
        let times = packets.text.split(separator: "\n").compactMap { Int64($0.filter { $0 != "," }) }.sorted()
        #expect(times == published.times)
        guard isDecoded else { return }
        let decoded = try ReplayResult.frames(of: [("", [], movie)])
        #expect(decoded == published.frames.map(\.content))
    }

    @Test(arguments: ["ssai_tagged", "audio_changes", "mid_gop"]) func preciseClipHasTheFramesOfItsRange(
        _ name: String
    ) async throws {
        var channel = try SpooledChannel(of: CaptureFixture(name))
        let state = try await channel.relay()
        let published = try Published(state, channel.result, hasVideo: true)
        let whole = try Self.whole(state)
        var random = SeededGenerator(seed: 28)
        for _ in 0..<12 {
            let start = Int64.random(in: whole.lowerBound..<whole.upperBound - 1000, using: &random)
            let range = start..<Int64.random(in: start + 500..<whole.upperBound, using: &random)
            let precise = try await Self.bytes(try await Self.response(state, Self.query(range) + "&precise=1"))
            let expected = published.frames(in: range)
            #expect(try ReplayResult.frames(of: [("", [], precise)]) == expected, "\(range)")
            let rough = try await Self.bytes(try await Self.response(state, Self.query(range)))
            let frames = try ReplayResult.frames(of: [("", [], rough)])
            #expect(frames.suffix(expected.count) == expected[...], "\(range)")
            #expect(frames.count - expected.count < 90, "one GOP")
        }
    }

    @Test func everyRequestGetsTheSameBytes() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let whole = try Self.whole(state)
        let query = Self.query(whole.lowerBound + 1234..<whole.upperBound - 1234) + "&precise=1"
        let response = try await Self.response(state, query)
        let movie = try await Self.bytes(response)
        let again = ChannelResponder(state)
        var random = SeededGenerator(seed: 26)
        for _ in 0..<300 {
            let start = Int.random(in: 0..<movie.count, using: &random)
            let range = start..<min(movie.count, start + Int.random(in: 1...100_000, using: &random))
            let part = try await Self.response(state, query, responder: again)
            #expect(part.etag == response.etag)
            guard try await Self.bytes(part, range).elementsEqual(movie[range]) else {
                Issue.record("\(range) of \(movie.count)")
                return
            }
        }
    }

    /// A segment that is lost is missing media, and the clip is another one.
    @Test func lostSegmentIsAGap() async throws {
        var channel = try SpooledChannel(of: .ssaiTagged)
        let state = try await channel.relay()
        let query = Self.query(try Self.whole(state))
        let response = try await Self.response(state, query)
        let entry = try #require(state.snapshot).index.listed[2]
        try FileManager.default.removeItem(at: channel.spool.appending(path: entry.segment.name))
        let damaged = try await Self.response(state, query)
        #expect(damaged.etag != response.etag)
        guard case .made(let whole) = response.body else { return #expect(Bool(false), "\(response)") }
        let rest = try await Self.bytes(damaged)
        let frames = try ReplayResult.frames(of: [("", [], rest)])
        #expect(whole.byteCount > rest.count && !frames.isEmpty)
    }
}
