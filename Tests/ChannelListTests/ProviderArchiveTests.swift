import Support
import Testing

@testable import ChannelList

/// The URL templates of providers lead to the range that somebody asks for: an hour from noon, and two hours later it is now.
struct ProviderArchiveTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        let attributes: [String: String]
        var live = "http://tv.example/news/index.m3u8"
        /// nil: there is no archive, or no URL.
        let url: String?
        var testDescription: String { when }
    }

    private static let noon: Int64 = 1_767_355_200

    private static let rows: [Row] = [
        Row(when: "no attribute", attributes: ["catchup-days": "7"], url: nil),
        Row(
            when: "default", attributes: ["catchup": "default", "catchup-source": "http://a.example/{utc}-{duration}"],
            url: "http://a.example/1767355200-3600"),
        Row(
            when: "default with the spelling of ${…}",
            attributes: [
                "catchup": "default", "catchup-source": "http://a.example/?s=${start}&e=${end}&n=${timestamp}",
            ],
            url: "http://a.example/?s=1767355200&e=1767358800&n=1767366000"),
        Row(
            when: "default with a part of a URL", attributes: ["catchup": "default", "catchup-source": "?utc={utc}"],
            url: "http://tv.example/news/index.m3u8?utc=1767355200"),
        Row(
            when: "dates",
            attributes: ["catchup": "default", "catchup-source": "http://a.example/{Y}/{m}/{d}/{H}-{M}-{S}"],
            url: "http://a.example/2026/01/02/12-00-00"),
        Row(
            when: "dates in a format",
            attributes: ["catchup": "append", "catchup-source": "?playseek={utc:YmdHMS}-{utcend:YmdHMS}"],
            url: "http://tv.example/news/index.m3u8?playseek=20260102120000-20260102130000"),
        Row(
            when: "dates of the beginning and the end",
            attributes: [
                "catchup": "append",
                "catchup-source": "?playseek=${(b)yyyyMMddHHmmss}-${(e)yyyyMMddHHmmss}&b=${(b)timestamp}&e=${(e)HH:mm}",
            ],
            url: "http://tv.example/news/index.m3u8?playseek=20260102120000-20260102130000&b=1767355200&e=13:00"),
        Row(
            when: "minutes and an offset",
            attributes: ["catchup": "append", "catchup-source": "?d={duration:60}&o={offset:1}&h={offset:3600}"],
            url: "http://tv.example/news/index.m3u8?d=60&o=10800&h=3"),
        Row(
            when: "a placeholder that is not known",
            attributes: ["catchup": "append", "catchup-source": "?{id}&{utc}"],
            url: "http://tv.example/news/index.m3u8?{id}&1767355200"),
        Row(
            when: "a brace alone", attributes: ["catchup": "append", "catchup-source": "?{utc"],
            url: "http://tv.example/news/index.m3u8?{utc"),
        Row(when: "append without a source", attributes: ["catchup": "append"], url: nil),
        Row(
            when: "shift", attributes: ["catchup": "shift"],
            url: "http://tv.example/news/index.m3u8?utc=1767355200&lutc=1767366000"),
        Row(
            when: "shift of a URL with a query", attributes: ["catchup": "shift"], live: "http://tv.example/a.m3u8?t=1",
            url: "http://tv.example/a.m3u8?t=1&utc=1767355200&lutc=1767366000"),
        Row(
            when: "Flussonic", attributes: ["catchup": "flussonic"],
            url: "http://tv.example/news/index-1767355200-3600.m3u8"),
        Row(
            when: "Flussonic, another name and a token", attributes: ["catchup": "flussonic-hls"],
            live: "http://tv.example/news/video.m3u8?token=x",
            url: "http://tv.example/news/video-1767355200-3600.m3u8?token=x"),
        Row(
            when: "Flussonic, a transport stream", attributes: ["catchup": "flussonic"],
            live: "http://tv.example/news/mpegts", url: "http://tv.example/news/archive-1767355200-3600.ts"),
        Row(
            when: "Flussonic, asked for as a transport stream", attributes: ["catchup": "fs"],
            url: "http://tv.example/news/archive-1767355200-3600.ts"),
        Row(
            when: "Flussonic without a channel in the path", attributes: ["catchup": "flussonic"],
            live: "http://tv.example/index.m3u8", url: nil),
        Row(
            when: "Xtream Codes", attributes: ["catchup": "xc"], live: "http://tv.example:8080/live/anna/secret/7.ts",
            url: "http://tv.example:8080/timeshift/anna/secret/60/2026-01-02:12-00/7.ts"),
        Row(
            when: "Xtream Codes, short, as a playlist", attributes: ["catchup": "xc"],
            live: "http://tv.example/anna/secret/7.m3u8",
            url: "http://tv.example/timeshift/anna/secret/60/2026-01-02:12-00/7.m3u8"),
        Row(when: "Xtream Codes of another URL", attributes: ["catchup": "xc"], url: nil),
        Row(
            when: "a provider whose clock is an hour ahead",
            attributes: ["catchup": "shift", "catchup-correction": "1"],
            url: "http://tv.example/news/index.m3u8?utc=1767358800&lutc=1767369600"),
        Row(when: "another mode", attributes: ["catchup": "vod"], url: nil),
        Row(when: "too many days", attributes: ["catchup": "shift", "catchup-days": "4000"], url: nil),
    ]

    @Test(arguments: rows) func templateIsFilled(row: Row) {
        let archive = ProviderArchive { (names: String...) in names.lazy.compactMap { row.attributes[$0] }.first }
        let url = archive?.url(of: row.live, from: Self.noon, lasting: 3600, at: Self.noon + 10_800)
        #expect(url == row.url, "\(row.when)")
    }

    @Test func listNamesTheArchiveOfItsChannels() throws {
        let list = try M3UChannelListParser.parse(
            Array(
                """
                #EXTM3U catchup="shift" catchup-days="3"
                #EXTINF:-1 tvg-id="a",One
                http://tv.example/one.m3u8
                #EXTINF:-1 tvg-id="b" catchup="flussonic" catchup-days="7",Two
                http://tv.example/two/index.m3u8
                """.utf8))
        #expect(list.channels.map { $0.providerArchive?.days } == [3, 7])
        #expect(list.channels.map { $0.catchupDays(defaultRewind: nil) } == [3, 7], "clients are told")
    }
}
