import Playlist
import Support
import Testing

@testable import DASH

private typealias Sketch = ManifestSketch

/// A live manifest with numbers of 2 s that follow from the clock.
private func clocked(_ attributes: String = "", period: String = "", template: String = "") -> Sketch {
    Sketch(
        attributes: "\(Sketch.live) \(attributes)",
        periods: [Sketch.period(period, "<SegmentTemplate duration=\"2\" media=\"$Number$\" \(template)/>")])
}

/// A live manifest with periods of segments of 2 s that a timeline lists.
private func listed(
    _ periods: [(id: String, start: Int, segments: Int)], attributes: String = "minimumUpdatePeriod=\"PT2S\"",
    since start: Int = 0
) -> Sketch {
    Sketch(
        attributes: "\(Sketch.live) \(attributes)".replacing(
            "00:00:00Z", with: "00:00:\(start > 9 ? "" : "0")\(start)Z"),
        periods: periods.map { period in
            Sketch.period(
                "start=\"PT\(period.start)S\"", id: period.id,
                "<SegmentTemplate media=\"\(period.id)$Time$\"><SegmentTimeline><S t=\"0\" d=\"2\" r=\"\(period.segments - 1)\"/></SegmentTimeline></SegmentTemplate>"
            )
        })
}

/// The same with an init section of video of a height.
private func sized(_ periods: [(id: String, start: Int, segments: Int)], _ height: Int) -> Sketch {
    var sketch = listed(periods)
    sketch.periods = sketch.periods.map {
        $0.replacing("height=\"720\"", with: "height=\"\(height)\"")
            .replacing("<SegmentTemplate", with: "<SegmentTemplate initialization=\"init\"")
    }
    return sketch
}

/// A live manifest that lists audio, and video whose first segment is not complete.
private func begun(since start: Int, template: String = "v$Number$") -> Sketch {
    var sketch = listed([("a", 0, 2)], since: start)
    let audio = sketch.periods[0].replacing("video", with: "audio").replacing("avc1.64001F", with: "mp4a.40.2")
    sketch.periods = [
        Sketch.period("start=\"PT0S\"", id: "a", "<SegmentTemplate media=\"\(template)\"/>")
            .replacing(
                "</Period>",
                with: String(audio[(audio.firstRange(of: "<AdaptationSet")?.lowerBound ?? audio.startIndex)...]))
    ]
    return sketch
}

/// A step: a manifest or nothing, at a session time that is the media time.
private typealias Step = (at: Int, manifest: Sketch?, lines: [String])

