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
    origin.instead = { request, now in
        guard let range = request.byteRange else { return nil }
        let isOther = range.offset == 80 && now < .seconds(1)
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
