@testable import Fetch
import Playlist
import Testing

@testable import Support
@testable import Tracker

/// What a load and an input cost grows with the playlist, and not faster. Steps are segments that are looked at.
struct TrackerCostTests {
    struct CursorRow: Sendable, CustomTestStringConvertible {
        let when: String
        let playlist: @Sendable (_ count: UInt64, _ load: UInt64) -> MediaPlaylist

        var testDescription: String { when }
    }

    private static let cursorRows: [CursorRow] = [
        CursorRow(when: "nothing new") { count, _ in mediaPlaylist(0..<count) },
        CursorRow(when: "a segment more") { count, load in mediaPlaylist(load..<load + count) },
        CursorRow(when: "a segment more, with dates") { count, load in datedPlaylist(load..<load + count) },
        CursorRow(when: "other segments under the same numbers") { count, load in
            mediaPlaylist(0..<count) { "\(load)-\($0)" }
        },
        CursorRow(when: "the same segments under other numbers") { count, load in
            mediaPlaylist(load * 10_000..<load * 10_000 + count) { "\($0 - load * 10_000)" }
        },
        CursorRow(when: "one name for all") { count, load in
            mediaPlaylist(load * count..<(load + 1) * count) { _ in "same.ts" }
        },
        CursorRow(when: "two origins in turn") { count, load in
            let start: UInt64 = load.isMultiple(of: 2) ? 0 : 1 << 40
            return mediaPlaylist(start..<start + count) { "\(load % 2)-\($0)" }
        },
        CursorRow(when: "every second segment is a gap") { count, load in
            mediaPlaylist(
                load * count..<(load + 1) * count,
                edit: { for index in $0.segments.indices { $0.segments[index].isGap = index.isMultiple(of: 2) } })
        },
    ]

    @Test(arguments: cursorRows)
    func loadOfTwiceAsManySegmentsTakesTwiceAsManySteps(row: CursorRow) {
        let steps = [1000, 2000, 4000].map { (count: UInt64) in
            var cursor = SegmentCursor()
            let counter = StepCounter()
            StepCounter.$current.withValue(counter) {
                for load in 0..<8 as Range<UInt64> {
                    _ = cursor.handle(row.playlist(count, load), at: .seconds(6 * Int(load)))
                }
            }
            return counter.steps
        }
        for (few, many) in zip(steps, steps.dropFirst()) {
            #expect(many <= few * 2 + few / 10, "\(row.when): \(steps)")
        }
        #expect(steps[0] > 0)
    }

    /// Cue tags that an upstream adds later are compared with those listed before.
    @Test func cueTagsOfASegmentAreComparedInLinearTime() {
        let steps = [250, 500, 1000].map { count in
            var lateTags = LateCueTagCounter()
            let counter = StepCounter()
            StepCounter.$current.withValue(counter) {
                for load in 0..<3 {
                    var playlist = mediaPlaylist(0..<3)
                    playlist.segments[0].unknownTags = (0..<count).map { "#EXT-X-CUE-OUT:\($0 + load)" }
                    #expect(lateTags.countLateTags(in: playlist, before: 3, joined: 0) == (load > 0 ? 1 : count))
                }
            }
            return counter.steps
        }
        for (few, many) in zip(steps, steps.dropFirst()) { #expect(many <= few * 2 + few / 10, "\(steps)") }
    }

    /// A finished program of small segments, the first of which does not arrive for a minute.
    @Test func segmentsThatWaitForTheHeadCostNoMoreTheMoreThereAre() async throws {
        var steps: [Int] = []
        for count in [500, 1000, 2000, 4000] as [UInt64] {
            var origin = SessionOrigin()
            (origin.edge, origin.windowLength, origin.stopsAt, origin.endsWithList) = (count, count, .zero, true)
            origin.latency = { $0.url.hasSuffix("/seg0.ts") ? .seconds(60) : .milliseconds(20) }
            let counter = StepCounter()
            let run = try await StepCounter.$current.withValue(counter) {
                try await SessionRun(origin, seconds: 200)
            }
            #expect(run.numbers().count == Int(count))
            steps.append(counter.steps)
        }
        for (few, many) in zip(steps, steps.dropFirst()) { #expect(many <= few * 2 + few / 5, "\(steps)") }
    }
}
