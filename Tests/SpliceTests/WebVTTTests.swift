import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite struct WebVTTTests {
    /// Expected cue of a row.
    struct ExpectedCue: Equatable {
        var start: Int64
        var end: Int64
        var payload: String
        var settings = ""
        var identifier: String?
    }

    static let rows: [(what: String, text: String, cues: [ExpectedCue])] = [
        ("one cue", "WEBVTT\n\n00:01.000 --> 00:02.500\nhi\n", [ExpectedCue(start: 1000, end: 2500, payload: "hi")]),
        (
            "no line end at the end of the file", "WEBVTT\n\n00:01.000 --> 00:02.500\nhi",
            [ExpectedCue(start: 1000, end: 2500, payload: "hi")]
        ),
        (
            "CR LF and a BOM", "\u{FEFF}WEBVTT\r\n\r\n00:01.000 --> 00:02.000\r\na\r\nb\r\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a\nb")]
        ),
        ("CR alone", "WEBVTT\r\r00:01.000 --> 00:02.000\ra\r", [ExpectedCue(start: 1000, end: 2000, payload: "a")]),
        (
            "a title after the signature", "WEBVTT - news\n\n00:01.000 --> 00:02.000\na\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a")]
        ),
        (
            "hours with many digits", "WEBVTT\n\n488888:59:59.999 --> 488889:00:00.000\na\n",
            [ExpectedCue(start: 1_760_000_399_999, end: 1_760_000_400_000, payload: "a")]
        ),
        (
            "an identifier, settings and tabs", "WEBVTT\n\nid 7\n00:01.000\t-->\t00:02.000\tline:0  align:left\na\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a", settings: "line:0  align:left", identifier: "id 7")]
        ),
        (
            "a comment between cues",
            "WEBVTT\n\n00:01.000 --> 00:02.000\na\n\nNOTE not\nshown\n\n00:03.000 --> 00:04.000\nb\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a"), ExpectedCue(start: 3000, end: 4000, payload: "b")]
        ),
        (
            "the empty line before a cue is missing",
            "WEBVTT\n\n00:01.000 --> 00:02.000\na\n00:03.000 --> 00:04.000\nb\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a"), ExpectedCue(start: 3000, end: 4000, payload: "b")]
        ),
        (
            "no empty line between header and cue", "WEBVTT\nKind: captions\n00:01.000 --> 00:02.000\na\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "a")]
        ),
        (
            "a cue without text", "WEBVTT\n\n00:01.000 --> 00:02.000\n\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "")]
        ),
        ("only the signature", "WEBVTT", []),
        (
            "markup and other arrows", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>a -> b &gt; c\n",
            [ExpectedCue(start: 1000, end: 2000, payload: "<v A>a -> b &gt; c")]
        ),
    ]

    @Test(arguments: rows.indices) func cuesAreParsed(_ index: Int) throws {
        let row = Self.rows[index]
        let file = try WebVTTParser.parse(Array(row.text.utf8))
        let cues = file.cues.map {
            ExpectedCue(
                start: $0.start, end: $0.end, payload: $0.payload, settings: $0.settings, identifier: $0.identifier)
        }
        #expect(cues == row.cues, "\(row.what)")
        #expect(file.malformed == 0, "\(row.what)")
    }

    static let mapRows: [(what: String, header: String, map: WebVTT.TimestampMap?)] = [
        (
            "as in the standard", "X-TIMESTAMP-MAP=LOCAL:00:00:01.500,MPEGTS:900000",
            .init(local: 1500, media: Ticks(900_000))
        ),
        (
            "fields in the other order", "X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:01.500",
            .init(local: 1500, media: Ticks(900_000))
        ),
        (
            "spaces and a short time", "X-TIMESTAMP-MAP= MPEGTS:900000, LOCAL:00:01.500",
            .init(local: 1500, media: Ticks(900_000))
        ),
        (
            "between other header lines", "Kind: captions\nX-TIMESTAMP-MAP=MPEGTS:1,LOCAL:00:00:00.000\nLanguage: en",
            .init(local: 0, media: Ticks(1))
        ),
        ("after an empty line", "\nX-TIMESTAMP-MAP=MPEGTS:1,LOCAL:00:00:00.000", .init(local: 0, media: Ticks(1))),
        ("more than 33 bits", "X-TIMESTAMP-MAP=MPEGTS:8589934593,LOCAL:00:00:00.000", .init(local: 0, media: Ticks(1))),
        ("only MPEGTS", "X-TIMESTAMP-MAP=MPEGTS:5", .init(local: 0, media: Ticks(5))),
        ("a negative number", "X-TIMESTAMP-MAP=MPEGTS:-5,LOCAL:00:00:00.000", nil),
        ("no map", "Kind: captions", nil),
    ]

    @Test(arguments: mapRows.indices) func mapIsParsed(_ index: Int) throws {
        let row = Self.mapRows[index]
        let file = try WebVTTParser.parse(Array("WEBVTT\n\(row.header)\n\n00:01.000 --> 00:02.000\na\n".utf8))
        #expect(file.map == row.map, "\(row.what)")
        #expect(file.cues.count == 1, "\(row.what)")
    }

    @Test func stylesAndRegionsBeforeFirstCueAreKept() throws {
        let text = """
            WEBVTT

            STYLE
            ::cue { color: lime }

            REGION
            id:fred

            NOTE no

            00:01.000 --> 00:02.000
            a

            STYLE
            ::cue { color: red }
            """
        let file = try WebVTTParser.parse(Array(text.utf8))
        #expect(file.definitions == ["STYLE\n::cue { color: lime }", "REGION\nid:fred"])
        #expect(file.cues.count == 1)
    }

    static let malformedRows: [(what: String, timing: String)] = [
        ("an end before the start", "00:02.000 --> 00:01.000"), ("no end", "00:02.000 -->"),
        ("a second of 61", "00:61.000 --> 02:00.000"), ("two digits of milliseconds", "00:01.00 --> 00:02.00"),
        ("no digits", "aa:bb.ccc --> 00:02.000"), ("a sign", "-0:01.000 --> 00:02.000"),
        ("too many hour digits", "99999999999999999999:00:00.000 --> 00:02.000"),
    ]

    @Test(arguments: malformedRows.indices) func malformedCueIsDroppedAndCounted(_ index: Int) throws {
        let row = Self.malformedRows[index]
        let text = "WEBVTT\n\n\(row.timing)\nbad\n\n00:05.000 --> 00:06.000\ngood\n"
        let file = try WebVTTParser.parse(Array(text.utf8))
        #expect(file.cues.map(\.payload) == ["good"], "\(row.what)")
        #expect(file.malformed == 1, "\(row.what)")
    }

    @Test func otherFormatsAreRejected() {
        for text in ["", "WEBVTTX\n\n", "<html>", "1\n00:00:01,000 --> 00:00:02,000\nsrt\n", "#EXTM3U\n"] {
            #expect(throws: MediaError.self, "\(text)") { try WebVTTParser.parse(Array(text.utf8)) }
        }
        let large = Array("WEBVTT\n".utf8) + [UInt8](repeating: 0x20, count: SubtitleLimits.fileBytes)
        #expect(throws: MediaError(.tooLarge(bytes: large.count), section: "RFC 8216 §3.5")) {
            try WebVTTParser.parse(large)
        }
    }

    /// Parses random lines.
    @Test func randomLinesNeverTrap() {
        var random = SeededGenerator(seed: 7)
        let parts = [
            "WEBVTT", "\n", "\r", "-->", "00:01.000", " ", "X-TIMESTAMP-MAP=", "LOCAL:", "MPEGTS:", "9", ",", "STYLE",
            "\0", "é",
        ]
        for _ in 0..<2000 {
            let text = "WEBVTT\n" + (0..<Int(random.next() % 40)).map { _ in parts[Int(random.next() % 14)] }.joined()
            for cue in (try? WebVTTParser.parse(Array(text.utf8)))?.cues ?? [] { #expect(cue.start <= cue.end) }
        }
    }

    @Test func writtenFileRoundTrips() throws {
        let cues = [
            WebVTT.Cue(identifier: "x", start: 3_600_001, end: 360_000_000, settings: "line:0", payload: "a\nb"),
            WebVTT.Cue(identifier: nil, start: 0, end: 0, settings: "", payload: ""),
        ]
        let start = Ticks(3 * Ticks.wrap + 90 * 1234 + 45)
        let bytes = WebVTTWriter.write(definitions: ["STYLE\n::cue {}"], cues: cues, from: start)
        let file = try WebVTTParser.parse(bytes)
        #expect(file.cues == cues && file.definitions == ["STYLE\n::cue {}"])
        let map = try #require(file.map)
        // Both fields refer to the same time, to the tick, which is the segment's start.
        #expect(Ticks.milliseconds(map.local).wire == map.media)
        #expect(start - .milliseconds(map.local) < Ticks(90) && start >= .milliseconds(map.local))
    }
}
