import Playlist
import Testing
import TrackerTestSupport

@testable import Fetch
@testable import Support
@testable import Tracker

/// How a session handles an upstream that exceeds its limits.
struct SessionLimitTests {
    @Test func droppedLinesAreCountedAtEachLoadAndReportedOnce() async throws {
        var origin = SessionOrigin()
        origin.tags = { $0 == 104 ? String(repeating: "#EXT-X-CUE-OUT-CONT:1/30\n", count: 200) : "" }
        let run = try await SessionRun(origin, seconds: 30)
        let counts = try #require(run.status?.renditions.first?.counts)
        #expect(counts.droppedByLimit.keys.map(\.self) == [.linesPerSegment])
        #expect(counts.droppedByLimit[.linesPerSegment] ?? 0 >= 72)
        #expect((counts.droppedByLimit[.linesPerSegment] ?? 0) % 72 == 0)
        let events = run.events.map(\.event.text).filter { $0.hasPrefix("playlist-limit") }
        #expect(events == ["playlist-limit rendition=main limit=linesPerSegment dropped=72"])
        #expect(run.numbers().count > 4, "the channel goes on")
    }

    /// Segments that are too large to be held are fetched one after the other.
    @Test func segmentTooLargeToBeHeldIsFetchedWhenItComesNext() async throws {
        var origin = SessionOrigin()
        origin.latency = { $0.url.hasSuffix("seg104.ts") ? .seconds(3) : .milliseconds(50) }
        origin.instead = { request, _ in
            guard request.purpose == .segment, let limit = request.byteLimit, limit < 8 << 20 else { return nil }
            return .failure(FetchError(.tooLarge, url: request.url))
        }
        let run = try await SessionRun(origin, seconds: 40)
        #expect(run.losses().isEmpty)
        #expect(run.numbers() == Array(104...111))
        let counts = try #require(run.status?.renditions.first?.counts)
        #expect(counts[.postponedSegments] > 0)
        #expect(counts[.failedAttempts] == 0)
    }

    /// A page in place of a segment, while no other segment can be held. It is given up as if the next one were ready,
    /// and no segment that waited for it is lost with it.
    @Test func segmentsThatWaitForADeadOneAreNotLostWithIt() async throws {
        var origin = SessionOrigin()
        origin.windowLength = 10
        origin.instead = { request, now in
            guard request.purpose == .segment else { return nil }
            if request.url.hasSuffix("seg107.ts") { return text("<html>no</html>", request) }
            return request.byteLimit != nil ? failed(.tooLarge, request) : nil
        }
        let run = try await SessionRun(origin, seconds: 60)
        #expect(run.trace() == "104 105 106 x107..<108 |108 109 110 111 112 113 114")
        // Segment 106 is delivered just after 6 s. The first gap would be listed 2.875 target durations later.
        let lostAt = run.times { if case .lost = $0 { true } else { false } }
        #expect(lostAt.allSatisfy { (.seconds(23)..<(.seconds(24))).contains($0) })
    }

    @Test func onlyTheNextSegmentMayHaveAnySize() async throws {
        let run = try await SessionRun(SessionOrigin(), seconds: 10)
        let limits = run.requests.filter { $0.request.purpose == .segment }.map(\.request.byteLimit)
        #expect(limits.first == .some(nil))
        #expect(limits.dropFirst().first == IntakeLimits().aheadBytes / 3)
    }

    /// A playlist of 16 MiB is loaded every 4 s, whatever its target duration.
    @Test func hugePlaylistIsLoadedLessOften() async throws {
        var origin = SessionOrigin()
        origin.seconds = 1
        origin.windowLength = 3
        let small = try await SessionRun(origin, seconds: 12)
        origin.head = String(repeating: "#" + String(repeating: "c", count: 1023) + "\n", count: 8 << 10)
        let huge = try await SessionRun(origin, seconds: 12)
        #expect(small.requests.count { $0.request.purpose == .mediaPlaylist } > 9)
        #expect((3...6).contains(huge.requests.count { $0.request.purpose == .mediaPlaylist }))
        #expect(huge.losses().isEmpty)
    }

    @Test func mapsAndKeysAreKeptUpToALimit() {
        var cache = ResourceCache(byteLimit: 3200)
        for number in 0..<6 {
            let map = SegmentResource(FetchRequest(.map, url: "http://h/\(number).mp4"))
            cache.request(map, at: .zero)
            let id = FetchID(number: UInt64(number))
            _ = cache.start(as: id, at: .zero) { $0 == map }
            _ = cache.settle(id, bytes([UInt8](repeating: 7, count: 1200), map.request), at: .zero)
        }
        let held = (0..<6).map { cache.holds([SegmentResource(FetchRequest(.map, url: "http://h/\($0).mp4"))]) }
        #expect(held == [false, false, false, false, true, true])
    }
}
