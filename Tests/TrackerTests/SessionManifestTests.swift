import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// How a session follows a DASH manifest.

private let url = "http://origin.example/d/live.mpd"

/// The date at session time zero is 100 s after the availability start time.
private func date(_ now: Duration) -> String {
    ProgramDateTime(millisecondsSince1970: 1_767_225_700_000 + now.wholeMilliseconds).text
}

private func manifest(_ periods: String, attributes: String = "minimumUpdatePeriod=\"PT2S\"") -> String {
    """
    <MPD type="dynamic" availabilityStartTime="2026-01-01T00:00:00Z" timeShiftBufferDepth="PT12S" \(attributes)>
    <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="/utc"/>\(periods)</MPD>
    """
}

private func period(_ attributes: String, _ set: String = "") -> String {
    """
    <Period \(attributes)><AdaptationSet mimeType="video/mp4">\(set)<Representation id="v" bandwidth="900000">
    <SegmentTemplate duration="2" media="v$Number$"/></Representation></AdaptationSet>
    <AdaptationSet mimeType="audio/mp4" lang="en"><Representation id="a" bandwidth="96000" codecs="mp4a.40.2">
    <SegmentTemplate duration="2" media="a$Number$"/></Representation></AdaptationSet></Period>
    """
}

/// An origin with a manifest at each time. A segment is there if the clock says so, and if its number is not refused.
private func origin(
    refusing numbers: ClosedRange<Int>? = nil, _ text: @escaping @Sendable (_ now: Duration) -> String
) -> SessionOrigin {
    var origin = SessionOrigin()
    origin.instead = { request, now in
        if request.url == url { return TrackerTests.text(text(now), request) }
        if request.url.hasSuffix("/utc") { return TrackerTests.text(date(now), request) }
        let number = request.url.split(separator: "/").last.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
        return numbers?.contains(number) == true ? refused(404, request) : bytes(Array(request.url.utf8), request)
    }
    return origin
}

@Test("One manifest is loaded for all tracks, and the clock adds their segments") func manifestIsLoadedOnce()
    async throws
{
    let whole = period("id=\"a\" start=\"PT0S\"")
    let run = try await SessionRun(origin { _ in manifest(whole) }, seconds: 21, upstream: url)
    let main = run.segments()
    let audio = run.segments(.audio)
    #expect(main.last?.url == "http://origin.example/d/v60")
    #expect(audio.last?.url == "http://origin.example/d/a60")
    #expect(run.numbers() == Array(run.numbers()[0]...run.numbers()[0] + UInt64(main.count - 1)))
    #expect(!run.trace().contains("|") && !run.trace(.audio).contains("|"))
    #expect(run.requests.count { $0.request.url == url } <= 11)
    #expect(run.requests.count { $0.request.url.hasSuffix("/utc") } == 1)
    // Each segment is requested within 0.1 s after it became available.
    for request in run.requests where request.request.url.hasSuffix("v55") {
        #expect(request.at >= .seconds(10) && request.at < .seconds(10.2))
    }
}

@Test("A period that ends before its time costs what was announced, and nothing of the next one") func revisedPeriod()
    async throws
{
    // The period a is announced without an end. At 8 s it turns out to have ended at 6 s, after v53.
    let run = try await SessionRun(
        origin(refusing: 54...60) { now in
            guard now >= .seconds(8) else { return manifest(period("id=\"a\" start=\"PT0S\"")) }
            return manifest(
                period("id=\"a\" start=\"PT0S\" duration=\"PT106S\"")
                    + period("id=\"b\" start=\"PT106S\"").replacing("media=\"v", with: "media=\"b"))
        }, seconds: 30, upstream: url)
    let names = run.segments().map { $0.url.split(separator: "/").last.map(String.init) ?? "" }
    #expect(names.contains("v53"))
    #expect(names.filter { $0.hasPrefix("b") } == (1...names.count { $0.hasPrefix("b") }).map { "b\($0)" })
    #expect(names.count { $0.hasPrefix("b") } >= 8)
    let first = try #require(
        run.deliveries.first { entry in
            if case .segment(let segment) = entry.delivery.content { segment.url.hasSuffix("/b1") } else { false }
        })
    #expect(first.at < .seconds(13), "\(first.at)")
}

