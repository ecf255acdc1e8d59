import HTTP
import LiveRing
import Support
import Testing
import WebServer

/// What a request target asks for.
private struct RouteRow: Sendable, CustomTestStringConvertible {
    let uri: String
    let route: Route

    init(_ uri: String, _ route: Route) { (self.uri, self.route) = (uri, route) }

    /// A resource of the channel `news`.
    init(_ uri: String, of resource: Route.Resource) {
        self.init(uri, .channel("news", resource))
    }

    var testDescription: String { uri }
}

private func date(_ seconds: Int64) -> ProgramDateTime { ProgramDateTime(millisecondsSince1970: seconds * 1000) }

private let list: [RouteRow] = [
    RouteRow("/", .page), RouteRow("/web/page.css", .pageFile("/web/page.css")), RouteRow("/web/", .pageFile("/web/")),
    RouteRow("/playlist.m3u", .channelList(format: nil, group: nil)),
    RouteRow("/playlist.m3u?group=a%20b&format=ts", .channelList(format: "ts", group: "a b")),
    RouteRow("/library.zip", .library),
    RouteRow("/epg.xml", .guide(isGzipFile: false)), RouteRow("/epg.xml.gz", .guide(isGzipFile: true)),
    RouteRow("/status.json", .status), RouteRow("/metrics", .metrics), RouteRow("/healthz", .health),
    RouteRow("/readyz", .readiness), RouteRow("/news", .folder("news")), RouteRow("//live.m3u8", .notFound),
    RouteRow("/api", .api(nil, field: "")), RouteRow("/api/", .api(nil, field: "")),
    RouteRow("/api/openapi.json", .api(.document, field: "")),
    RouteRow("/api/channels", .api(.channels, field: "")),
    RouteRow("/api/channels/a/b", .api(.channel, field: "a/b")),
    RouteRow("/api/reload", .api(.reload, field: "")), RouteRow("/api/events?type=x", .api(.events, field: "")),
    RouteRow("/api/recordings", .api(.recordings, field: "")),
    RouteRow("/api/recordings/7?files=true", .api(.recording, field: "7")),
    RouteRow("/apis", .folder("apis")),
]

private let tuners: [RouteRow] = [
    RouteRow("/discover.json", .tuner(.discovery)), RouteRow("/device.xml", .tuner(.description)),
    RouteRow("/lineup.json", .tuner(.lineup)), RouteRow("/lineup.m3u", .tuner(.lineupList)),
    RouteRow("/lineup_status.json", .tuner(.lineupStatus)), RouteRow("/lineup.post?scan=start", .tuner(.scan)),
    RouteRow("/auto/v7", .tunerStream(number: "7", tuner: nil)),
    RouteRow("/auto/v5.1", .tunerStream(number: "5.1", tuner: nil)),
    RouteRow("/tuner0/v10001", .tunerStream(number: "10001", tuner: 0)),
    RouteRow("/tuner12/v1", .tunerStream(number: "1", tuner: 12)),
    RouteRow("/auto/ch500000000", .channel("auto", .notFound)),
    RouteRow("/auto/live.ts", .channel("auto", .endlessStream(.live))),
    RouteRow("/tuner/v1", .channel("tuner", .notFound)),
    RouteRow("/tuner-1/v1", .channel("tuner-1", .notFound)),
    RouteRow("/tuner0/live.ts", .channel("tuner0", .endlessStream(.live))),
    RouteRow("/auto/v7/x", .channel("auto", .notFound)), RouteRow("/auto", .folder("auto")),
]

