import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite struct SubtitleTimelineTests {
    typealias Programme = SubtitleChannel.SourceProgram
    typealias Cue = SubtitleChannel.Cue

    static let day: Int64 = 36_000 * 90_000
    static let spoken = [Cue(start: 1000, end: 3000, text: "a"), Cue(start: 5500, end: 7500, text: "b")]

    /// Two programmes of 12 s with an advertisement of 6 s between them, which says nothing.
    static func broken(_ change: (inout SubtitleChannel) -> Void = { _ in }) -> SubtitleChannel {
        let rest = [Cue(start: 500, end: 1500, text: "c"), Cue(start: 9000, end: 11_900, text: "d")]
        var channel = SubtitleChannel(programs: [
            Programme(clock: day, pictures: [6000, 6000], texts: [6000, 6000], cues: spoken),
            Programme(clock: 126_000, pictures: [4000, 2000], texts: [4000, 2000]),
            Programme(clock: day + 18_000 * 90, pictures: [6000, 6000], texts: [6000, 6000], cues: rest),
        ])
        change(&channel)
        return channel
    }

    /// Where its cues belong: text, start and end in milliseconds on the channel's timeline.
    static let placed: [String: Set<[Int64]>] = [
        "a": [[1200, 3200]], "b": [[5700, 7700]], "c": [[18_700, 19_700]], "d": [[27_200, 30_100]],
    ]

    static let rows: [(when: String, channel: SubtitleChannel)] = [
        ("tagged splices, dates", broken()),
        ("without dates, by numbers", broken { $0.hasDates = false }),
        (
            "without dates, other numbers",
            broken {
                $0.hasDates = false
                $0.numberOffset = 77
            }
        ),
        ("no tags", broken { for index in $0.programs.indices { $0.programs[index].isTagged = false } }),
        ("discontinuity numbers of its own", broken { $0.textDiscontinuityOffset = 9 }),
        ("the map is two hours off", broken { $0.mapping = .off(7_200_000) }),
        (
            "the map is two hours back, without dates",
            broken {
                $0.mapping = .off(-7_200_000)
                $0.hasDates = false
            }
        ),
        ("no map, times from the segment's beginning", broken { $0.mapping = .absentPerSegment }),
        (
            "every programme from the same clock",
            broken { for index in $0.programs.indices { $0.programs[index].clock = 126_000 } }
        ),
        ("the clock wraps in a cue", broken { $0.programs[0].clock = Ticks.wrap - 6000 * 90 }),
        ("unfolded far beyond 33 bits", broken { $0.programs[2].clock = 5 * Ticks.wrap + 12_345 }),
        (
            "text in longer segments than the picture",
            broken { for index in [0, 2] { $0.programs[index].texts = [12_000] } }
        ),
        (
            "text in shorter segments than the picture",
            broken { for index in [0, 2] { $0.programs[index].texts = [2000, 2000, 2000, 2000, 2000, 2000] } }
        ),
    ]

    @Test(arguments: rows.indices) func cuesStandWhereTheirVideoIs(_ index: Int) {
        let row = Self.rows[index]
        let run = row.channel.run(row.channel.inStep)
        #expect(run.times == Self.placed, "\(row.when)")
        #expect(run.faults.isEmpty, "\(row.when): \(run.faults)")
        #expect(run.counts.cues == 4 && run.counts.late == 0 && run.counts.unplaced == 0, "\(row.when): \(run.counts)")
    }

    /// Which of both comes first is nobody's word.
    @Test(arguments: rows.indices) func theOrderOfArrivalChangesNothing(_ index: Int) {
        let row = Self.rows[index]
        let expected = row.channel.run(row.channel.inStep).files
        let orders: [[SubtitleChannel.Step]] = [
            [], Array(repeating: .picture, count: 20), row.channel.inStep.map { $0 == .picture ? .text : .picture },
            [.text, .text] + row.channel.inStep, [.picture, .picture, .picture] + row.channel.inStep,
        ]
        for (number, order) in orders.enumerated() {
            let isSame = row.channel.run(order).files == expected
            #expect(isSame, "\(row.when), order \(number)")
        }
    }

    @Test func segmentsAreEmittedOnceCovered() {
        for row in Self.rows.prefix(2) {
            let run = row.channel.run(row.channel.inStep)
            #expect(run.settledBeforeTheEnd == 6, "\(row.when)")
        }
    }

    @Test func aCueIsNotPresentedOverTheAdvertisement() {
        let channel = Self.broken { $0.programs[0].cues.append(Cue(start: 11_000, end: 14_000, text: "e")) }
        let run = channel.run(channel.inStep)
        #expect(run.times["e"] == [[11_200, 12_200]], "it ends with its run")
        #expect(run.cues[102] == [], "and the advertisement has none")
    }

    @Test func aCueThatBeganBeforeTheProgramCameBackIsPresentedFromThere() {
        let channel = Self.broken { $0.programs[2].cues.append(Cue(start: -2000, end: 800, text: "e")) }
        let run = channel.run(channel.inStep)
        #expect(run.times["e"] == [[18_200, 19_000]])
    }

    @Test func aSpliceThatKeepsTheClockKeepsTheCue() {
        // The same clock goes on with another configuration: two runs.
        let cues = [Cue(start: 5000, end: 8000, text: "a")]
        let channel = SubtitleChannel(programs: [
            Programme(clock: Self.day, pictures: [6000], texts: [6000], cues: cues),
            Programme(
                clock: Self.day + 6000 * 90, pictures: [6000], texts: [6000],
                cues: cues.map { Cue(start: $0.start - 6000, end: $0.end - 6000, text: $0.text) }, isTagged: false),
        ])
        let run = channel.run(channel.inStep)
        #expect(run.times["a"] == [[5200, 8200]] && run.counts.cues == 1)
        let counts = run.cues.values.map(\.count)
        #expect(counts == [1, 1])
    }

    @Test func aLateRenditionIsNotWaitedFor() {
        var channel = Self.broken()
        channel.lateness = .seconds(10)
        // All the picture first.
        let run = channel.run(Array(repeating: .picture, count: 6))
        #expect(run.files.map(\.mediaSequence) == Array(100...105), "each segment has a file")
        #expect(run.counts.late == 2, "those of the first two segments, \(run.counts)")
        #expect(run.times["d"] == [[27_200, 30_100]], "and what is in time goes on")
    }

    @Test func aRenditionThatNeverCameGetsEmptyFiles() {
        var channel = Self.broken { for index in $0.programs.indices { $0.programs[index].texts = [] } }
        channel.lateness = .seconds(10)
        let run = channel.run([])
        #expect(run.files.count == 6 && run.settledBeforeTheEnd == 4)
        let isEmpty = run.cues.values.joined().isEmpty
        #expect(isEmpty)
    }

    @Test func whatIsNoWebVTTIsCounted() {
        var timeline = SubtitleTimeline(renditions: 1, lateness: nil)
        let input = SubtitleInput(mediaSequence: 1, duration: .seconds(6), bytes: Array("<html>".utf8))
        #expect(timeline.append(input, rendition: 0) == [] && timeline.append(input, rendition: 5) == [])
        #expect(timeline.counts.unreadable == 1 && timeline.counts.segments == 1)
    }

    /// Made-up channels: each cue comes out once, where its picture is, in whatever order all of it arrived.
    @Test(arguments: UInt64(1)...60) func everyCueComesOutOnceInItsPlace(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let channel = SubtitleChannel(seed: &random)
        var expected: [String: Set<[Int64]>] = [:]
        for (index, programme) in channel.programs.enumerated() {
            for cue in programme.cues {
                let base = channel.output(index) / 90
                expected[cue.text] = [[base + cue.start, base + cue.end]]
            }
        }
        let run = channel.run(channel.inStep)
        #expect(run.times == expected)
        #expect(run.counts.cues == expected.count && run.counts.late == 0 && run.counts.unplaced == 0)
        #expect(expected.isEmpty || run.faults.isEmpty, "\(run.faults)")
        let shuffled = (0..<80).map { _ in Bool.random(using: &random) ? SubtitleChannel.Step.picture : .text }
        let isSame = channel.run(shuffled).files == run.files
        #expect(isSame)
    }
}

