import Playlist
import Testing

@testable import Tracker

/// Marks stand with segments, and segments may be lost: what a list says arrives all the same.
struct SessionMarksTests {
    private static func range(_ id: String) -> String { "#EXT-X-DATERANGE:ID=\"\(id)\"\n" }

    @Test func theMarksOfALostSegmentComeWithTheNext() async throws {
        var origin = SessionOrigin()
        origin.tags = { $0 == 106 ? "#EXT-X-GAP\n#EXT-X-CUE-IN\n" : $0 == 107 ? "#EXT-X-CUE-OUT\n" : "" }
        origin.instead = { request, _ in request.url.hasSuffix("seg107.ts") ? refused(404, request) : nil }
        let segments = try await SessionRun(origin, seconds: 60).segments()
        let next = try #require(segments.first { $0.segment.mediaSequence == 108 })
        #expect(next.passedOver.flatMap(\.marks) == ["#EXT-X-CUE-IN", "#EXT-X-CUE-OUT"])
        #expect(segments.filter { $0.segment.mediaSequence != 108 }.allSatisfy { $0.passedOver.isEmpty })
    }

    @Test func theFirstSegmentOfAListBringsItsOtherDateRanges() async throws {
        var origin = SessionOrigin()
        origin.head = Self.range("head")
        origin.tags = { "#EXT-X-BITRATE:1\n" + Self.range("of \($0)") }
        let segments = try await SessionRun(origin, seconds: 20).segments()
        let joined = try #require(segments.first)
        #expect(joined.segment.dateRanges.map(\.id) == ["of 104"])
        #expect(
            joined.listedDateRanges.map(\.id) == ["head"] + (100..<104).map { "of \($0)" }, "all that is listed is told"
        )
        #expect(segments[1].listedDateRanges.isEmpty, "of the same list")
        let later = try #require(segments.first { $0.segment.mediaSequence == 106 })
        #expect(later.listedDateRanges.map(\.id) == ["head"] + (101..<106).map { "of \($0)" })
    }
}