@Test("Protected media is refused by name") func protectedManifest() async throws {
    let protection = "<ContentProtection schemeIdUri=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"/>"
    let run = try await SessionRun(
        origin { _ in manifest(period("id=\"a\" start=\"PT0S\"", protection)) }, upstream: url)
    guard case .failed(let error) = run.end,
        case .unsupportedProtection(let method, let format, _) = error.reason
    else {
        Issue.record("\(String(describing: run.end))")
        return
    }
    #expect(method == .other("cenc") && format == "Widevine")
}

@Test("The Date of the manifest is the time until its server tells it, and where it does not") func dateHeader()
    async throws
{
    var base = origin { _ in manifest(period("id=\"a\" start=\"PT0S\"")) }
    let plain = base.instead
    base.instead = { request, now in
        if request.url.hasSuffix("/utc") { return refused(404, request) }
        guard request.url == url, case .success(let answer) = plain(request, now) else { return plain(request, now) }
        let header = FetchAnswer.Header(name: "Date", value: "Thu, 01 Jan 2026 00:01:40 GMT")
        return .success(
            FetchAnswer(status: 200, finalURL: url, headers: now < .seconds(1) ? [header] : [], body: answer.body))
    }
    let run = try await SessionRun(base, seconds: 11, upstream: url)
    #expect(run.segments().last?.url.hasSuffix("/v55") == true)
}

private let wrongMedia: [(when: String, segments: String, tag: String, reason: PlaylistError.Reason)] = [
    (
        "a resource without an index", "<BaseURL>v.mp4</BaseURL>", "Representation",
        .missingAttribute("SegmentBase@indexRange")
    ),
    (
        "a duration with a fraction", "<SegmentTemplate duration=\"2000000.0\" media=\"v$Number$\"/>",
        "SegmentTemplate@duration", .badValue("2000000.0")
    ),
    (
        "a list without a duration", "<SegmentList><SegmentURL media=\"a\"/><SegmentURL media=\"b\"/></SegmentList>",
        "Representation", .missingAttribute("duration")
    ),
]

@Test("A manifest is refused for what is wrong in it", arguments: wrongMedia.indices)
func wrongManifest(index: Int) async throws {
    let row = wrongMedia[index]
    let text = manifest(period("id=\"a\" start=\"PT0S\"")).replacing(
        "<SegmentTemplate duration=\"2\" media=\"v$Number$\"/>", with: row.segments
    ).replacing("<SegmentTemplate duration=\"2\" media=\"a$Number$\"/>", with: row.segments)
    let run = try await SessionRun(origin { _ in text }, seconds: 60, upstream: url)
    guard case .failed(let error) = run.end, case .malformedPlaylist(let fault) = error.reason else {
        Issue.record("\(row.when): \(String(describing: run.end))")
        return
    }
    #expect(fault.tag == row.tag && fault.reason == row.reason, "\(row.when)")
}

@Test("A time that cannot be read is counted, and the Date stands in for it") func wrongTime() async throws {
    var base = origin { _ in manifest(period("id=\"a\" start=\"PT0S\"")) }
    let plain = base.instead
    base.instead = { request, now in
        guard request.url.hasSuffix("/utc") else { return plain(request, now) }
        let header = FetchAnswer.Header(name: "Date", value: "Thu, 01 Jan 2026 00:01:40 GMT")
        return .success(
            FetchAnswer(status: 200, finalURL: request.url, headers: [header], body: Array("2026-01-01T24:01:40Z".utf8))
        )
    }
    let run = try await SessionRun(base, seconds: 11, upstream: url)
    #expect(run.segments().last?.url.hasSuffix("/v55") == true)
    #expect(run.status?.faults == [.malformedPlaylist: 1])
}

@Test("Segment indexes are requested before the list is read") func segmentIndexes() async throws {
    let sidx: [UInt8] =
        [0, 0, 0, 56] + Array("sidx".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]
        + [0, 0, 0, 9, 0, 0, 0, 4, 0x90, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0x90, 0, 0, 0]
    var base = SessionOrigin()
    base.instead = { request, _ in
        guard request.url != url else {
            return text(
                """
                <MPD type="static" mediaPresentationDuration="PT6S"><Period><AdaptationSet mimeType="video/mp4">
                <Representation id="v" bandwidth="9"><BaseURL>v.mp4</BaseURL><SegmentBase indexRange="100-155"/>
                </Representation></AdaptationSet></Period></MPD>
                """, request)
        }
        let range = request.byteRange ?? ByteRange(offset: 0, length: 0)
        let body = range.offset == 100 ? sidx : Array(repeating: 1, count: Int(range.length))
        return bytes(body, request, status: 206)
    }
    let run = try await SessionRun(base, upstream: url)
    #expect(run.trace() == "0 1 .")
    #expect(
        run.segments().map(\.segment.byteRange) == [
            ByteRange(offset: 156, length: 9), ByteRange(offset: 165, length: 7),
        ])
    #expect(run.segments().map(\.map?.count) == [100, 100])
    #expect(run.end == .drained)
}

