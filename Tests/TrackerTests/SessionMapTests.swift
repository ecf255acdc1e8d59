import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

// EXT-X-MAP sections, fetched with the segments that need them.

@Test func mapAndSegmentsAreByteRangesOfOneFile() async throws {
    var origin = SessionOrigin()
    origin.tags = { number in
        let map = number < 107 ? "8@0" : "9@8"
        return "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"\(map)\"\n#EXT-X-BYTERANGE:10@\((number - 98) * 10)\n"
    }
    origin.uri = { _, _ in "all.mp4" }
    origin.instead = { request, _ in
        guard let range = request.byteRange else { return nil }
        let body = [UInt8](repeating: UInt8(truncatingIfNeeded: range.offset), count: Int(range.length))
        return bytes(body, request, status: 206)
    }
    let run = try await SessionRun(origin, seconds: 40)
    #expect(run.requested(.map).count == 2, "one for each range")
    let segments = run.segments()
    #expect(segments.map(\.segment.mediaSequence) == Array(104...111))
    #expect(segments.allSatisfy { $0.body == [UInt8](repeating: $0.body[0], count: 10) })
    #expect(segments.map { $0.map?.count } == [8, 8, 8, 9, 9, 9, 9, 9])
}

/// Origins that label a whole file as the part that was asked for, and other bytes as well.
@Test func mapAndSegmentsAreCutOutOfWholeFiles() async throws {
    var origin = SessionOrigin()
    origin.tags = { "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"8@0\"\n#EXT-X-BYTERANGE:10@\(($0 - 98) * 10)\n" }
    origin.uri = { _, _ in "all.mp4" }
    let file = (0..<200).map { UInt8(truncatingIfNeeded: $0 / 10) }
    let requests = RequestCounter()
    origin.instead = { request, _ in
        guard let range = request.byteRange else { return nil }
        let isOther = range.offset == 80 && requests.count("80") == 1
        let first = isOther ? 0 : range.offset
        let field = "bytes \(first)-\(first + range.length - 1)/\(isOther ? "*" : "200")"
        return .success(
            FetchAnswer(
                status: 206, finalURL: request.url, headers: [.init(name: "Content-Range", value: field)], body: file))
    }
    let run = try await SessionRun(origin, seconds: 40)
    let segments = run.segments()
    #expect(segments.map(\.segment.mediaSequence) == Array(104...111))
    #expect(segments.map { $0.body } == (104...111).map { [UInt8](repeating: UInt8($0 - 98), count: 10) })
    #expect(segments.allSatisfy { $0.map == [0, 0, 0, 0, 0, 0, 0, 0] })
    let wrong = run.status?.faults[.wrongRange] ?? 0
    #expect(wrong > 0 && run.status?.faults.count == 1)
}

/// An origin without ranges answers with the whole file, which may be larger than a map may be.
@Test func mapThatIsTooLargeIsTheReasonOfTheLoss() async throws {
    var origin = SessionOrigin()
    origin.tags = { _ in "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"8@0\"\n" }
    origin.instead = { request, _ in request.purpose == .map ? failed(.tooLarge, request) : nil }
    let run = try await SessionRun(origin, seconds: 20)
    #expect(run.segments().isEmpty)
    let reasons = Set(run.losses().map { "\($0.reason)" })
    #expect(run.losses().allSatisfy { $0.reason == .unavailable(.unreachable(.tooLarge)) }, "\(reasons)")
    #expect(run.losses().count > 3)
}

@Test func failedMapIsRetriedAndLosesOnlyItsSegments() async throws {
    var origin = SessionOrigin()
    origin.tags = { "#EXT-X-MAP:URI=\"init\($0).mp4\"\n" }
    origin.instead = { request, now in
        guard request.purpose == .map else { return nil }
        if request.url.hasSuffix("init106.mp4"), now < .seconds(4) { return refused(503, request) }
        return request.url.hasSuffix("init108.mp4") ? refused(404, request) : nil
    }
    let run = try await SessionRun(origin, seconds: 46)
    #expect(run.trace() == "104 105 106 107 x108..<109 |109 110 111 112")
    #expect(run.losses().first?.reason == .unavailable(.refused(status: 404)))
    // Segment 109 is ready at 24 s, which is 6 s of patience for segment 108 after 12 s.
    #expect(run.losses().first?.cause == .overtaken)
    #expect((10...20).contains(run.requested(.map).filter { $0.hasSuffix("init108.mp4") }.count))
}

