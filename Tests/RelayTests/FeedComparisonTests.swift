import Conformance
import Support
import Testing

@testable import liverelay

/// `liverelay check URL --against URL2`: what only one of two feeds has.
@Suite struct FeedComparisonTests {
    private static let media = """
        #EXTM3U
        #EXT-X-VERSION:8
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-PROGRAM-DATE-TIME:2026-01-05T12:00:00.000Z
        #EXTINF:4.000,
        7.ts
        #EXTINF:4.000,
        8.ts

        """

    private static let variants = """
        #EXTM3U
        #EXT-X-VERSION:8
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="main.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a"
        main.m3u8

        """

    /// Replaces text of the first feed, or all of it, to make the second.
    private static let rows: [(when: String, feed: String, old: String, new: String, expected: [String])] = [
        ("both are one", media, "", "", ["only 1:", "    nothing", "only 2:", "    nothing", "both: 0 findings"]),
        (
            "a fault of the second", media, "EXTINF:4.000,\n8", "EXTINF:5.000,\n8",
            [
                "only 1:", "    nothing", "only 2:",
                "    4 segment-duration, MUST, 1×: EXTINF is 5.000, but EXT-X-TARGETDURATION is 4",
                "both: 0 findings",
            ]
        ),
        (
            "a gap of the second", media, "#EXTINF:4.000,\n8", "#EXT-X-GAP\n#EXTINF:4.000,\n8",
            ["only 1:", "    nothing", "only 2:", "    gaps: EXT-X-GAP", "both: 0 findings"]
        ),
        (
            "dates and an end", media, "#EXT-X-PROGRAM-DATE-TIME:2026-01-05T12:00:00.000Z\n", "#EXT-X-ENDLIST\n",
            [
                "only 1:", "    dates: EXT-X-PROGRAM-DATE-TIME", "only 2:", "    the end: EXT-X-ENDLIST",
                "both: 0 findings",
            ]
        ),
        (
            "a break of the first", media.replacing("#EXTINF:4.000,\n8", with: "#EXT-X-CUE-OUT:30\n#EXTINF:4.000,\n8"),
            "#EXT-X-CUE-OUT:30\n", "",
            ["only 1:", "    cue tags", "only 2:", "    nothing", "both: 0 findings"]
        ),
        (
            "a fault of both", media.replacing("#EXT-X-VERSION:8", with: "#EXT-X-VERSION:2"), "12:00:00", "12:00:02",
            ["only 1:", "    nothing", "only 2:", "    nothing", "both: 1 finding"]
        ),
        (
            "another variant and language", variants, "640x360,AUDIO=\"a\"\nmain.m3u8",
            "1280x720,AUDIO=\"a\"\nmain.m3u8",
            [
                "only 1:", "    the variant 640x360", "only 2:", "    the variant 1280x720", "both: 0 findings",
            ]
        ),
        (
            "a rendition of the first", variants.replacing("\"en\"", with: "\"de\""), "\"de\"", "\"en\"",
            [
                "only 1:", "    the rendition AUDIO de English", "only 2:", "    the rendition AUDIO en English",
                "both: 0 findings",
            ]
        ),
    ]

    @Test(arguments: rows.indices) func textNamesWhatOnlyOneHas(_ index: Int) {
        let row = Self.rows[index]
        let first = Self.checker(row.feed)
        let second = Self.checker(row.old.isEmpty ? row.feed : row.feed.replacing(row.old, with: row.new))
        let lines = FeedComparison(first, second, ("1", "2")).text.split(separator: "\n").map(String.init)
        #expect(lines.filter { !$0.hasPrefix("the newest date") } == row.expected, "\(row.when)")
    }

    @Test(arguments: [("12:00:00.000", "12:00:04.500", "4.5 s before"), ("12:00:09.000", "12:00:00.000", "9 s after")])
    func newestDatesAreCompared(_ first: String, _ second: String, _ expected: String) {
        let feeds = [first, second].map { Self.checker(Self.media.replacing("12:00:00.000", with: $0)) }
        let text = FeedComparison(feeds[0], feeds[1], ("1", "2")).text
        #expect(text.hasSuffix("the newest date of the first is \(expected) that of the second\n"))
    }

    /// The URLs are printed without their secrets.
    @Test func secretsAreHidden() {
        let text = FeedComparison(
            Self.checker(Self.media), Self.checker(Self.media),
            ("http://a.example/x.m3u8?token=abcdef0123456789abcdef", "http://b.example/x.m3u8")
        ).text
        #expect(text.contains("only http://a.example/x.m3u8") && !text.contains("abcdef0123456789"))
    }

    /// - Parameter text: of the first playlist; `main.m3u8` is `media`, and nothing else is answered.
    private static func checker(_ text: String) -> ChannelChecker {
        var checker = ChannelChecker(url: "http://channel.example/first.m3u8")
        var pending = [("http://channel.example/first.m3u8", text)]
        var moment = Duration.zero
        while let (url, text) = pending.popLast() {
            let answer = CheckedAnswer(
                url: url, status: nil, body: Array(text.utf8), time: AnswerTime(requested: moment, received: moment))
            for target in checker.handle(answer) where target.url.hasSuffix("main.m3u8") {
                pending.append((target.url, media))
            }
            moment += .seconds(1)
        }
        checker.finish()
        return checker
    }
}
