import LiveRing
import Support
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

/// 2026-01-02T12:00:00Z.
private let noon: Int64 = 1_767_355_200

private func date(_ seconds: Int64) -> ProgramDateTime { ProgramDateTime(millisecondsSince1970: seconds * 1000) }

private func from(_ start: Int64, to end: Int64? = nil) -> RewindRange {
    .between(start: date(start), end: end.map(date))
}

@Suite struct ArchiveAddressTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let client: String
        /// Below the channel.
        let uri: String
        let address: ArchiveAddress?

        init(_ client: String, _ uri: String, _ form: ArchiveAddress.Form, _ range: RewindRange) {
            (self.client, self.uri, address) = (client, uri, ArchiveAddress(form: form, range: range))
        }

        init(other uri: String) { (client, self.uri, address) = ("no archive", uri, nil) }

        var testDescription: String { "\(client): \(uri)" }
    }

    static let hour = from(noon, to: noon + 3600)
    static let rows: [Row] = [
        Row("our lists", "archive-1767355200-3600.m3u8", .playlist, hour),
        Row("our lists, format=ts", "archive-1767355200-3600.ts", .transportStream, hour),
        Row("Flussonic", "index-1767355200-3600.m3u8", .playlist, hour),
        Row("Flussonic", "video-1767355200-3600.m3u8", .playlist, hour),
        Row("Flussonic", "mono-1767355200-3600.m3u8", .playlist, hour),
        Row("Flussonic, by the name of the live playlist", "live-1767355200-3600.m3u8", .playlist, hour),
        Row("Flussonic, by the name of the rewind", "dvr-1767355200-3600.m3u8", .playlist, hour),
        Row("with subtitles", "master-1767355200-3600.m3u8", .master, hour),
        Row("Flussonic", "video-1767355200-3600.ts", .transportStream, hour),
        Row("Flussonic, into live", "index-1767355200-now.m3u8", .playlist, from(noon)),
        Row("Flussonic, into live", "archive-1767355200-now.ts", .transportStream, from(noon)),
        Row("Flussonic, into live", "video-1767355200-now.m3u8", .playlist, from(noon)),
        Row("Flussonic, into live", "mono-1767355200-now.m3u8", .playlist, from(noon)),
        Row("Flussonic, into live", "dvr-1767355200-now.m3u8", .playlist, from(noon)),
        Row("Flussonic, into live", "live-1767355200-now.m3u8", .playlist, from(noon)),
        Row("into live with subtitles", "master-1767355200-now.m3u8", .master, from(noon)),
        Row("Flussonic", "timeshift_abs-1767355200.m3u8", .playlist, from(noon)),
        Row("Kodi, flussonic-ts", "timeshift_abs-1767355200.ts", .transportStream, from(noon)),
        Row("Flussonic", "video-timeshift_abs-1767355200.m3u8", .playlist, from(noon)),
        Row("Flussonic", "dvr-timeshift_abs-1767355200.m3u8", .playlist, from(noon)),
        Row("Flussonic", "live-timeshift_abs-1767355200.m3u8", .playlist, from(noon)),
        Row("Flussonic, with subtitles", "master-timeshift_abs-1767355200.m3u8", .master, from(noon)),
        Row("Flussonic", "video-timeshift_abs-1767355200.ts", .transportStream, from(noon)),
        Row("Flussonic", "dvr-timeshift_rel-7200.m3u8", .playlist, .delayed(milliseconds: 7_200_000)),
        Row("Flussonic, with subtitles", "master-timeshift_rel-7200.m3u8", .master, .delayed(milliseconds: 7_200_000)),
        Row("Flussonic", "live-timeshift_rel-7200.ts", .transportStream, .delayed(milliseconds: 7_200_000)),
        Row("Flussonic", "video-timeshift_rel-7200.ts", .transportStream, .delayed(milliseconds: 7_200_000)),
        Row("Flussonic", "timeshift_rel-7200.m3u8", .playlist, .delayed(milliseconds: 7_200_000)),
        Row("Kodi, flussonic", "live-timeshift_rel-7200.m3u8", .playlist, .delayed(milliseconds: 7_200_000)),
        Row("Kodi, flussonic", "mono-timeshift_rel-0.m3u8", .playlist, .delayed(milliseconds: 0)),
        Row("Kodi, flussonic-ts", "timeshift_rel-60.ts", .transportStream, .delayed(milliseconds: 60_000)),
        Row("Flussonic", "1767355200.ts", .transportStream, from(noon)),
        Row("milliseconds", "1767355200000.m3u8", .playlist, from(noon)),
        Row("Flussonic", "1767355200.m3u8", .playlist, from(noon)),
        Row("Nimble", "playlist_dvr_range-1767355200-3600.m3u8", .playlist, hour),
        Row("Nimble, as a transport stream", "playlist_dvr_range-1767355200-3600.ts", .transportStream, hour),
        Row("Kodi, shift", "live.m3u8?utc=1767355200&lutc=1767362400", .playlist, from(noon)),
        Row("SIPTV", "index.m3u8?utc=1767355200", .playlist, from(noon)),
        Row("Kodi, shift", "live.ts?token=x&utc=1767355200&lutc=1767362400", .transportStream, from(noon)),
        Row("with subtitles", "master.m3u8?utc=1767355200", .master, from(noon)),
        Row("IPTV boxes", "live.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes, seconds", "live.m3u8?playseek=1767355200-1767358800", .playlist, hour),
        Row("IPTV boxes", "live.ts?playseek=20260102120000-20260102130000", .transportStream, hour),
        Row("IPTV boxes", "index.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes", "video.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes", "mono.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes", "dvr.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes", "archive.m3u8?playseek=20260102120000-20260102130000", .playlist, hour),
        Row("IPTV boxes, with subtitles", "master.m3u8?playseek=20260102120000-20260102130000", .master, hour),
        Row("IPTV boxes", "video.ts?playseek=20260102120000-20260102130000", .transportStream, hour),
        Row("IPTV boxes, without an end", "live.m3u8?playseek=20260102120000-", .playlist, from(noon)),
        Row(other: "live.m3u8"), Row(other: "live.ts?last=60"), Row(other: "dvr.m3u8?start=1&end=2"),
        Row(other: "seg-1767355200-0123abcd.ts"), Row(other: "other-1767355200-3600.m3u8"),
        Row(other: "archive-1767355200-3600.mp4"), Row(other: "archive-1767355200.m3u8"),
        Row(other: "archive-1-2-3.m3u8"), Row(other: "archive.m3u8"), Row(other: "x1767355200.ts"),
        Row(other: "archive-x-3600.m3u8"), Row(other: "archive--60-3600.m3u8"), Row(other: "dvr-subs-0.m3u8"),
        Row(other: "subs-0.m3u8"), Row(other: "timeshift_abs.ts"), Row(other: ".ts"),
    ]

    private func parsed(_ uri: String) throws -> RequestTarget { try RequestTarget(method: .get, uri: "/" + uri) }

    @Test(arguments: rows) func names(_ row: Row) throws {
        let target = try parsed(row.uri)
        #expect(try ArchiveAddress(name: target.path.dropFirst(), query: target.query) == row.address)
    }

    /// The resource of each name, in a process of one channel and below a name of a list.
    @Test(arguments: rows) func routes(_ row: Row) throws {
        guard let address = row.address else { return }
        let resource = Route.Resource(address)
        let target = try parsed(row.uri)
        #expect(Route(target, in: .channel) == .channel(nil, resource))
        let listed = try parsed("news/" + row.uri)
        #expect(Route(listed, in: .list) == .channel("news", resource))
        let transport = try Route(parsed("ts/" + row.uri), in: .channel)
        #expect(transport == .channel(nil, .init(address, of: .transportStream)))
        #expect(Route(listed, in: .list).kind == (address.form == .transportStream ? .stream : .playlist))
    }

    static let mistakes: [(uri: String, mistake: RewindRange.BadQuery)] = [
        ("timeshift_abs-x.m3u8", .value(name: "start", value: "x")),
        ("archive-12345678901234-3600.m3u8", .value(name: "start", value: "12345678901234")),
        ("archive-1767355200-0.ts", .value(name: "duration", value: "0")),
        ("archive-1767355200-{duration}.ts", .value(name: "duration", value: "{duration}")),
        ("archive-1767355200-31622401.ts", .value(name: "duration", value: "31622401")),
        ("archive-1767355200-99999999999999999999.ts", .value(name: "duration", value: "99999999999999999999")),
        ("live-timeshift_rel-x.m3u8", .value(name: "duration", value: "x")),
        ("live.m3u8?utc=", .value(name: "utc", value: "")),
        ("live.m3u8?playseek=today", .value(name: "playseek", value: "today")),
        ("live.m3u8?playseek=20260102120000-x", .value(name: "playseek", value: "20260102120000-x")),
        ("live.m3u8?playseek=20260102120000-20260102120000", .emptyRange),
    ]

    @Test(arguments: mistakes) func refused(uri: String, mistake: RewindRange.BadQuery) throws {
        let target = try parsed(uri)
        #expect(Route(target, in: .channel) == .channel(nil, .badQuery(mistake)))
    }
}