extension SubtitleChannel {
    /// Some programmes of whole seconds with cues that stay inside them; some of the channels without dates, some with
    /// maps that lead astray.
    fileprivate init(seed random: inout SeededGenerator) {
        var programmes: [SourceProgram] = []
        for index in 0..<Int.random(in: 1...6, using: &random) {
            let lengths = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Int64.random(in: 2...8, using: &random) * 1000
            }
            let length = lengths.reduce(0, +)
            let clock = index % 2 == 1 ? 126_000 : Int64.random(in: 0..<Ticks.wrap, using: &random)
            var programme = SourceProgram(clock: clock, pictures: lengths, texts: lengths)
            if Bool.random(using: &random) { programme.texts = [length] }
            var time = Int64.random(in: 0...900, using: &random)
            while index % 2 == 0, time + 1600 < length {
                let end = time + Int64.random(in: 300...1500, using: &random)
                programme.cues.append(Cue(start: time, end: end, text: "\(index) \(time)"))
                time = end + Int64.random(in: 0...900, using: &random)
            }
            programmes.append(programme)
        }
        self.init(programs: programmes)
        hasDates = Bool.random(using: &random)
        if hasDates {
            mapping =
                [.right, .off(3_600_000), .off(-19_800_000), .absentPerSegment].randomElement(using: &random) ?? .right
            numberOffset = UInt64.random(in: 0...5, using: &random)
        }
    }
}
