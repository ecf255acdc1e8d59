import ChannelTestSupport
import Fetch
import Foundation
import LiveRing
import Mux
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Capture
@testable import Channel
@testable import Demux
@testable import Media
@testable import Transcode

/// A channel with two languages, one of which is later than the video, or misses segments.
///
/// Both have the media of the capture `renditions_apart`, in segments of a second: a program, an ad, the program.
@Suite struct TrackLagTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// How much later than the video the second language is listed.
        var lag = 0
        /// Its segments that do not exist.
        var missing: Set<Int> = []
        /// The seconds for which its playlist does not exist.
        var absence = 0
        /// The first segment of the channel that has the language.
        var begins = 0
        /// The share of its segment 5 that arrives.
        var share = 1.0
        var fillsSilence = true
        /// The seconds of segment 5 that the language has, and the next one the rest; nil: it is a gap.
        var cut: ClosedRange<Double>?
        var isFinished = false
        /// Segments of the channel in which the language has its own media.
        var own = Set(0..<segmentCount)

        var testDescription: String { when }
    }

    static let segmentCount = 10
    private static let base = "http://channel.example/"

    static let rows = [
        Row(when: "two languages at once"),
        Row(when: "a finished program", isFinished: true),
        Row(when: "it lags by 2 s", lag: 2),
        Row(when: "it lags by 4 s", lag: 4),
        Row(when: "a segment is missing", missing: [5], own: Set(0..<segmentCount).subtracting([5])),
        Row(when: "two segments are missing", missing: [1, 2], own: Set(0..<segmentCount).subtracting([1, 2])),
        Row(
            when: "it lags by 2 s, and a segment is missing", lag: 2, missing: [2],
            own: Set(0..<segmentCount).subtracting([2])),
        Row(
            when: "its playlist does not exist for the first 4 s", absence: 4, begins: 4,
            own: Set(4..<segmentCount)),
        Row(
            when: "a segment is missing, and there is no silence", missing: [5],
            fillsSilence: false, own: Set(0..<segmentCount).subtracting([5])),
        Row(
            when: "the end of a segment is missing", share: 0.7, cut: 0.95...1.05),
        Row(
            when: "the end of a segment is missing, and there is no silence", share: 0.7, fillsSilence: false,
            cut: 0.55...0.8),
        Row(
            when: "most of a segment is missing, and there is no silence", share: 0.3,
            fillsSilence: false, own: Set(0..<segmentCount).subtracting([5])),
        Row(
            when: "two segments of a finished program are missing", missing: [1, 2], isFinished: true,
            own: Set(0..<segmentCount).subtracting([1, 2])),
    ]

    @Test(arguments: rows) func media(_ row: Row) async throws {
        let result = try await publish(row)
        #expect(result.end == .drained)
        #expect(result.hasEndList, "EXT-X-ENDLIST")
        #expect(result.segments.count == Self.segmentCount)
        let own = result.segments.enumerated().filter { $0.element.share > 0.5 }.map(\.offset)
        #expect(Set(own) == row.own)
        for (index, segment) in result.segments.enumerated() {
            if index < row.begins {
                #expect(segment.duration == nil, "segment \(index) is before its beginning")
                continue
            }
            if !row.fillsSilence, index == 5 || index == 6 && row.cut != nil {
                let durations = index == 5 ? row.cut : row.cut.map { 2 - $0.upperBound...2 - $0.lowerBound }
                #expect(durations.map { $0.contains(segment.duration ?? 0) } ?? (segment.duration == nil), "\(segment)")
                continue
            }
            let duration = try #require(segment.duration, "segment \(index) is listed")
            #expect(abs(duration - segment.listed) < 0.06, "EXTINF of segment \(index) is what the track has")
        }
    }

    private struct Segment {
        /// EXTINF, and the seconds that the language has in it; nil: a gap.
        let listed: Double
        let duration: Double?
        /// The part of the leading audio that the language has too.
        let share: Double
    }

    private struct Output {
        var end: SessionEnd?
        var hasEndList = false
        var segments: [Segment] = []
    }

    private func publish(_ row: Row) async throws -> Output {
        let spool = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "liverelay-test-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let capture = try Self.capture(row, in: folder)
        let replay = Replay(
            capture, spool: spool.path, audio: AudioSettings(fillsSilence: row.fillsSilence))
        var output = Output()
        output.end = try await replay.run()
        let snapshot = try #require(replay.state.snapshot)
        output.hasEndList =
            snapshot.livePlaylist().map { String(decoding: $0, as: UTF8.self) }?.contains("ENDLIST") == true
        output.segments = try snapshot.index.listed.map { entry in
            let leading = try Self.audio(in: snapshot.path(of: entry.segment))
            let file = entry.audioFiles.first.flatMap { $0 }
            let own = try file.map { try Self.audio(in: snapshot.path(of: $0.segment)) }
            let payloads = Set(leading.map(\.payload))
            let shared = own?.filter { payloads.contains($0.payload) } ?? []
            return Segment(
                listed: Double(entry.duration) / 90_000,
                duration: own.map { Double($0.reduce(0) { $0 + Int64($1.duration) }) / Double(TrackTimescale.audio) },
                share: Double(shared.count) / Double(max(1, leading.count)))
        }
        return output
    }

    private static func audio(in path: String) throws -> [(duration: UInt32, payload: [UInt8])] {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        return try MovieFragment.fragments(of: bytes).flatMap(\.tracks).filter { $0.trackID == TrackID.audio }
            .flatMap(\.samples).map { ($0.duration, Array($0.payload)) }
    }

    // MARK: - The upstream

    /// - Parameter folder: gets the files of the capture, and segment 5 of the language as far as it arrives.
    private static func capture(_ row: Row, in folder: URL) throws -> CaptureDirectory {
        let fixture = try CaptureDirectory(CaptureFixture("renditions_apart").directory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let body = fixture.url.appending(path: "body")
        try FileManager.default.createSymbolicLink(at: folder.appending(path: "body"), withDestinationURL: body)
        let segment = try Data(contentsOf: body.appending(path: "a05-ad.ts"))
        let packets = Int(Double(segment.count / 188) * row.share)
        try segment.prefix(packets * 188).write(to: folder.appending(path: "cut.ts"))
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.64000c,mp4a.40.2",RESOLUTION=288x160,AUDIO="a"
            video.m3u8

            """
        var exchanges = [answer("master.m3u8", .text(master))]
        for (prefix, letter, lag) in [("video", "v", 0), ("en", "a", 0), ("de", "a", row.lag)] {
            for second in 0...segmentCount + lag {
                if prefix == "de", second < row.absence {
                    exchanges.append(answer("de.m3u8", .text("gone"), at: .seconds(second), status: 404))
                    continue
                }
                let count = row.isFinished ? segmentCount : min(segmentCount, max(0, second - lag) + 3)
                exchanges.append(
                    answer("\(prefix).m3u8", .text(playlist(prefix, letter, count: count)), at: .seconds(second)))
            }
            for index in 0..<segmentCount {
                let isMissing = prefix == "de" && row.missing.contains(index)
                exchanges.append(
                    answer(
                        "\(prefix)/\(index).ts",
                        .file(
                            prefix == "de" && index == 5 && row.share < 1
                                ? "cut.ts" : "body/\(letter)0\(index)-\((4...6).contains(index) ? "ad" : "main").ts"),
                        status: isMissing ? 404 : 200))
            }
        }
        return CaptureDirectory(
            folder, index: CaptureIndex(upstream: base + "master.m3u8", exchanges: exchanges))
    }

    private static func answer(
        _ name: String, _ body: CapturedAnswer.Body, at time: Duration = .zero, status: Int = 200
    ) -> CapturedExchange {
        CapturedExchange(at: time, url: base + name, ending: .answer(CapturedAnswer(status: status, body: body)))
    }

    private static func playlist(_ prefix: String, _ letter: String, count: Int) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:0"]
        for index in 0..<count {
            if index == 4 || index == 7 { lines.append("#EXT-X-DISCONTINUITY") }
            lines += ["#EXTINF:1.000,", "\(prefix)/\(index).ts"]
        }
        if count == segmentCount { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }
}