@Suite struct XtreamTimeshiftTests {
    static let stamps: [String] = [
        "2026-01-02:12-00", "2026-01-02:12-00-00", "2026-01-02_12-00", "2026-01-02_12-00-00", "2026-01-02:12:00",
        "2026-01-02:12:00:00", "2026-01-02_12:00", "2026-01-02 12:00", "2026-01-02 12:00:00", "2026-01-02 12-00",
        "2026-01-02+12:00:00", "2026-01-02T12:00:00", "2026-01-02T12:00:00Z", "2026-01-02T12:00:00.000Z",
        "2026-01-02T13:00:00+01:00", "2026-01-02T13:00:00 01:00", "2026-01-02T12:00", "20260102120000", "1767355200",
        "1767355200000",
    ]

    @Test(arguments: stamps) func stamp(_ text: String) throws {
        #expect(ArchiveStamp.date(text[...]) == date(noon))
        let address = ArchiveAddress(form: .transportStream, range: ArchiveAddressTests.hour)
        #expect(request("/timeshift/me/secret/60/\(text)/7.ts")?.resource == .archive(7, .success(address)))
    }

    static let others = [
        "", "now", "2026-01-02", "2026-01-02:12", "2026-13-02:12-00", "2026-01-02:25-00", "2026-01-02:12-60",
        "2026-01-02:12-00:00", "2026-01-02:12-00x", "2026.01.02:12-00", "20261302120000",
        "2026-01-02:12-0é",
    ]