@Test("A segment index that is refused fails the opening with its status", arguments: [403, 404])
func refusedSegmentIndex(
    status: Int
) async throws {
    var base = SessionOrigin()
    base.instead = { request, _ in
        guard request.url == url else { return refused(status, request) }
        return text(
            """
            <MPD type="static" mediaPresentationDuration="PT6S"><Period><AdaptationSet mimeType="video/mp4">
            <Representation id="v" bandwidth="9"><BaseURL>v.mp4</BaseURL><SegmentBase indexRange="100-155"/>
            </Representation></AdaptationSet></Period></MPD>
            """, request)
    }
    let run = try await SessionRun(base, upstream: url)
    guard case .failed(let error) = run.end else {
        Issue.record("\(String(describing: run.end))")
        return
    }
    #expect(error.reason == .refused(status: status) && error.url.hasSuffix("/v.mp4"))
}

/// The manifest of a packager that updates it less often than it makes segments, and that began `start` seconds after the
/// availability start time of the others.
private func timeline(_ now: Duration, since start: Int, updates: Int) -> String {
    let passed = (Int(now.components.seconds) + 100 - start) / updates * updates
    let (first, last) = (max(0, passed / 2 - 6), passed / 2)
    let text = """
        <Period id="0" start="PT0S"><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="900000">
        <SegmentTemplate startNumber="\(first + 1)" media="v$Number$"><SegmentTimeline>
        <S t="\(2 * first)" d="2" r="\(last - first - 1)"/></SegmentTimeline></SegmentTemplate></Representation>
        </AdaptationSet></Period>
        """
    let began = ProgramDateTime(millisecondsSince1970: 1_767_225_600_000 + Int64(start) * 1000).text
    return manifest(text, attributes: "minimumUpdatePeriod=\"PT\(updates)S\"")
        .replacing("2026-01-01T00:00:00Z", with: began)
}

@Test(
    "A manifest is late when it breaks its promise, not when its update is longer than its segments",
    arguments: [2, 5, 10])
func updatesLongerThanSegments(updates: Int) async throws {
    let run = try await SessionRun(
        origin { now in timeline(min(now, .seconds(60)), since: 0, updates: updates) }, seconds: 60 + 9 * updates,
        upstream: url)
    let stalls = run.times { if case .stalled = $0 { true } else { false } }
    let first = try #require(stalls.first)
    #expect(first >= .seconds(60 - updates) + .seconds(updates) * 3 / 2 && first < .seconds(60) + .seconds(updates) * 2)
    #expect(stalls.count <= StallEscalation.Step.allCases.count && run.losses().isEmpty)
    #expect(run.requests.count { $0.request.url == url && $0.at < .seconds(60) } < 60 / updates + 4)
}

@Test("A packager that is restarted under another availability start time loses nothing") func restartedPackager()
    async throws
{
    let run = try await SessionRun(
        origin { now in
            guard now >= .seconds(35) else { return timeline(min(now, .seconds(28)), since: 0, updates: 2) }
            return timeline(now, since: 133, updates: 2)
        }, seconds: 60, upstream: url)
    #expect(run.losses().isEmpty, "\(run.trace())")
    #expect(run.segments().count { $0.segment.isDiscontinuous } == 1)
}

@Test("A packager that ends with a static manifest, and is restarted, is followed") func manifestIsStaticForAMoment()
    async throws
{
    let run = try await SessionRun(
        origin { now in
            switch now {
            case ..<Duration.seconds(28): timeline(now, since: 0, updates: 2)
            case ..<Duration.seconds(31):
                timeline(.seconds(28), since: 0, updates: 2).replacing("type=\"dynamic\"", with: "type=\"static\"")
                    .replacing("minimumUpdatePeriod=\"PT2S\"", with: "mediaPresentationDuration=\"PT128S\"")
            default: timeline(now, since: 129, updates: 2)
            }
        }, seconds: 60, upstream: url)
    #expect(run.losses().isEmpty && run.end == nil, "\(run.trace())")
    #expect(run.segments().count { $0.segment.isDiscontinuous } == 1)
    #expect(run.segments().last?.listedAt ?? .zero > .seconds(56))
}