private let resources: [RouteRow] = [
    RouteRow("/news/", of: .page), RouteRow("/news/live.m3u8", of: .playlist(.live(.fragmentedMP4))),
    RouteRow("/news/live.m3u8?start=nonsense", of: .playlist(.live(.fragmentedMP4))),
    RouteRow("/news/master.m3u8", of: .playlist(.master(.fragmentedMP4, nil))),
    RouteRow("/news/dvr.m3u8", of: .playlist(.rewind(.fragmentedMP4, .whole))),
    RouteRow("/news/dvr.m3u8?last=90", of: .playlist(.rewind(.fragmentedMP4, .last(milliseconds: 90_000)))),
    RouteRow("/news/dvr.m3u8?last=1.5&last=9", of: .playlist(.rewind(.fragmentedMP4, .last(milliseconds: 1500)))),
    RouteRow("/news/dvr.m3u8?delay=90", of: .playlist(.rewind(.fragmentedMP4, .delayed(milliseconds: 90_000)))),
    RouteRow("/news/dvr.m3u8?start=x", of: .badQuery(.value(name: "start", value: "x"))),
    RouteRow("/news/dvr.m3u8?start=2&end=1", of: .badQuery(.emptyRange)),
    RouteRow("/news/dvr-master.m3u8?delay=5", of: .playlist(.master(.fragmentedMP4, .delayed(milliseconds: 5000)))),
    RouteRow("/news/ts/live.m3u8", of: .playlist(.live(.transportStream))),
    RouteRow("/news/ts/master.m3u8", of: .playlist(.master(.transportStream, nil))),
    RouteRow("/news/ts/dvr.m3u8?last=1", of: .playlist(.rewind(.transportStream, .last(milliseconds: 1000)))),
    RouteRow("/news/ts/dvr-master.m3u8", of: .playlist(.master(.transportStream, .whole))),
    RouteRow("/news/ts/seg-42-0123abcd.ts", of: .transportSegment("seg-42-0123abcd.ts")),
    RouteRow("/news/ts/seg-42-0123abcd.m4s", of: .notFound), RouteRow("/news/ts/subs-0.m3u8", of: .notFound),
    RouteRow(
        "/news/clip.mp4?start=1767355200&end=1767355260",
        of: .clip(.between(start: date(1_767_355_200), end: date(1_767_355_260)), isPrecise: false)),
    RouteRow(
        "/news/clip.mp4?end=1767355260&precise=1",
        of: .clip(.between(start: nil, end: date(1_767_355_260)), isPrecise: true)),
    RouteRow("/news/clip.mp4?start=x", of: .badQuery(.value(name: "start", value: "x"))),
    RouteRow(
        "/news/clip.ts?start=1767355200&end=1767355260",
        of: .transportClip(.between(start: date(1_767_355_200), end: date(1_767_355_260)))),
    RouteRow("/news/clip.ts?end=x", of: .badQuery(.value(name: "end", value: "x"))),
    RouteRow("/news/programs.json?start=1767355200", of: .programs(.between(start: date(1_767_355_200), end: nil))),
    RouteRow("/news/iframes.m3u8", of: .playlist(.live(.iFrames))),
    RouteRow("/news/dvr-iframes.m3u8?last=1", of: .playlist(.rewind(.iFrames, .last(milliseconds: 1000)))),
    RouteRow("/news/seg-42-0123abcd-iframe.m4s", of: .extract(.iframe, of: "seg-42-0123abcd.m4s")),
    RouteRow("/news/still.jpg", of: .still(.init(date: nil))),
    RouteRow("/news/still.jpg?at=1767355200&width=160", of: .still(.init(date: date(1_767_355_200), width: 160))),
    RouteRow("/news/still.jpg?at=2026-01-02T12:00:00Z", of: .still(.init(date: date(1_767_355_200)))),
    RouteRow("/news/still.jpg?width=2000", of: .badQuery(.value(name: "width", value: "2000"))),
    RouteRow("/news/still.jpg?at=", of: .badQuery(.value(name: "at", value: ""))),
    RouteRow("/news/stills-10-1000.jpg", of: .stillSheet("stills-10-1000.jpg")),
    RouteRow("/news/stills.vtt?last=60", of: .stillTrack(.last(milliseconds: 60_000))),
    RouteRow("/news/breaks.json", of: .breaks(.whole)),
    RouteRow("/news/breaks.json?last=60", of: .breaks(.last(milliseconds: 60_000))),
    RouteRow("/news/breaks.json?start=2&end=1", of: .badQuery(.emptyRange)),
    RouteRow("/news/subs-0.m3u8", of: .playlist(.live(.subtitles(0)))),
    RouteRow("/news/subs-12.m3u8", of: .playlist(.live(.subtitles(12)))),
    RouteRow("/news/dvr-subs-3.m3u8?last=60", of: .playlist(.rewind(.subtitles(3), .last(milliseconds: 60_000)))),
    RouteRow("/news/dvr-subs-0.m3u8?last=x", of: .badQuery(.value(name: "last", value: "x"))),
    RouteRow("/news/sub-0-17-0123abcd.vtt", of: .subtitles("sub-0-17-0123abcd.vtt")),
    RouteRow("/news/subs-x.m3u8", of: .notFound), RouteRow("/news/subs-99999.m3u8", of: .notFound),
    RouteRow("/news/sub-0-17.vtt", of: .notFound), RouteRow("/news/sub-0-17-0123abcd.vtt.part", of: .notFound),
    RouteRow("/news/init-0123abcd.mp4", of: .initSection("init-0123abcd.mp4")),
    RouteRow("/news/seg-42-0123abcd.m4s", of: .segment("seg-42-0123abcd.m4s")),
    RouteRow("/news/status.json", of: .status), RouteRow("/news/metrics", of: .notFound),
    RouteRow("/news/healthz", of: .health),
    RouteRow("/news/readyz", of: .readiness), RouteRow("/news/ring.m3u8", of: .notFound),
    RouteRow("/news/ring.lock", of: .notFound), RouteRow("/news//live.m3u8", of: .notFound),
    RouteRow("/news/LIVE.m3u8", of: .notFound), RouteRow("/news/live.m3u8/", of: .notFound),
    RouteRow("/news/init-.mp4", of: .notFound), RouteRow("/news/seg-42.m4s", of: .notFound),
    RouteRow("/news/seg-x-0123abcd.m4s", of: .notFound), RouteRow("/news/seg-42-0123abcd.m4s.part", of: .notFound),
    RouteRow("/news/seg-42-0123abc/.m4s", of: .notFound),
    RouteRow("/news/seg-99999999999999999999-0123abcd.m4s", of: .notFound),
    RouteRow("/news/web/page.css", of: .pageFile("/web/page.css")),
    RouteRow("/news/live.ts", of: .endlessStream(.live)),
    RouteRow("/news/live.ts?speed=max", of: .endlessStream(.init(range: .whole, speed: .maximum))),
    RouteRow(
        "/news/live.ts?last=5&speed=1.5",
        of: .endlessStream(.init(range: .last(milliseconds: 5000), speed: .percent(150)))),
    RouteRow("/news/live.ts?speed=101", of: .badQuery(.value(name: "speed", value: "101"))),
]

@Suite struct RouteTests {
    @Test(arguments: list + tuners + resources) private func ofAList(_ row: RouteRow) throws {
        #expect(Route(try RequestTarget(method: .get, uri: row.uri), in: .list) == row.route)
    }

    /// A channel alone has its resources at the root.
    @Test(arguments: resources) private func ofAChannel(_ row: RouteRow) throws {
        let target = try RequestTarget(method: .get, uri: String(row.uri.dropFirst("/news".count)))
        guard case .channel(_, let resource) = row.route, target.path != "/metrics" else { return }
        #expect(Route(target, in: .channel) == .channel(nil, resource))
    }

    @Test func shortNameOfAStream() throws {
        let target = try RequestTarget(method: .get, uri: "/news.ts?speed=max")
        let stream = Route.Resource.endlessStream(.init(range: .whole, speed: .maximum))
        #expect(Route(target, in: .list) == .channel("news", stream))
        #expect(Route(target, in: .channel) == .channel(nil, .notFound))
    }
}
