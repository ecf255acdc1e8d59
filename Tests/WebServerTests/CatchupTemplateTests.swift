import LiveRing
import Support
import Testing

@testable import HTTP
@testable import WebServer

/// The templates of catch-up clients, filled in as each of them does, lead to the program that a viewer chose: one hour from
/// noon, and two hours later it is now.
struct CatchupTemplateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let client: String
        /// Below the root of `serve`.
        let template: String
        let form: ArchiveAddress.Form
        let range: RewindRange

        init(_ client: String, _ template: String, _ form: ArchiveAddress.Form, _ range: RewindRange) {
            (self.client, self.template, self.form, self.range) = (client, template, form, range)
        }

        var testDescription: String { "\(client): \(template)" }
    }

    private static let noon: Int64 = 1_767_355_200
    private static func date(_ seconds: Int64) -> ProgramDateTime { .init(millisecondsSince1970: seconds * 1000) }
    private static let program = RewindRange.between(start: date(noon), end: date(noon + 3600))
    private static let untilNow = RewindRange.between(start: date(noon), end: nil)
    private static let late = RewindRange.delayed(milliseconds: 10_800_000)

    /// The value of each placeholder.
    private static let values: [(placeholder: String, value: String)] = [
        ("{utc}", "1767355200"), ("${start}", "1767355200"), ("{start}", "1767355200"), ("${timestamp}", "1767366000"),
        ("{utcend}", "1767358800"), ("${end}", "1767358800"), ("{lutc}", "1767366000"), ("${now}", "1767366000"),
        ("${duration}", "3600"), ("{duration}", "3600"), ("{duration:60}", "60"), ("{offset:1}", "10800"),
        ("${offset}", "10800"), ("{Y}", "2026"), ("{m}", "01"), ("{d}", "02"), ("{H}", "12"), ("{M}", "00"),
        ("{S}", "00"), ("{utc:Y-m-d:H-M}", "2026-01-02:12-00"), ("${(b)yyyyMMddHHmmss}", "20260102120000"),
        ("${(e)yyyyMMddHHmmss}", "20260102130000"), ("${(b)timestamp}", "1767355200"),
        ("${(e)timestamp}", "1767358800"),
    ]

    static let rows: [Row] = [
        Row("our list, format=hls", "news/ts/archive-{utc}-{duration}.m3u8", .playlist, program),
        Row("our list, also format=ts", "news/archive-{utc}-{duration}.ts", .transportStream, program),
        Row("Kodi, default", "news/archive-${start}-${duration}.m3u8", .playlist, program),
        Row("Kodi, append and shift", "news/live.m3u8?utc={utc}&lutc={lutc}", .playlist, untilNow),
        Row("Kodi, shift of a transport stream", "news/live.ts?utc={utc}&lutc={lutc}", .transportStream, untilNow),
        Row("Kodi, flussonic", "news/live-timeshift_rel-{offset:1}.m3u8", .playlist, late),
        Row("Kodi, flussonic on index.m3u8", "news/timeshift_rel-{offset:1}.m3u8", .playlist, late),
        Row("Kodi, flussonic on live.ts", "news/timeshift_rel-{offset:1}.ts", .transportStream, late),
        Row("Kodi, flussonic-ts and fs", "news/timeshift_abs-${start}.ts", .transportStream, untilNow),
        Row("TiviMate, flussonic-hls", "news/live-{utc}-{duration}.m3u8", .playlist, program),
        Row("TiviMate, flussonic on index.m3u8", "news/index-${start}-${duration}.m3u8", .playlist, program),
        Row("TiviMate, flussonic on video.m3u8", "news/video-${start}-${duration}.m3u8", .playlist, program),
        Row("TiviMate, flussonic on mono.m3u8", "news/mono-${start}-${duration}.m3u8", .playlist, program),
        Row("TiviMate, flussonic-ts", "news/archive-${start}-${duration}.ts", .transportStream, program),
        Row("TiviMate, shift", "news/live.m3u8?utc=${start}&lutc=${timestamp}", .playlist, untilNow),
        Row("OTT Navigator", "news/video-timeshift_abs-${start}.m3u8", .playlist, untilNow),
        Row("OTT Navigator, until now", "news/index-${start}-now.m3u8", .playlist, untilNow),
        Row("SIPTV", "news/index.m3u8?utc=${start}", .playlist, untilNow),
        Row(
            "IPTV boxes", "news/live.m3u8?playseek=${(b)yyyyMMddHHmmss}-${(e)yyyyMMddHHmmss}", .playlist, program),
        Row("IPTV boxes, seconds", "news/live.ts?playseek=${(b)timestamp}-${(e)timestamp}", .transportStream, program),
        Row("Nimble", "news/playlist_dvr_range-${start}-${duration}.m3u8", .playlist, program),
        Row(
            "Kodi, xc", "timeshift/me/secret/{duration:60}/{Y}-{m}-{d}:{H}-{M}/7.ts", .transportStream, program),
        Row(
            "TiviMate, xc", "timeshift/me/secret/{duration:60}/{Y}-{m}-{d}:{H}-{M}/7.m3u8", .playlist, program),
        Row(
            "Dispatcharr", "timeshift/me/secret/{duration:60}/{Y}-{m}-{d}_{H}-{M}/7.ts", .transportStream, program),
        Row(
            "Xtream Codes, by a query",
            "streaming/timeshift.php?username=me&password=secret&stream=7&start={utc:Y-m-d:H-M}&duration={duration:60}",
            .transportStream, program),
    ]

    @Test(arguments: rows) func template(_ row: Row) throws {
        let uri = Self.values.reduce(row.template) { $0.replacing($1.placeholder, with: $1.value) }
        try #require(!uri.contains("{"), "every placeholder is filled in: \(uri)")
        let address = ArchiveAddress(form: row.form, range: row.range)
        let route = Route(try RequestTarget(method: .get, uri: "/" + uri), in: .list)
        if uri.hasPrefix("news/") {
            let content: PlaylistContent = uri.hasPrefix("news/ts/") ? .transportStream : .fragmentedMP4
            #expect(route == .channel("news", Route.Resource(address, of: content)))
        } else {
            #expect(route == .xtream(XtreamRequest(user: "me", password: "secret", .archive(7, .success(address)))))
        }
    }
}