    @Test(arguments: others) func noStamp(_ text: String) throws {
        #expect(ArchiveStamp.date(text[...]) == nil)
        #expect(
            request("/timeshift/me/secret/60/\(text)/7.ts")?.resource
                == .archive(7, .failure(.value(name: "start", value: text))))
    }

    static let paths: [(path: String, form: ArchiveAddress.Form?)] = [
        ("/timeshift/me/secret/60/2026-01-02:12-00/7.ts", .transportStream),
        ("/timeshift/me/secret/60/2026-01-02:12-00/7.m3u8", .playlist),
        ("/timeshift/me/secret/60/2026-01-02:12-00/7", .transportStream),
        ("/timeshift/me/secret/60/2026-01-02:12-00", nil),
        ("/timeshift/me/secret/60/2026-01-02:12-00/", nil),
        ("/timeshift/me/secret/60/2026-01-02:12-00/x.ts", nil),
        ("/news/timeshift/me/secret/60/2026-01-02:12-00/7.ts", nil),
    ]

    @Test(arguments: paths) func path(_ path: String, form: ArchiveAddress.Form?) {
        let request = request(path)
        #expect((request == nil) == (form == nil))
        guard let request, let form else { return }
        let address = ArchiveAddress(form: form, range: ArchiveAddressTests.hour)
        #expect(request == XtreamRequest(user: "me", password: "secret", .archive(7, .success(address))))
    }

    /// Each stamp as a client writes it into the query: as it is, and with all of its signs escaped.
    @Test(arguments: stamps, [false, true]) func query(_ stamp: String, isEscaped: Bool) throws {
        let text = isEscaped ? PercentEncoding.encode(stamp) : stamp.replacing(" ", with: "%20")
        for path in ["/streaming/timeshift.php", "/timeshift.php"] {
            let uri = "\(path)?username=me&password=secret&stream=7&start=\(text)&duration=60"
            #expect(
                try XtreamRequest(RequestTarget(method: .get, uri: uri))
                    == request("/timeshift/me/secret/60/\(stamp)/7"))
        }
    }

    @Test func queryWithoutAStream() throws {
        #expect(try XtreamRequest(RequestTarget(method: .get, uri: "/timeshift.php?username=me")) == nil)
    }

    @Test(arguments: ["0", "-5", "x", "", "527041", "99999999999999999999"]) func minutes(_ text: String) {
        #expect(
            request("/timeshift/me/secret/\(text)/2026-01-02:12-00/7.ts")?.resource
                == .archive(7, .failure(.value(name: "duration", value: text))))
    }

    /// - Parameter path: decoded.
    private func request(_ path: String) -> XtreamRequest? {
        XtreamRequest(RequestTarget(method: .get, path: path, query: [], fields: RequestTarget.Fields()))
    }
}
