import TestSupport
import Testing

@testable import Conformance

/// Playlists that follow the subjects of public suites, made anew here. Each is valid; `found` has what is said of it
/// nevertheless, with the reason in a comment.
private struct ValidPlaylist: CustomTestStringConvertible, Sendable {
    let suite: String
    let subject: String
    let text: String
    let found: Set<String>
    var testDescription: String { "\(suite): \(subject)" }

    init(_ suite: String, _ subject: String, _ text: String, found: Set<String> = []) {
        (self.suite, self.subject, self.text, self.found) = (suite, subject, text, found)
    }
}

/// A media playlist: its head, segments of 9.009 s, and its end.
private func media(
    _ head: String = "", version: Int = 3, target: Int = 10, first: Int = 0, count: Int = 3, end: Bool = true,
    ending: String = "ts", before: [Int: String] = [:], after: String = ""
) -> String {
    var text = "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-TARGETDURATION:\(target)\n"
    if first > 0 { text += "#EXT-X-MEDIA-SEQUENCE:\(first)\n" }
    text += head.isEmpty ? "" : head + "\n"
    for number in 0..<count {
        if let lines = before[number] { text += lines + "\n" }
        text += "#EXTINF:9.009,\nsegment-\(first + number).\(ending)\n"
    }
    return text + (after.isEmpty ? "" : after + "\n") + (end ? "#EXT-X-ENDLIST\n" : "")
}

private func master(_ lines: String, variants: [String] = ["BANDWIDTH=1280000", "BANDWIDTH=2560000"]) -> String {
    var text = "#EXTM3U\n" + (lines.isEmpty ? "" : lines + "\n")
    for (index, attributes) in variants.enumerated() { text += "#EXT-X-STREAM-INF:\(attributes)\nv\(index).m3u8\n" }
    return text
}

private let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T12:00:00Z\""
private let interstitial = range + ",CLASS=\"com.apple.hls.interstitial\""
private let hexadecimal = "0xFC302000000000000000FFF00F05000027BF7FEFFE002932E00001010100006BAB1DCF"

