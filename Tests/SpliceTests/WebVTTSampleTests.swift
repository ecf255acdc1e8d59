import Media
import Support
import Testing

@testable import Demux
@testable import MediaTestSupport
@testable import Splice

/// WebVTT in fragmented MP4 (ISO/IEC 14496-30 §7): samples of 1 s from 10 s on, whose timescale is 1000.
@Suite struct WebVTTSampleTests {
    private static func cue(_ text: String, id: String? = nil, settings: String? = nil) -> [UInt8] {
        let fields = [("iden", id), ("sttg", settings), ("payl", text)] as [(BoxType, String?)]
        return MovieBuilder.box(
            "vttc", fields.flatMap { type, value in value.map { MovieBuilder.box(type, Array($0.utf8)) } ?? [] })
    }

    private static let empty = MovieBuilder.box("vtte", [])

    private static func initialization(_ type: BoxType, _ header: String = "WEBVTT") -> [UInt8] {
        MovieBuilder.initialization([
            .init(
                id: 3, timescale: 1000, handler: "text",
                entries: [(type, MovieBuilder.box("vttC", Array(header.utf8)))], defaults: (1000, 0, 0))
        ])
    }

    /// - Parameter samples: each lasts 1 s.
    private static func input(
        _ samples: [[UInt8]], type: BoxType = "wvtt", header: String = "WEBVTT", hasInitialization: Bool = true
    ) -> SubtitleInput {
        let traf = MovieBuilder.Traf(
            id: 3, decodeTime: 10_000, runs: [(flags: 0x201, samples: samples.map { .init(payload: $0) })])
        return SubtitleInput(
            mediaSequence: 1, duration: .seconds(4),
            initialization: hasInitialization ? initialization(type, header) : nil,
            bytes: MovieBuilder.box("styp", []) + MovieBuilder.fragment([traf]))
    }

    static let rows: [(when: String, samples: [[UInt8]], cues: [String])] = [
        ("nothing is said", [empty, empty], []),
        ("a cue between silence", [empty, cue("a"), empty], ["11000 12000 a"]),
        (
            "a cue over several samples", [cue("a"), cue("a") + cue("b"), cue("b"), empty],
            ["10000 12000 a", "11000 13000 b"]
        ),
        ("the same text after a pause", [cue("a"), empty, cue("a")], ["10000 11000 a", "12000 13000 a"]),
        (
            "identifiers and settings", [cue("a", id: "1", settings: "line:0"), cue("a", id: "2")],
            ["10000 11000 1 line:0 a", "11000 12000 2 a"]
        ),
        ("lines, one of them empty", [cue("a\n\nb")], ["10000 11000 a|b"]),
        ("what would end a cue in a file", [cue("a --> b", settings: "line:0\nx")], ["10000 11000 line:0 a --&gt; b"]),
    ]

    @Test(arguments: rows) func cues(when: String, samples: [[UInt8]], cues: [String]) throws {
        let file = try WebVTT(Self.input(samples))
        let texts = file.cues.map { cue in
            let fields = [String(cue.start), String(cue.end), cue.identifier ?? "", cue.settings, cue.payload]
            return fields.filter { !$0.isEmpty }.joined(separator: " ").replacing("\n", with: "|")
        }
        #expect(texts == cues, "\(when)")
        #expect(file.map == .absent && file.definitions.isEmpty && file.dropped == 0)
    }

    @Test func definitionsAreInTheSampleEntry() throws {
        let style = "STYLE\n::cue { color: red }"
        let file = try WebVTT(Self.input([Self.cue("a")], header: "WEBVTT\n\n\(style)\n"))
        #expect(file.definitions == [style] && file.cues.count == 1)
    }

    @Test func otherTracksAreRefused() {
        #expect(throws: MediaError.self) { try WebVTT(Self.input([Self.cue("a")], type: "stpp")) }
        #expect(throws: MediaError.self) { try WebVTT(Self.input([Self.cue("a")], hasInitialization: false)) }
        #expect(throws: MediaError.self) { try WebVTT(Self.input([[0, 0, 0, 99] + Array("vttc".utf8)])) }
    }

    @Test func cuesAreBounded() throws {
        let cues = (0..<SubtitleLimits.fileCues + 5).flatMap { Self.cue("\($0)") }
        let file = try WebVTT(Self.input([cues]))
        #expect(file.cues.count == SubtitleLimits.fileCues && file.dropped == 5)
    }

    /// The times of the samples are those of the video.
    @Test func cuesArePresentedAtTheirFrames() {
        let video = SourceSpan(
            period: 0, mediaSequence: 1, discontinuitySequence: 0, programDateTime: nil, start: .seconds(10),
            end: .seconds(14), outputStart: Ticks(18_000))
        var timeline = SubtitleTimeline(sources: [nil], lateness: nil)
        var files = timeline.append(Self.input([Self.empty, Self.cue("a"), Self.empty, Self.empty]), rendition: 0)
        files += timeline.append(
            [video],
            of: SubtitleSegmenter.PublishedSegment(
                mediaSequence: 7, period: 0, start: Ticks(18_000), end: Ticks(378_000)))
        files += timeline.end(0) + timeline.endVideo()
        #expect(files.map(\.mediaSequence) == [7])
        #expect(
            files.contains { String(decoding: $0.bytes, as: UTF8.self).contains("00:00:01.200 --> 00:00:02.200\na") })
    }
}
