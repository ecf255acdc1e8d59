import Support
import Testing

@testable import Conformance

/// Consecutive versions of one playlist, by their text alone.
@Suite struct VersionTests {
    private static let head = "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n"
    private static let list = (0..<9).map { "#EXTINF:4.000,\n\($0).ts\n" }.joined()
    private static let keyed =
        "#EXT-X-KEY:METHOD=AES-128,URI=\"/keys/1\"\n#EXT-X-MAP:URI=\"init.mp4\"\n" + list

    private static let rows: [(when: String, versions: [(url: String, text: String)], expected: [String])] = [
        (
            "a redirect leads to another server",
            [
                ("http://a.example/x/main.m3u8", list),
                ("http://b.example:81/x/main.m3u8", list + "#EXTINF:4.000,\n9.ts\n"),
            ],
            []
        ),
        (
            "a redirect, with a key and an init section",
            [
                ("http://a.example/x/main.m3u8", keyed),
                ("http://b.example/y/main.m3u8", keyed + "#EXTINF:4.000,\n9.ts\n"),
            ],
            []
        ),
        (
            "another init section",
            [
                ("http://a.example/main.m3u8", keyed),
                ("http://a.example/main.m3u8", keyed.replacing("init", with: "other")),
            ],
            ["8/map"]
        ),
        (
            "another EXTINF, and no new segment",
            [
                ("http://a.example/main.m3u8", list),
                ("http://a.example/main.m3u8", list.replacing("4.000", with: "3.000")),
            ],
            ["8/extinf"]
        ),
        (
            "parts that come and go",
            [
                ("http://a.example/main.m3u8", list + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"9.0.ts\"\n"),
                ("http://a.example/main.m3u8", list + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"9.1.ts\"\n"),
            ],
            []
        ),
        ("nothing is listed at first", [("http://a.example/main.m3u8", ""), ("http://a.example/main.m3u8", list)], []),
        (
            "another token after the end",
            [
                ("http://a.example/main.m3u8", list.replacing(".ts", with: ".ts?t=1") + "#EXT-X-ENDLIST\n"),
                ("http://a.example/main.m3u8", list.replacing(".ts", with: ".ts?t=2") + "#EXT-X-ENDLIST\n"),
            ], []
        ),
        (
            "a version of two reloads ago",
            [
                ("http://a.example/main.m3u8", list), ("http://a.example/main.m3u8", list + "#EXTINF:4.000,\n9.ts\n"),
                ("http://a.example/main.m3u8", list),
            ],
            ["39/stale-edge"]
        ),
    ]

    @Test(arguments: rows.indices) func versionsAreCompared(_ index: Int) {
        let row = Self.rows[index]
        var log = FindingLog()
        var record = PlaylistRecord(url: "http://a.example/main.m3u8")
        for (number, version) in row.versions.enumerated() {
            let moment = Duration.seconds(4 * number)
            _ = record.append(
                Array((Self.head + version.text).utf8), finalURL: version.url,
                at: AnswerTime(requested: moment, received: moment), into: &log)
        }
        #expect(log.sorted.map(\.identifier) == row.expected, "\(row.when): \(log.sorted.map(\.message))")
    }
}
