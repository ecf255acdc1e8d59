import ChannelTestSupport
import Playlist
import TestSupport
import Testing

@testable import Capture
@testable import Channel
@testable import LiveRing
@testable import Support

/// Ad breaks that nobody tagged, against the numbers that are drawn into the frames.
@Suite struct AdBreakTests {
    /// Milliseconds of advertisements, of the breaks that are found, and of both.
    struct Times: Equatable, Sendable {
        var ads: Int64 = 0
        var breaks: Int64 = 0
        var both: Int64 = 0
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let capture: String
        let times: Times
        /// The same of one iteration of the capture in a loop, an hour later.
        let looped: Times
        /// What is found wrongly, or not found.
        let because: String

        /// - Parameter looped: the breaks of an iteration, and how much of them is advertisements; nil: as in the capture.
        init(
            _ capture: String, ads: Int64, breaks: Int64, both: Int64, looped: (breaks: Int64, both: Int64)? = nil,
            because: String = ""
        ) {
            (self.capture, self.because) = (capture, because)
            times = Times(ads: ads, breaks: breaks, both: both)
            self.looped = Times(ads: ads, breaks: looped?.breaks ?? breaks, both: looped?.both ?? both)
        }

        var testDescription: String { because.isEmpty ? capture : "\(capture): \(because)" }
    }

    static let rows: [Row] = [
        Row("ssai_tagged", ads: 30_012, breaks: 30_012, both: 30_012),
        Row("ssai_untagged", ads: 30_012, breaks: 30_012, both: 30_012),
        Row(
            "pod_of_ten", ads: 16_000, breaks: 14_400, both: 14_400,
            because: "not found: the first ad, which has the program's parameters and is as long as the others"),
        Row("tagged_late", ads: 3000, breaks: 3000, both: 3000),
        Row("tags_wrong", ads: 3000, breaks: 3000, both: 3000),
        Row(
            "parameter_sets", ads: 6000, breaks: 7000, both: 6000, looped: (breaks: 9000, both: 6000),
            because: "false: 1 s of the program between ads, shorter than an ad; in a loop its last 2 s too"),
        Row("video_codecs", ads: 6002, breaks: 6002, both: 6002),
        Row("ad_clocks", ads: 6000, breaks: 8000, both: 6000, because: "false: 2 s of the program between two ads"),
        Row("audio_changes", ads: 0, breaks: 6000, both: 0, because: "false: the program with other audio"),
        Row("clean", ads: 0, breaks: 0, both: 0),
        Row("outage", ads: 0, breaks: 0, both: 0),
        Row(
            "reset_new_uris", ads: 0, breaks: 0, both: 0, looped: (breaks: 3000, both: 0),
            because: "in a loop, false: 3 s of the program between two restarts"),
        Row(
            "mid_gop", ads: 2000, breaks: 2000, both: 2000, looped: (breaks: 3000, both: 2000),
            because: "in a loop, false: 1 s of the program"),
        Row(
            "seam_times", ads: 4000, breaks: 2000, both: 2000,
            because: "not found: 2 s with the parameters of the program, and no splice after them"),
    ]

    /// The figures of docs/ad-breaks.md.
    @Test func recallAndPrecision() {
        let times = Self.rows.map(\.times)
        let both = times.reduce(0) { $0 + $1.both }
        #expect(both * 100 / times.reduce(0) { $0 + $1.ads } == 96, "recall")
        #expect(both * 100 / times.reduce(0) { $0 + $1.breaks } == 91, "precision")
    }

    /// The listed segments of a capture, and whether they are advertisements: nil if no frame says so.
    private func entries(of capture: String) async throws -> [(entry: RingEntry, isAd: Bool?)] {
        var channel = try SpooledChannel(of: CaptureFixture(capture))
        let snapshot = try #require(try await channel.relay().snapshot)
        var programs = try channel.result.segments.map { try ReplayResult.frames(of: [$0]).map(\.program) }[...]
        try #require(programs.count == snapshot.index.listed.count { !$0.isGap })
        let main = programs.first?.first
        return snapshot.index.listed.map { entry in
            guard !entry.isGap, let frames = programs.popFirst(), !frames.isEmpty else { return (entry, nil) }
            return (entry, frames.count { $0 != main } > frames.count / 2)
        }
    }

    private func times(
        of entries: some Sequence<(entry: RingEntry, isAd: Bool?)>, in breaks: [AdBreak]
    ) -> Times {
        var times = Times()
        for (entry, isAd) in entries {
            guard let isAd else { continue }
            let length = entry.programDateTimeEnd.milliseconds(since: entry.programDateTime)
            let middle = entry.programDateTime.advanced(byMilliseconds: length / 2)
            let isBreak = breaks.contains { $0.start <= middle && ($0.end.map { middle < $0 } ?? true) }
            times.ads += isAd ? length : 0
            times.breaks += isBreak ? length : 0
            times.both += isAd && isBreak ? length : 0
        }
        return times
    }

