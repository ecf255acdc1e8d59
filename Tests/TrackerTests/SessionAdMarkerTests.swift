import Playlist
import Testing

@testable import Fetch
@testable import Support
@testable import Tracker

/// Ad markers of segments that are lost, or that were fetched before the marker was added.
struct SessionAdMarkerTests {
    private static func range(_ id: String) -> String { "#EXT-X-DATERANGE:ID=\"\(id)\"\n" }

    @Test func adMarkersOfALostSegmentComeWithTheNext() async throws {
        var origin = SessionOrigin()
        origin.tags = { $0 == 106 ? "#EXT-X-GAP\n#EXT-X-CUE-IN\n" : $0 == 107 ? "#EXT-X-CUE-OUT\n" : "" }
        origin.instead = { request, _ in request.url.hasSuffix("seg107.ts") ? refused(404, request) : nil }
        let segments = try await SessionRun(origin, seconds: 60).segments()
        let next = try #require(segments.first { $0.segment.mediaSequence == 108 })
        #expect(next.skippedSegments.flatMap(\.unknownTags) == ["#EXT-X-CUE-IN", "#EXT-X-CUE-OUT"])
        #expect(segments.filter { $0.segment.mediaSequence != 108 }.allSatisfy { $0.skippedSegments.isEmpty })
    }

    @Test func cueTagAddedToAFetchedSegmentIsCounted() async throws {
        var origin = SessionOrigin()
        origin.tags = { $0 == 107 ? "#EXT-X-CUE-OUT:30\n" : "" }
        let late = "#EXT-X-CUE-IN\n#EXT-OATCLS-SCTE35:/DAl\n#EXT-X-OURS:1\n"
        origin.instead = { [origin] request, now in
            guard request.purpose != .segment, now >= .seconds(20) else { return nil }
            var later = origin
            // Segment 103 was listed before the join and never fetched, so its tag does not count.
            later.tags = { $0 == 108 || $0 == 103 ? late : origin.tags($0) }
            return text(later.playlist(at: now), request)
        }
        let run = try await SessionRun(origin, seconds: 40)
        #expect(run.numbers().contains(108))
        #expect(run.status?.renditions.first?.counts[.lateCueTags] == 2, "each cue tag once, and no other tag")
        let before = try await SessionRun(origin, seconds: 18)
        #expect(before.status?.renditions.first?.counts[.lateCueTags] == 0)
    }

    @Test func dateRangesOfALostSegmentComeWithTheNext() async throws {
        var origin = SessionOrigin()
        origin.head = Self.range("head")
        origin.instead = { request, _ in request.url.hasSuffix("seg106.ts") ? refused(404, request) : nil }
        let segments = try await SessionRun(origin, seconds: 60).segments()
        let next = try #require(segments.first { $0.segment.mediaSequence == 107 })
        #expect(next.listedDateRanges.map(\.id).contains("head"))
    }

    /// The last playlist adds only its end and a date range.
    @Test func endCarriesDateRangesThatNoSegmentCarried() async throws {
        var origin = SessionOrigin()
        origin.stopsAt = .seconds(13)
        origin.instead = { [origin] request, now in
            guard request.purpose != .segment, now >= .seconds(16) else { return nil }
            let playlist = origin.playlist(at: now) + Self.range("trailing") + "#EXT-X-ENDLIST\n"
            return text(playlist, request)
        }
        let run = try await SessionRun(origin, seconds: 60)
        let ends = run.deliveries.compactMap { entry -> [String]? in
            guard case .ended(let ranges) = entry.delivery.content else { return nil }
            return ranges.map(\.id)
        }
        #expect(ends == [["trailing"]] && run.segments().allSatisfy { $0.listedDateRanges.isEmpty })
    }

    @Test func firstNewSegmentCarriesThePlaylistsOtherDateRanges() async throws {
        var origin = SessionOrigin()
        origin.head = Self.range("head")
        origin.tags = { "#EXT-X-BITRATE:1\n" + Self.range("of \($0)") }
        let segments = try await SessionRun(origin, seconds: 20).segments()
        let joined = try #require(segments.first)
        #expect(joined.segment.dateRanges.map(\.id) == ["of 104"])
        #expect(
            joined.listedDateRanges.map(\.id) == ["head"] + (100..<104).map { "of \($0)" }, "every listed date range"
        )
        #expect(segments[1].listedDateRanges.isEmpty, "the second segment of the same playlist")
        let later = try #require(segments.first { $0.segment.mediaSequence == 106 })
        #expect(later.listedDateRanges.map(\.id) == ["head"] + (101..<106).map { "of \($0)" })
    }
}