private let specification: [ValidPlaylist] = [
    .init("RFC 8216", "simple media playlist", media()),
    .init("RFC 8216", "live media playlist", media(first: 2680, end: false)),
    .init(
        "RFC 8216", "encrypted segments",
        media(
            first: 7794,
            before: [
                0: "#EXT-X-KEY:METHOD=AES-128,URI=\"https://keys.example/52\"",
                2: "#EXT-X-KEY:METHOD=AES-128,URI=\"https://keys.example/53\"",
            ])),
    .init("RFC 8216", "master playlist", master("")),
    .init(
        "RFC 8216", "master with I-frames",
        master("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI=\"low/iframe.m3u8\"")),
    .init(
        "RFC 8216", "alternative audio",
        master(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Deutsch",DEFAULT=NO,AUTOSELECT=YES,LANGUAGE="de",URI="de.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Commentary",DEFAULT=NO,AUTOSELECT=NO,LANGUAGE="en",URI="co.m3u8"
            """, variants: ["BANDWIDTH=1280000,CODECS=\"avc1.4d401f,mp4a.40.2\",AUDIO=\"aac\""])),
    .init(
        "RFC 8216", "alternative video",
        master(
            """
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="low",NAME="Main",DEFAULT=YES,URI="low/main.m3u8"
            #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="low",NAME="Dugout",DEFAULT=NO,URI="low/dugout.m3u8"
            """, variants: ["BANDWIDTH=1280000,CODECS=\"avc1.4d401f\",VIDEO=\"low\""])),
    .init(
        "RFC 8216", "session data",
        master(
            """
            #EXT-X-SESSION-DATA:DATA-ID="com.example.lyrics",URI="lyrics.json"
            #EXT-X-SESSION-DATA:DATA-ID="com.example.title",LANGUAGE="en",VALUE="This is an example"
            """)),
    .init(
        "RFC 8216", "characteristics of media",
        master(
            """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="a",LANGUAGE="en",CHARACTERISTICS="public.easy-to-read",URI="s.m3u8"
            """, variants: ["BANDWIDTH=1280000,SUBTITLES=\"s\""])),
    .init(
        "RFC 8216", "date range with SCTE-35 out",
        media(
            range + ",PLANNED-DURATION=59.993,SCTE35-OUT=\(hexadecimal)")),
    .init(
        "RFC 8216", "date range with SCTE-35 in",
        media(
            range + ",DURATION=59.993,SCTE35-IN=\(hexadecimal)")),
    .init("RFC 8216", "media playlist with START", media("#EXT-X-START:TIME-OFFSET=-12.5,PRECISE=YES")),
]

private let parser: [ValidPlaylist] = [
    .init(
        "m3u8-parser", "define",
        master(
            "#EXT-X-VERSION:8\n#EXT-X-DEFINE:NAME=\"host\",VALUE=\"cdn.example\"", variants: ["BANDWIDTH=1"])),
    .init(
        "m3u8-parser", "define in a URI",
        media(
            "#EXT-X-DEFINE:NAME=\"token\",VALUE=\"a\"", version: 8, ending: "ts?t={$token}")),
    .init(
        "m3u8-parser", "two definitions",
        media(
            "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXT-X-DEFINE:NAME=\"b\",VALUE=\"c\"", version: 8,
            ending: "{$a}{$b}.ts")),
    .init("m3u8-parser", "I-frame playlist", media("#EXT-X-I-FRAMES-ONLY", version: 4)),
    .init(
        "m3u8-parser", "I-frames with ranges",
        media(
            "#EXT-X-I-FRAMES-ONLY", version: 4,
            before: [0: "#EXT-X-BYTERANGE:9400@376", 1: "#EXT-X-BYTERANGE:7144@47000"])),
    .init(
        "m3u8-parser", "low latency",
        media(
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.5",
            version: 6,
            end: false,
            after: "#EXT-X-PART:DURATION=0.5,URI=\"p1.mp4\",INDEPENDENT=YES\n#EXT-X-PART:DURATION=0.5,URI=\"p2.mp4\"\n"
                + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p3.mp4\"\n#EXT-X-RENDITION-REPORT:URI=\"../b.m3u8\",LAST-MSN=3,LAST-PART=1"
        )),
    .init(
        "m3u8-parser", "low latency with ranges",
        media(
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.5",
            version: 6,
            end: false,
            after: "#EXT-X-PART:DURATION=0.5,URI=\"p.mp4\",BYTERANGE=\"1000@0\"\n"
                + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p.mp4\",BYTERANGE-START=1000")),
    .init(
        "m3u8-parser", "delta update",
        media(
            "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=60.0\n#EXT-X-SKIP:SKIPPED-SEGMENTS=12", version: 9, first: 40,
            end: false)),
    .init(
        "m3u8-parser", "delta update with ranges removed",
        media(
            "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=60.0,CAN-SKIP-DATERANGES=YES\n"
                + "#EXT-X-SKIP:SKIPPED-SEGMENTS=12,RECENTLY-REMOVED-DATERANGES=\"a\"", version: 10, first: 40,
            end: false)),
    .init(
        "m3u8-parser", "dates",
        media(before: [
            0: "#EXT-X-PROGRAM-DATE-TIME:2012-12-25T14:12:34.123Z",
            1: "#EXT-X-PROGRAM-DATE-TIME:2012-12-25T14:12:43.132Z",
        ])),
    .init("m3u8-parser", "event", media("#EXT-X-PLAYLIST-TYPE:EVENT", end: false)),
    .init("m3u8-parser", "vod", media("#EXT-X-PLAYLIST-TYPE:VOD")),
    .init("m3u8-parser", "no segments yet", media(count: 0, end: false)),
    .init("m3u8-parser", "a discontinuity", media(before: [1: "#EXT-X-DISCONTINUITY"])),
    .init(
        "m3u8-parser", "discontinuity sequence",
        media(
            "#EXT-X-DISCONTINUITY-SEQUENCE:3", first: 9, before: [1: "#EXT-X-DISCONTINUITY"])),
    .init(
        "m3u8-parser", "content steering",
        master(
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"/steering?v=1\",PATHWAY-ID=\"CDN-A\"",
            variants: ["BANDWIDTH=1280000,PATHWAY-ID=\"CDN-A\"", "BANDWIDTH=1280000,PATHWAY-ID=\"CDN-B\""])),
    .init("m3u8-parser", "a comment", media("# a comment")),
    .init("m3u8-parser", "unknown tags", media("#EXT-X-UNKNOWN:1\n#UNKNOWN")),
    .init(
        "m3u8-parser", "ranges that follow one another",
        media(
            version: 4,
            before: [
                0: "#EXT-X-BYTERANGE:1000@0"
            ])),
    .init("m3u8-parser", "CRLF", media().replacing("\n", with: "\r\n")),
]

private let grafov: [ValidPlaylist] = [
    .init(
        "grafov/m3u8", "FairPlay",
        media(
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://a\",KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"",
            version: 5)),
    .init(
        "grafov/m3u8", "Widevine and FairPlay",
        media(
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://a\",KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"\n"
                + "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"data:text/plain;base64,AA\",KEYFORMAT=\"urn:uuid:edef8ba9\"",
            version: 5)),
    .init(
        "grafov/m3u8", "HEVC",
        master(
            "",
            variants: [
                "BANDWIDTH=6214307,AVERAGE-BANDWIDTH=6170000,CODECS=\"hvc1.2.4.L123.B0,mp4a.40.2\",RESOLUTION=1920x1080,FRAME-RATE=60.000"
            ])),
    .init("grafov/m3u8", "custom tags of a master", master("#CUSTOM-PLAYLIST-TAG:42")),
    .init(
        "grafov/m3u8", "discontinuity and maps",
        media(
            version: 6, ending: "m4s",
            before: [
                0: "#EXT-X-MAP:URI=\"init1.mp4\"", 1: "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"init2.mp4\"",
            ])),
    .init(
        "grafov/m3u8", "forced subtitles",
        master(
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"a\",LANGUAGE=\"en\",FORCED=YES,AUTOSELECT=YES,URI=\"s.m3u8\"",
            variants: ["BANDWIDTH=1280000,SUBTITLES=\"s\""])),
    .init(
        "grafov/m3u8", "tags of Twitch",
        media("#EXT-X-TWITCH-ELAPSED-SECS:4.0\n#EXT-X-TWITCH-TOTAL-SECS:20.0", end: false)),
    .init(
        "grafov/m3u8", "alternatives in another order",
        master("", variants: ["BANDWIDTH=1280000,VIDEO=\"low\""])
            + "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"low\",NAME=\"Main\",DEFAULT=YES,URI=\"low/main.m3u8\"\n"),
    .init(
        "grafov/m3u8", "channels",
        master(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",LANGUAGE=\"en\",CHANNELS=\"16/JOC\",URI=\"a.m3u8\"",
            variants: ["BANDWIDTH=1280000,CODECS=\"avc1.64001f,ec-3\",AUDIO=\"a\""])),
    .init("grafov/m3u8", "CLOSED-CAPTIONS=NONE", master("", variants: ["BANDWIDTH=1280000,CLOSED-CAPTIONS=NONE"])),
    .init("grafov/m3u8", "comments", master("# a\n# b")),
    .init("grafov/m3u8", "FRAME-RATE", master("", variants: ["BANDWIDTH=1280000,FRAME-RATE=29.970"])),
    .init(
        "grafov/m3u8", "Dolby Vision 8",
        master(
            "",
            variants: [
                "BANDWIDTH=1280000,CODECS=\"hvc1.2.4.L123.B0\",SUPPLEMENTAL-CODECS=\"dvh1.08.04/db4h\",VIDEO-RANGE=HLG"
            ])),
    .init(
        "grafov/m3u8", "HLS 7",
        master(
            "#EXT-X-VERSION:7\n#EXT-X-INDEPENDENT-SEGMENTS",
            variants: [
                "BANDWIDTH=1280000,HDCP-LEVEL=TYPE-0,VIDEO-RANGE=PQ,CODECS=\"hvc1.2.4.L150.B0\""
            ])),
    .init(
        "grafov/m3u8", "I-frame streams",
        master(
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,CODECS=\"avc1.4d401f\",RESOLUTION=640x360,URI=\"i.m3u8\"")),
    .init("grafov/m3u8", "independent segments of a master", master("#EXT-X-INDEPENDENT-SEGMENTS")),
    .init(
        "grafov/m3u8", "INSTREAM-ID and CHANNELS",
        master(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="a",LANGUAGE="en",CHANNELS="2",URI="a.m3u8"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="b",LANGUAGE="en",INSTREAM-ID="CC1"
            """, variants: ["BANDWIDTH=1280000,AUDIO=\"a\",CLOSED-CAPTIONS=\"c\""])),
    .init(
        "grafov/m3u8", "several codecs",
        master(
            "",
            variants: [
                "BANDWIDTH=1280000,CODECS=\"avc1.42c015, mp4a.40.2\""
            ])),
    .init("grafov/m3u8", "STREAM-INF of old versions", master("", variants: ["PROGRAM-ID=1,BANDWIDTH=300000"])),
    .init("grafov/m3u8", "NAME of a variant", master("", variants: ["BANDWIDTH=300000,NAME=\"720p\""])),
    .init("grafov/m3u8", "many segments", media(count: 400)),
    .init(
        "grafov/m3u8", "cues of Adobe",
        media(before: [1: "#EXT-X-CUE:TYPE=\"SpliceOut\",ID=\"1\",TIME=9.0,DURATION=9.009"])),
    .init("grafov/m3u8", "PART-INF alone", media("#EXT-X-PART-INF:PART-TARGET=0.33334", version: 6, end: false)),
    .init(
        "grafov/m3u8", "SERVER-CONTROL alone",
        media(
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=60.0,HOLD-BACK=30.0", version: 6, end: false)),
    .init("grafov/m3u8", "ASSET", media(before: [1: "#EXT-X-ASSET:GENRE=CV,CAID=12345678"])),
    .init(
        "grafov/m3u8", "attributes of EXTINF", media().replacing("9.009,", with: "9.009 tvg-id=\"a\",title"),
        // A duration with attributes is a dialect of channel lists.
        found: ["2/malformed"]),
    .init(
        "grafov/m3u8", "byte ranges",
        media(
            version: 4,
            before: [
                0: "#EXT-X-BYTERANGE:75232@0", 1: "#EXT-X-BYTERANGE:82112@752321", 2: "#EXT-X-BYTERANGE:69864@834433",
            ])),
    .init("grafov/m3u8", "CUE-OUT and CUE-IN", media(before: [1: "#EXT-X-CUE-OUT:9.009", 2: "#EXT-X-CUE-IN"])),
    .init("grafov/m3u8", "CUE-OUT without a duration", media(before: [1: "#EXT-X-CUE-OUT", 2: "#EXT-X-CUE-IN"])),
    .init(
        "grafov/m3u8", "CUE-OUT-CONT",
        media(before: [
            0: "#EXT-X-CUE-OUT-CONT:ElapsedTime=9.009,Duration=27", 1: "#EXT-X-CUE-OUT-CONT:18.018/27",
        ])),
    .init(
        "grafov/m3u8", "CUE with SCTE-35", media(before: [1: "#EXT-X-SCTE35:CUE=\"/DAAAA==\",ID=\"123\",TIME=123.12"])),
    .init("grafov/m3u8", "custom tags", media("#CUSTOM-PLAYLIST-TAG:1", before: [1: "#CUSTOM-SEGMENT-TAG:NAME=\"a\""])),
    .init("grafov/m3u8", "date range", media(range + ",END-DATE=\"2026-01-01T12:01:00Z\",DURATION=60")),
    .init(
        "grafov/m3u8", "interstitial", media(interstitial + ",DURATION=15,X-ASSET-URI=\"https://ads.example/a.m3u8\"")),
    .init(
        "grafov/m3u8", "interstitial with a list", media(interstitial + ",X-ASSET-LIST=\"list.json\",X-RESUME-OFFSET=0")
    ),
    .init("grafov/m3u8", "SCTE-35 command", media(range + ",SCTE35-CMD=\(hexadecimal)")),
    .init("grafov/m3u8", "gap", media(version: 8, before: [1: "#EXT-X-GAP"])),
    .init("grafov/m3u8", "independent segments", media("#EXT-X-INDEPENDENT-SEGMENTS")),
    .init("grafov/m3u8", "a key", media("#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0X10ef8f758ca555115584bb5b3c687f52")),
    .init("grafov/m3u8", "maps", media("#EXT-X-MAP:URI=\"main.mp4\",BYTERANGE=\"812@0\"", version: 6, ending: "m4s")),
    .init(
        "grafov/m3u8", "OATCLS-SCTE35",
        media(before: [
            1: "#EXT-OATCLS-SCTE35:/DAlAAAAAAAAAP/wFAUAAAABf+/+AAAAAH4AKTLgAAAAAAAAAAA=\n#EXT-X-CUE-OUT:9.009",
            2: "#EXT-X-CUE-IN",
        ])),
    .init("grafov/m3u8", "START", media("#EXT-X-START:TIME-OFFSET=-2.0")),
    .init("grafov/m3u8", "a discontinuity at the start", media(before: [0: "#EXT-X-DISCONTINUITY"])),
    .init(
        "grafov/m3u8", "several keys",
        media(before: [
            0: "#EXT-X-KEY:METHOD=AES-128,URI=\"1\"", 1: "#EXT-X-KEY:METHOD=NONE",
            2: "#EXT-X-KEY:METHOD=AES-128,URI=\"2\"",
        ])),
    .init("grafov/m3u8", "chunk list of Wowza", media(first: 1, ending: "ts?wowzatokenhash=a=")),
]

private let others: [ValidPlaylist] = [
    .init("hls.js", "integer durations", media(version: 1).replacing("9.009", with: "9")),
    .init("hls.js", "a title", media().replacing("9.009,", with: "9.009,A title, with a comma")),
    .init("hls.js", "no VERSION", "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\na.ts\n#EXT-X-ENDLIST\n"),
    .init("hls.js", "ALLOW-CACHE", media("#EXT-X-ALLOW-CACHE:YES")),
    .init("hls.js", "absolute URIs", media(ending: "ts").replacing("segment-", with: "https://cdn.example/segment-")),
    .init("hls.js", "root-relative URIs", media().replacing("segment-", with: "/a/segment-")),
    .init("hls.js", "an unfinished live playlist", media(first: 1_000_000, count: 6, end: false)),
    .init(
        "hls.js", "PTS wraps with tags",
        media("#EXT-X-DISCONTINUITY-SEQUENCE:1", first: 5, before: [2: "#EXT-X-DISCONTINUITY"])),
    .init(
        "hls.js", "dates of discontinuities",
        media(before: [
            0: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z",
            1: "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T01:00:00Z",
        ])),
    .init(
        "hls.js", "dates with an offset", media(before: [0: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000+01:00"])),
    .init("hls.js", "bit rates", media(version: 8, before: [0: "#EXT-X-BITRATE:5000"])),
    .init("hls.js", "session keys", master("#EXT-X-VERSION:5\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://a\"")),
    .init("hls.js", "redundant variants", master("", variants: ["BANDWIDTH=1280000", "BANDWIDTH=1280000"])),
    .init("hls.js", "audio only", master("", variants: ["BANDWIDTH=64000,CODECS=\"mp4a.40.5\""])),
    .init("hls.js", "SCORE", master("", variants: ["BANDWIDTH=1280000,SCORE=2.5"])),
    .init("hls.js", "stable IDs", master("", variants: ["BANDWIDTH=1280000,STABLE-VARIANT-ID=\"a\""])),
    .init(
        "hls.js", "REQ-VIDEO-LAYOUT",
        master("#EXT-X-VERSION:12", variants: ["BANDWIDTH=1280000,REQ-VIDEO-LAYOUT=\"CH-STEREO\""])),
    .init("hls.js", "END-ON-NEXT", media(range + ",CLASS=\"a\",END-ON-NEXT=YES")),
    .init("hls.js", "two ranges", media(range + "\n" + range.replacing("\"a\"", with: "\"b\""))),
    .init("hls.js", "a range in two tags", media(range + "\n" + range + ",DURATION=5")),
    .init("m3u8 (Python)", "durations of 0", media().replacing("9.009", with: "0")),
    .init("m3u8 (Python)", "negative start", media("#EXT-X-START:TIME-OFFSET=-10")),
    .init("m3u8 (Python)", "sliding window", media(first: 2680, count: 6, end: false)),
    .init("m3u8 (Python)", "an I-frame variant", master("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=151288,URI=\"i.m3u8\"")),
    .init(
        "m3u8 (Python)", "IV in lower case",
        media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x10ef8f758ca555115584bb5b3c687f52")),
    .init(
        "m3u8 (Python)", "map with a key",
        media(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n#EXT-X-MAP:URI=\"i.mp4\"", version: 6, ending: "m4s")),
    .init("m3u8 (Python)", "title in UTF-8", media().replacing("9.009,", with: "9.009,Größe")),
    .init("m3u8 (Python)", "quoted text with commas", master("", variants: ["BANDWIDTH=1,CODECS=\"a,b,c\""])),
    .init("m3u8 (Python)", "blank lines", media().replacing("\n#EXTINF", with: "\n\n#EXTINF")),
    .init("m3u8 (Python)", "no line end after the last line", String(media().dropLast())),
    .init(
        "Apple", "BipBop master",
        master(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="bipbop_audio",LANGUAGE="eng",NAME="1",AUTOSELECT=YES,DEFAULT=YES
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="English",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,LANGUAGE="en",URI="s.m3u8"
            """,
            variants: [
                "BANDWIDTH=263851,CODECS=\"mp4a.40.2, avc1.4d400d\",RESOLUTION=416x234,AUDIO=\"bipbop_audio\",SUBTITLES=\"subs\""
            ])),
    .init(
        "Apple", "fMP4 example",
        media(
            "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-MAP:URI=\"main.mp4\",BYTERANGE=\"719@0\"",
            version: 7, ending: "mp4",
            before: [0: "#EXT-X-BYTERANGE:1508000@719", 1: "#EXT-X-BYTERANGE:1510244@1508719"])),
]

@Suite struct ValidPlaylistTests {
    @Test(arguments: [specification, parser, grafov, others]) private func validPlaylists(_ rows: [ValidPlaylist]) {
        for row in rows {
            let playlist = PlaylistScanner.scan(Array(row.text.utf8), url: "https://a.example/live/main.m3u8")
            let found = Set(playlist.problems.map { "\($0.rule.rawValue)/\($0.cause)" })
            #expect(found == row.found, "\(row.testDescription): \(playlist.problems.map(\.message))")
        }
    }

    @Test func thereAreEnough() {
        #expect((specification + parser + grafov + others).count >= 100)
    }
}