private let rows: [(when: String, steps: [Step])] = [
    (
        "the clock adds segments",
        [
            (5, clocked(), ["0 @0 2 1", "1 @2 2 2"]), (6, nil, ["0 @0 2 1", "1 @2 2 2", "2 @4 2 3"]),
            (7, nil, ["0 @0 2 1", "1 @2 2 2", "2 @4 2 3"]),
        ]
    ),
    (
        "a window",
        [
            (
                21, clocked("timeShiftBufferDepth=\"PT1S\""),
                ["9 @18 2 10"]
            )
        ]
    ),
    (
        "segments that are available before their end",
        [(5, clocked(template: "availabilityTimeOffset=\"1.5\""), ["0 @0 2 1", "1 @2 2 2", "2 @4 2 3"])]
    ),
    (
        "segments that may be requested at any time are listed when they have ended",
        [(5, clocked(template: "availabilityTimeOffset=\"INF\""), ["0 @0 2 1", "1 @2 2 2"])]
    ),
    (
        "segments that may be requested hours before are listed when they begin",
        [(5, clocked(template: "availabilityTimeOffset=\"7200\""), ["0 @0 2 1", "1 @2 2 2", "2 @4 2 3"])]
    ),
    (
        "a timeline into the future that may be requested at any time, up to what a clock may be behind",
        [
            (
                5,
                Sketch(
                    attributes: Sketch.live,
                    periods: [
                        Sketch.period(
                            "<SegmentTemplate availabilityTimeOffset=\"INF\" media=\"$Time$\"><SegmentTimeline><S t=\"0\" d=\"5\" r=\"99\"/></SegmentTimeline></SegmentTemplate>"
                        )
                    ]), ["0 @0 5 0", "1 @5 5 5", "2 @10 5 10"]
            )
        ]
    ),
    (
        "segments that are still being made are not",
        [
            (
                5, clocked(template: "availabilityTimeOffset=\"1.5\" availabilityTimeComplete=\"false\""),
                ["0 @0 2 1", "1 @2 2 2"]
            )
        ]
    ),
    (
        "the clock adds nothing after the next update",
        [
            (4, clocked("minimumUpdatePeriod=\"PT3S\""), ["0 @0 2 1", "1 @2 2 2"]),
            (12, nil, ["0 @0 2 1", "1 @2 2 2", "2 @4 2 3"]),
        ]
    ),
    (
        "numbers stay while the window slides",
        [
            (4, listed([("a", 0, 2)]), ["0 @0 2 a0", "1 @2 2 a2"]),
            (8, listed([("a", 0, 2), ("b", 4, 2)]), ["0 @0 2 a0", "1 @2 2 a2", "2| @4 2 b0", "3 @6 2 b2"]),
            (10, listed([("b", 4, 3)]), ["2| @4 2 b0", "3 @6 2 b2", "4 @8 2 b4"]),
        ]
    ),
    (
        "segments that a revised period replaces are gaps, and what replaces them has numbers of its own",
        [
            (8, listed([("a", 0, 2), ("b", 4, 2)]), ["0 @0 2 a0", "1 @2 2 a2", "2| @4 2 b0", "3 @6 2 b2"]),
            (
                10, listed([("a", 0, 2), ("b", 4, 1), ("c", 6, 2)]),
                ["0 @0 2 a0", "1 @2 2 a2", "2| @4 2 b0", "3 gap @6 2 b2", "4| @6 2 c0", "5 @8 2 c2"]
            ),
        ]
    ),
    (
        "a period that begins before the last segments of a longer one was thought to is known again",
        [
            (8, listed([("a", 0, 4)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4", "3 @6 2 a6"]),
            (
                8, listed([("a", 0, 2), ("c", 5, 1)]),
                ["0 @0 2 a0", "1 @2 2 a2", "2 gap @4 2 a4", "3 gap @6 2 a6", "4| @5 2 c0"]
            ),
            (
                9, listed([("a", 0, 2), ("c", 5, 2)]),
                ["0 @0 2 a0", "1 @2 2 a2", "2 gap @4 2 a4", "3 gap @6 2 a6", "4| @5 2 c0", "5 @7 2 c2"]
            ),
        ]
    ),
    (
        "an older list takes nothing back",
        [
            (6, listed([("a", 0, 3)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4"]),
            (7, listed([("a", 0, 2)]), ["0 @0 2 a0", "1 @2 2 a2"]),
            (8, listed([("a", 0, 4)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4", "3 @6 2 a6"]),
        ]
    ),
    (
        "an older manifest is ignored, up to three times",
        [
            (
                4,
                listed([("a", 0, 2)], attributes: "minimumUpdatePeriod=\"PT2S\" publishTime=\"2026-01-01T00:00:04Z\""),
                ["0 @0 2 a0", "1 @2 2 a2"]
            ),
            (
                5,
                listed([("a", 0, 1)], attributes: "minimumUpdatePeriod=\"PT2S\" publishTime=\"2026-01-01T00:00:02Z\""),
                ["0 @0 2 a0", "1 @2 2 a2"]
            ),
        ]
    ),
    (
        "a packager that is restarted begins another timeline, and lost nothing in between",
        [
            (8, listed([("a", 0, 3)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4"]),
            (14, listed([("a", 0, 1)], since: 12), ["3| @12 2 a0"]),
            (16, listed([("a", 0, 2)], since: 12), ["3| @12 2 a0", "4 @14 2 a2"]),
        ]
    ),
    (
        "a packager that is restarted at once is another one too",
        [
            (8, listed([("a", 0, 4)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4", "3 @6 2 a6"]),
            (10, listed([("a", 0, 2)], since: 8), ["4| @8 2 a0", "5 @10 2 a2"]),
        ]
    ),
    (
        "one that lists the last segment again moves the numbers far on",
        [
            (8, listed([("a", 0, 4)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4", "3 @6 2 a6"]),
            (10, listed([("b", 0, 2)], since: 6), ["1000004| @6 2 b0", "1000005 @8 2 b2"]),
        ]
    ),
    (
        "a packager that is restarted lists audio before the first segment of its video",
        [
            (8, listed([("a", 0, 3)]), ["0 @0 2 a0", "1 @2 2 a2", "2 @4 2 a4"]), (14, begun(since: 12), []),
            (16, listed([("a", 0, 1)], since: 12), ["3| @12 2 a0"]),
        ]
    ),
    (
        "audio before the first segment of the video",
        [(4, begun(since: 0), []), (6, listed([("a", 0, 1)]), ["0 @0 2 a0"])]
    ),
    (
        "audio beside video that is never listed",
        [(4, begun(since: 0, template: "video"), ["0 @0 2 a0", "1 @2 2 a2"])]
    ),
    (
        "a timeline that begins later with each manifest is one",
        [
            (8, listed([("a", 2, 3)]), ["1 @2 2 a0", "2 @4 2 a2", "3 @6 2 a4"]),
            (10, listed([("a", 0, 4)], since: 2), ["1 @2 2 a0", "2 @4 2 a2", "3 @6 2 a4", "4 @8 2 a6"]),
        ]
    ),
    (
        "sizes that change under the name of an init section",
        [
            (4, sized([("a", 0, 2)], 720), ["0 @0 2 a0", "1 @2 2 a2"]),
            (8, sized([("a", 0, 4)], 360), ["0 @0 2 a0", "1 @2 2 a2", "2| @4 2 a4", "3 @6 2 a6"]),
        ]
    ),
    (
        "the numbers count what was never listed",
        [
            (4, listed([("a", 0, 2)]), ["0 @0 2 a0", "1 @2 2 a2"]),
            (14, listed([("b", 10, 2)]), ["5| @10 2 b0", "6 @12 2 b2"]),
        ]
    ),
    (
        "a timeline that goes back moves the numbers far on",
        [
            (14, listed([("b", 10, 2)]), ["5 @10 2 b0", "6 @12 2 b2"]),
            (16, listed([("c", 2, 1)]), ["1000007| @2 2 c0"]),
        ]
    ),
]

@Suite("Following manifests") struct ManifestFollowerTests {
    @Test(arguments: rows) fileprivate func lists(when: String, steps: [Step]) throws {
        var follower = ManifestFollower(choice: .highest)
        for (index, step) in steps.enumerated() {
            let now = Duration.seconds(step.at)
            if let manifest = step.manifest { _ = follower.handle(.manifest(try manifest.parsed()), at: now) }
            if index == 0 { _ = follower.handle(.date(.live(Double(step.at)), isExact: true), at: now) }
            let derived = follower.main(at: now)
            let playlist = try #require(derived)
            #expect(playlist.lines == step.lines, "\(when), at \(step.at)")
            #expect(!playlist.hasEndList)
        }
    }

    @Test("A period without media, announced before it begins, changes nothing") func emptyPeriod() throws {
        var follower = ManifestFollower(choice: .highest)
        let media = Sketch.period("start=\"PT0S\"", "<SegmentTemplate duration=\"2\" media=\"$Number$\"/>")
        let sketch = Sketch(attributes: Sketch.live, periods: [media, "<Period id=\"next\" start=\"PT9S\"/>"])
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        #expect(follower.master.variants.count == 1)
    }

    @Test("The target duration is that of the track, whichever is listed first") func targetDurations() throws {
        var follower = ManifestFollower(choice: .highest)
        var sketch = listed([("a", 0, 2)])
        let audio = sketch.periods[0].replacing("video", with: "audio").replacing("avc1.64001F", with: "mp4a.40.2")
            .replacing("d=\"2\"", with: "d=\"3\"")
        let set = audio[(audio.firstRange(of: "<AdaptationSet")?.lowerBound ?? audio.startIndex)...]
        sketch.periods = [sketch.periods[0].replacing("</Period>", with: String(set))]
        _ = follower.handle(.manifest(try sketch.parsed()), at: .zero)
        _ = follower.handle(.date(.live(8), isExact: true), at: .zero)
        let listing = follower.listing(of: .audio(name: "audio"), at: .zero)
        guard case .playlist(let playlist) = listing else { throw CancellationError() }
        let main = follower.main()
        #expect(playlist.targetDuration == .seconds(3) && main?.targetDuration == .seconds(2))
    }

    @Test("The date is needed where the clock says what there is") func needsDate() throws {
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try clocked().parsed()), at: .zero)
        let listing = follower.listing(of: .main(alternative: 0), at: .zero)
        #expect(listing == .needsDate)
        _ = follower.handle(.manifest(try listed([("a", 0, 1)]).parsed()), at: .zero)
        let playlist = follower.main()
        #expect(playlist != nil)
    }

    @Test("The next change is that of the clock, and none after the next update") func nextChange() throws {
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.date(.live(5), isExact: true), at: .seconds(100))
        _ = follower.handle(.manifest(try clocked().parsed()), at: .seconds(100))
        _ = follower.main(at: .seconds(100))
        #expect(follower.nextChange == .milliseconds(101_005))
        _ = follower.handle(.manifest(try clocked("minimumUpdatePeriod=\"PT0.5S\"").parsed()), at: .seconds(100))
        _ = follower.main(at: .seconds(100))
        #expect(follower.nextChange == nil)
    }

    @Test("An inexact date gives way to a later and to an exact one") func dates() throws {
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.manifest(try clocked().parsed()), at: .zero)
        for (date, isExact, count) in [(4.0, false, 2), (2, false, 2), (8, false, 4), (6, true, 3), (20, false, 3)] {
            _ = follower.handle(.date(.live(date), isExact: isExact), at: .zero)
            let playlist = follower.main()
            #expect(playlist?.segments.count == count, "\(date)")
        }
    }

    @Test(arguments: [
        ("a manifest that does not change any more, listed to its end", "mediaPresentationDuration=\"PT4S\"", 9, true),
        ("its end has not come", "mediaPresentationDuration=\"PT4S\"", 3, false),
        ("no end is known", "", 9, false),
        (
            "the end is known, and updates are announced",
            "mediaPresentationDuration=\"PT4S\" minimumUpdatePeriod=\"PT2S\"", 9, true
        ),
        ("another end may come", "minimumUpdatePeriod=\"PT2S\"", 9, false),
    ])
    func end(when: String, attributes: String, at time: Int, hasEnded: Bool) throws {
        var follower = ManifestFollower(choice: .highest)
        _ = follower.handle(.date(.live(Double(time)), isExact: true), at: .zero)
        _ = follower.handle(.manifest(try clocked(attributes).parsed()), at: .zero)
        let playlist = follower.main()
        #expect(playlist?.hasEndList == hasEnded, "\(when)")
    }
}
