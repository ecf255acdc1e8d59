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
            when: "long names of a date",
            attributes: ["catchup": "append", "catchup-source": "?${yyyy}-${MM}-${dd}T${HH}:${mm}:${ss}Z"],
            url: "http://tv.example/news/index.m3u8?2026-01-02T12:00:00Z"),
        Row(
            when: "long and short formats in each other's place",
            attributes: ["catchup": "append", "catchup-source": "?b=${(b)YmdHMS}&e={utcend:yyyy-MM-dd'T'HH:mm:ssZ}"],
            url: "http://tv.example/news/index.m3u8?b=20260102120000&e=2026-01-02T13:00:00Z"),
        Row(
            when: "braces in the URL of the channel", attributes: ["catchup": "shift"],
            live: "http://tv.example/a.m3u8?t={x", url: "http://tv.example/a.m3u8?t={x&utc=1767355200&lutc=1767366000"),
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
            when: "Xtream Codes", attributes: ["catchup": "xc"], live: "http://tv.example:8080/live/anna/secret/7.ts",
            url: "http://tv.example:8080/timeshift/anna/secret/60/2026-01-02:12-00/7.ts"),
        Row(
            when: "Xtream Codes, short, as a playlist", attributes: ["catchup": "xc"],
            live: "http://tv.example/anna/secret/7.m3u8",
            url: "http://tv.example/timeshift/anna/secret/60/2026-01-02:12-00/7.m3u8"),
        Row(
            when: "a provider whose clock is an hour ahead",
            attributes: ["catchup": "shift", "catchup-correction": "1"],
            url: "http://tv.example/news/index.m3u8?utc=1767358800&lutc=1767369600"),
        Row(when: "no days", attributes: ["catchup": "shift", "catchup-days": "0"], url: nil),
        Row(when: "a channel without one", attributes: ["catchup": "none", "catchup-source": "?{id}"], url: nil),
    ]

    private static func archive(
        of live: String, _ attributes: [String: String]
    ) throws(ProviderArchive.Fault) -> ProviderArchive? {
        try ProviderArchive(of: live) { (names: String...) in names.lazy.compactMap { attributes[$0] }.first }
    }

    @Test(arguments: rows) func templateIsFilled(row: Row) throws {
        let archive = try Self.archive(of: row.live, row.attributes)
        let url = archive?.url(of: row.live, from: Self.noon, lasting: 3600, at: Self.noon + 10_800)
        #expect(url == row.url, "\(row.when)")
    }

    /// Nothing is asked of a provider in a form that is not understood.
    private static let faults:
        [(when: String, attributes: [String: String], live: String, fault: ProviderArchive.Fault)] = [
            (
                "a placeholder that is not known", ["catchup": "append", "catchup-source": "?{utc}&${id}"], live,
                .placeholder("{id}")
            ),
            (
                "a program's own id", ["catchup": "default", "catchup-source": "http://a/{catchup-id}"], live,
                .placeholder("{catchup-id}")
            ),
            (
                "a brace alone", ["catchup": "append", "catchup-source": "?{utc&token=s3cret"], live,
                .placeholder("{utc")
            ),
            (
                "a letter of another format", ["catchup": "append", "catchup-source": "?{utc:Y-m-d H:i}"], live,
                .placeholder("{utc:Y-m-d H:i}")
            ),
            (
                "a letter in a long format", ["catchup": "append", "catchup-source": "?${(b)yyyyMMddhhmmss}"], live,
                .placeholder("{(b)yyyyMMddhhmmss}")
            ),
            (
                "a format without a date", ["catchup": "append", "catchup-source": "?${(b)}"], live,
                .placeholder("{(b)}")
            ),
            (
                "a unit that is no number", ["catchup": "append", "catchup-source": "?{duration:m}"], live,
                .placeholder("{duration:m}")
            ),
            (
                "a unit of nothing", ["catchup": "append", "catchup-source": "?{offset:0}"], live,
                .placeholder("{offset:0}")
            ),
            ("append without a source", ["catchup": "append"], live, .missingSource),
            ("RTSP", ["catchup": "default", "catchup-source": "rtsp://a.example/{utc}"], live, .scheme("rtsp")),
            ("another mode", ["catchup": "vod"], live, .mode("vod")),
            ("too many days", ["catchup": "shift", "catchup-days": "4000"], live, .days("4000")),
            (
                "a correction that is no number", ["catchup": "shift", "catchup-correction": "one"], live,
                .correction("one")
            ),
            ("Xtream Codes of another URL", ["catchup": "xc"], live, .liveURL(mode: "xc")),
            (
                "Flussonic without a channel in the path", ["catchup": "flussonic"], "http://tv.example/index.m3u8",
                .liveURL(mode: "flussonic")
            ),
            (
                "a query after multicast", ["catchup": "append", "catchup-source": "?{utc}"], "udp://239.1.1.1:1",
                .liveURL(mode: "append")
            ),
        ]

    @Test(arguments: faults.indices) func faultIsNamed(row: Int) {
        let (when, attributes, live, fault) = Self.faults[row]
        #expect(throws: fault, "\(when)") { try Self.archive(of: live, attributes) }
    }

    /// One hour of a program, by the clock of a provider: how its archive names the beginning and the end.
    private static let zones: [(when: String, zone: String?, start: Int64, template: String, says: String)] = [
        ("a list that says no zone", nil, noon, "{Y}{m}{d}{H}{M}-{utcend:YmdHM}", "202601021200-202601021300"),
        ("winter in Toronto", "America/Toronto", noon, "{Y}{m}{d}{H}{M}-{utcend:YmdHM}", "202601020700-202601020800"),
        ("summer in Toronto", "America/Toronto", 1_783_000_800, "{H}{M}", "1000"),
        ("the day before", "America/Toronto", 1_767_313_140, "{Y}-{m}-{d}:{H}-{M}", "2026-01-01:19-19"),
        ("a quarter of an hour", "Asia/Kathmandu", noon, "{H}{M}", "1745"),
        ("seconds since 1970 have no zone", "Asia/Shanghai", noon, "${(b)timestamp}-{utc}", "1767355200-1767355200"),
        (
            "dates that say UTC", "Asia/Shanghai", noon, "${(b)yyyyMMddHHmmss|UTC}-${(e)yyyyMMddHHmmss:UTC}",
            "20260102120000-20260102130000"
        ),
        (
            "dates that do not", "Asia/Shanghai", noon, "${(b)yyyyMMddHHmmss}-${(e)yyyyMMddHHmmss}",
            "20260102200000-20260102210000"
        ),
        // 2026-03-29, at 01:00 UTC: from 02:00 to 03:00.
        ("before clocks go forward", "Europe/Berlin", 1_774_744_200, "{H}{M}-{utcend:HM}", "0130-0330"),
        ("after clocks went forward", "Europe/Berlin", 1_774_746_000, "{H}{M}-{utcend:HM}", "0300-0400"),
        // 2026-10-25, at 01:00 UTC: from 03:00 to 02:00.
        ("before clocks go back", "Europe/Berlin", 1_792_886_400, "{H}{M}-{utcend:HM}", "0200-0200"),
        ("after clocks went back", "Europe/Berlin", 1_792_893_600, "{H}{M}-{utcend:HM}", "0300-0400"),
    ]

    @Test(arguments: zones.indices) func datesAreThoseOfTheProvidersClock(row: Int) throws {
        let (when, zone, start, template, says) = Self.zones[row]
        var archive = try #require(
            try Self.archive(of: Self.live, ["catchup": "default", "catchup-source": "http://a/" + template]))
        archive.clock = try zone.map { try #require(LocalClock(zone: $0)) }
        #expect(
            archive.url(of: Self.live, from: start, lasting: 3600, at: start + 7200) == "http://a/" + says, "\(when)")
    }

    private static let live = "http://tv.example/news/index.m3u8"

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

    @Test func listNamesAFaultOnce() throws {
        let list = try M3UChannelListParser.parse(
            Array(
                """
                #EXTM3U catchup="append" catchup-source="?{id}"
                #EXTINF:-1,One
                http://tv.example/one.m3u8
                #EXTINF:-1,Two
                http://tv.example/two.m3u8
                #EXTINF:-1 catchup-source="?{utc}",Three
                http://tv.example/three.m3u8
                """.utf8))
        #expect(
            list.issues == [ListIssue(line: 2, kind: .unusableArchive(.placeholder("{id}")))] && list.issueCount == 2)
        #expect(list.channels.map { $0.providerArchive != nil } == [false, false, true])
    }
}