    @Test(arguments: rows) func splicesAreBreaks(_ row: Row) async throws {
        let entries = try await entries(of: row.capture)
        let breaks = AdBreakFinder(entries.map(\.entry), canGoOn: false).breaks.filter { $0.evidence != .signalled }
        #expect(times(of: entries, in: breaks) == row.times)
    }

    /// Captures with other programs in them, of which only loops are judged. `audio_only` has no frames that say what they
    /// are.
    private static let further: [Row] = [
        Row("byteranges", ads: 3000, breaks: 3000, both: 3000),
        Row("cue_tags", ads: 30_012, breaks: 30_012, both: 30_012),
        Row(
            "event_messages", ads: 2002, breaks: 4002, both: 2002,
            because: "false: 2 s of the program between two discontinuities"),
        Row("fmp4_maps", ads: 4002, breaks: 4002, both: 4002),
        Row("interlaced", ads: 4000, breaks: 4000, both: 4000),
        Row("interleave", ads: 3000, breaks: 3000, both: 3000),
        Row("ladder_pod", ads: 3000, breaks: 3000, both: 3000),
        Row(
            "open_gop", ads: 4000, breaks: 4840, both: 4000,
            because: "false: the program before a random access point, whose leading pictures are dropped"),
        Row("packed_audio", ads: 3000, breaks: 3000, both: 3000),
        Row("renditions_apart", ads: 3000, breaks: 3000, both: 3000),
        Row("slides", ads: 4000, breaks: 4000, both: 4000),
        Row(
            "two_switches", ads: 2000, breaks: 1000, both: 1000,
            because: "not found: what changes inside of a segment and back"),
        Row("webvtt", ads: 30_012, breaks: 30_012, both: 30_012),
    ]

    /// The demo plays captures in a loop: each iteration begins with a splice.
    @Test(arguments: rows + further) func anHourInALoopHasTheSameBreaks(_ row: Row)
        async throws
    {
        let entries = try await entries(of: row.capture)
        let first = try #require(entries.first?.entry)
        let length = try #require(entries.last?.entry).programDateTimeEnd.milliseconds(since: first.programDateTime)
        let iterations = (0..<max(3, 3_600_000 / length)).map { iteration in
            entries.enumerated().map { index, part in
                var entry = part.entry
                entry.programDateTime = entry.programDateTime.advanced(byMilliseconds: length * iteration)
                entry.isDiscontinuous = entry.isDiscontinuous || index == 0
                entry.isAfterInterruption = entry.isAfterInterruption && index > 0
                return (entry: entry, isAd: part.isAd)
            }
        }
        let breaks = AdBreakFinder(iterations.joined().map(\.entry), canGoOn: true).breaks
            .filter { $0.evidence != .signalled }
        #expect(times(of: iterations[iterations.count - 2], in: breaks) == row.looped)
        let longest = breaks.dropLast().compactMap { found in found.end.map { $0.milliseconds(since: found.start) } }
            .max()
        // Frames that are not presented are in no count.
        #expect(longest ?? 0 <= row.looped.breaks + 200, "breaks of two iterations are not one")
    }

    /// Processes that begin in the program, in a break, and near its edges.
    @Test(arguments: ["clean", "ssai_untagged", "ssai_tagged", "video_codecs"], Array(1...8))
    func restartsAreNoBreaks(_ capture: String, tenths: Int) async throws {
        let fixture = CaptureFixture(capture)
        let length = try CaptureDirectory(fixture.directory).index.duration
        var single = try SpooledChannel(of: fixture)
        let expected = try #require(try await single.relay().snapshot?.adBreaks(.whole))
        var channel = try SpooledChannel(of: fixture)
        let restarts = [length * tenths / 10, length * tenths / 10 + .seconds(5)]
        try await channel.relay(.init(times: .zero..<restarts[0]))
        try await channel.relay(.init(times: restarts[0]..<restarts[1]))
        let state = try await channel.relay(.init(times: restarts[1]..<length + .seconds(30)))
        #expect(state.snapshot?.adBreaks(.whole) == expected)
    }

    @Test func aBreakIsTheSameInEachRange() async throws {
        var channel = try SpooledChannel(of: .ssaiUntagged)
        let snapshot = try #require(try await channel.relay().snapshot)
        let found = try #require(snapshot.adBreaks(.whole)?.first)
        let (start, end) = (found.start, try #require(found.end))
        func breaks(from first: Int64, _ date: ProgramDateTime, to last: Int64) -> [AdBreak]? {
            let range = (date.advanced(byMilliseconds: first), date.advanced(byMilliseconds: last))
            return snapshot.adBreaks(.between(start: range.0, end: range.1))
        }
        #expect(breaks(from: 2000, start, to: 3000) == [found], "a range within it")
        #expect(breaks(from: -2000, start, to: 1) == [found], "its first frame")
        #expect(breaks(from: -1, end, to: 2000) == [found], "its last frame")
        #expect(breaks(from: -2000, start, to: 0) == [], "before it")
        #expect(breaks(from: 0, end, to: 2000) == [], "after it")
        #expect(breaks(from: 86_400_000, end, to: 86_500_000) == nil, "outside of the rewind")
    }
}