/// An upstream whose packager is restarted: from then on another init section and key have the names of the first ones.
struct PackagerRestart: Sendable {
    let when: String
    /// The tags before a segment.
    var tags: @Sendable (_ number: UInt64) -> String = { _ in "" }
    /// The playlist in the place of the usual one; nil: the usual one.
    var playlist: @Sendable (_ origin: SessionOrigin, _ now: Duration) -> String? = { _, _ in nil }
    /// The answer to the requests for a resource after the restart, from the first on; the last one repeats.
    var answers: [@Sendable (FetchRequest) -> FetchOutcome] = [{ bytes([2, 2], $0) }]
    /// For each delivered segment the first byte of its init section, as a digit.
    let maps: String
    var requests = 2

    static let resource = "#EXT-X-MAP:URI=\"init.mp4\"\n"
    static let restart = Duration.seconds(24)

    static let rows: [PackagerRestart] = [
        .init(when: "nothing happens", answers: [{ bytes([1, 1], $0) }], maps: "1111111111", requests: 1),
        .init(
            when: "EXT-X-DISCONTINUITY", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" }, maps: "1111112222"),
        .init(
            when: "the discontinuity changed nothing", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" },
            answers: [{ bytes([1, 1], $0) }], maps: "1111111111"),
        .init(
            when: "an ad with an init section of its own",
            tags: {
                switch $0 {
                case 107: "#EXT-X-MAP:URI=\"ad.mp4\"\n"
                case 109: resource
                case 110: "#EXT-X-DISCONTINUITY\n"
                default: ""
                }
            },
            maps: "1119912222", requests: 3),
        .init(
            when: "the init section is empty for a moment", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" },
            answers: [{ bytes([], $0) }, { bytes([], $0) }, { bytes([2, 2], $0) }], maps: "1111112222", requests: 4),
        .init(
            when: "the origin says that nothing changed", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" },
            answers: [{ bytes([], $0, status: 304) }], maps: "1111111111"),
        .init(
            when: "the origin has it no more", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" },
            answers: [{ refused(404, $0) }], maps: "1111111111", requests: 4),
        .init(
            when: "the origin is asked too often", tags: { $0 == 110 ? "#EXT-X-DISCONTINUITY\n" : "" },
            answers: [{ refused(429, $0) }, { bytes([2, 2], $0) }], maps: "1111111111"),
        .init(
            when: "the discontinuity was never listed",
            playlist: { origin, now in
                let tag = "#EXT-X-DISCONTINUITY-SEQUENCE:\(now < restart ? 0 : 1)\n"
                return origin.playlist(at: now).replacing(resource, with: tag + resource)
            }, maps: "1111122222"),
        .init(
            when: "the numbers begin again",
            playlist: { origin, now in
                guard now >= restart else { return nil }
                let count = min(6, UInt64((now - restart).components.seconds / 6) + 1)
                let end = UInt64((now - restart).components.seconds / 6) + 1
                return origin.playlist(end - count..<end, at: now)
            }, maps: "1111122222"),
    ]
}

@Test(
    "A packager that is restarted gives other bytes the name of its init section",
    arguments: PackagerRestart.rows.indices)
func initSectionThatKeepsItsName(row: Int) async throws {
    let row = PackagerRestart.rows[row]
    var origin = SessionOrigin()
    origin.head = PackagerRestart.resource
    origin.tags = row.tags
    let counter = RequestCounter()
    let plain = origin
    origin.instead = { request, now in
        if request.purpose == .mediaPlaylist || request.purpose == .multivariantPlaylist {
            return row.playlist(plain, now).map { text($0, request) }
        }
        guard request.purpose == .map else { return nil }
        if request.url.hasSuffix("ad.mp4") { return bytes([9, 9], request) }
        if now < PackagerRestart.restart { return bytes([1, 1], request) }
        return row.answers[min(counter.count(request.url), row.answers.count) - 1](request)
    }
    let run = try await SessionRun(origin, seconds: 60)
    let maps = run.segments().map { String($0.map?.first ?? 0) }.joined()
    #expect(maps.prefix(row.maps.count) == row.maps, "\(row.when): \(run.trace())")
    #expect(run.requested(.map).count == row.requests, "\(row.when)")
}
