import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

@Suite struct SubtitleTimelineTests {
    typealias Program = SubtitleChannel.SourceProgram
    typealias Cue = SubtitleChannel.Cue

    static let day: Int64 = 36_000 * 90_000
    static let cues = [Cue(start: 1000, end: 3000, text: "a"), Cue(start: 5500, end: 7500, text: "b")]

    /// A program of 12 s, an ad of 6 s without cues, and a program of 12 s.
    static func channelWithAd(_ change: (inout SubtitleChannel) -> Void = { _ in }) -> SubtitleChannel {
        let rest = [Cue(start: 500, end: 1500, text: "c"), Cue(start: 9000, end: 11_900, text: "d")]
        var channel = SubtitleChannel(programs: [
            Program(clock: day, video: [6000, 6000], subtitles: [6000, 6000], cues: cues),
            Program(clock: 126_000, video: [4000, 2000], subtitles: [4000, 2000]),
            Program(clock: day + 18_000 * 90, video: [6000, 6000], subtitles: [6000, 6000], cues: rest),
        ])
        change(&channel)
        return channel
    }

    /// Expected start and end of its cues in milliseconds on the channel's timeline, by text.
    static let expectedTimes: [String: Set<[Int64]>] = [
        "a": [[1200, 3200]], "b": [[5700, 7700]], "c": [[18_700, 19_700]], "d": [[27_200, 30_100]],
    ]

    static let rows: [(when: String, channel: SubtitleChannel)] = [
        ("tagged splices, dates", channelWithAd()),
        ("without dates, located by number", channelWithAd { $0.hasDates = false }),
        (
            "without dates, with other numbers",
            channelWithAd {
                $0.hasDates = false
                $0.numberOffset = 77
            }
        ),
        (
            "no discontinuity tags",
            channelWithAd { for index in $0.programs.indices { $0.programs[index].isTagged = false } }
        ),
        ("different discontinuity numbers", channelWithAd { $0.discontinuityOffset = 9 }),
        ("the map is two hours ahead", channelWithAd { $0.mapping = .shifted(7_200_000) }),
        (
            "the map is two hours behind, without dates",
            channelWithAd {
                $0.mapping = .shifted(-7_200_000)
                $0.hasDates = false
            }
        ),
        ("no map, times from the start of the segment", channelWithAd { $0.mapping = .absentPerSegment }),
        (
            "every program on the same clock",
            channelWithAd { for index in $0.programs.indices { $0.programs[index].clock = 126_000 } }
        ),
        ("the clock wraps in a cue", channelWithAd { $0.programs[0].clock = Ticks.wrap - 6000 * 90 }),
        ("a clock of more than 33 bits", channelWithAd { $0.programs[2].clock = 5 * Ticks.wrap + 12_345 }),
        (
            "subtitle segments longer than video segments",
            channelWithAd { for index in [0, 2] { $0.programs[index].subtitles = [12_000] } }
        ),
        (
            "subtitle segments shorter than video segments",
            channelWithAd {
                for index in [0, 2] { $0.programs[index].subtitles = [2000, 2000, 2000, 2000, 2000, 2000] }
            }
        ),
    ]

    @Test(arguments: rows.indices) func cuesHaveTimesOfTheirVideo(_ index: Int) {
        let row = Self.rows[index]
        let result = row.channel.result(row.channel.liveOrder)
        #expect(result.times == Self.expectedTimes, "\(row.when)")
        #expect(result.faults.isEmpty, "\(row.when): \(result.faults)")
        #expect(
            result.counts[.cues] == 4 && result.counts[.lateCues] == 0 && result.counts[.unplacedCues] == 0,
            "\(row.when): \(result.counts)")
    }

    @Test(arguments: rows.indices) func outputDoesNotDependOnOrderOfArrival(_ index: Int) {
        let row = Self.rows[index]
        let expected = row.channel.result(row.channel.liveOrder).files
        let orders: [[SubtitleChannel.Step]] = [
            [], Array(repeating: .video, count: 20), row.channel.liveOrder.map { $0 == .video ? .subtitles : .video },
            [.subtitles, .subtitles] + row.channel.liveOrder, [.video, .video, .video] + row.channel.liveOrder,
        ]
        for (number, order) in orders.enumerated() {
            let isSame = row.channel.result(order).files == expected
            #expect(isSame, "\(row.when), order \(number)")
        }
    }

    @Test func segmentsAreEmittedOnceCovered() {
        for row in Self.rows.prefix(2) {
            let result = row.channel.result(row.channel.liveOrder)
            #expect(result.filesBeforeEnd == 6, "\(row.when)")
        }
    }

    @Test(arguments: [true, false]) func subtitlesOfLostVideoTakeNoTime(isDated: Bool) {
        let cues = (0..<4).map { Cue(start: $0 * 2000 + 200, end: $0 * 2000 + 900, text: "\($0)") }
        let seconds: [Int64] = [2000, 2000, 2000, 2000]
        var channel = SubtitleChannel(programs: [
            Program(clock: Self.day, video: seconds, subtitles: seconds, cues: cues)
        ])
        (channel.lostVideo, channel.hasDates) = ([102], isDated)
        // The subtitles of the lost segment come before the video after it, and those of that after it.
        let result = channel.result([.video, .subtitles, .video, .subtitles, .subtitles, .video, .subtitles])
        #expect(result.times == ["0": [[400, 1100]], "1": [[2400, 3100]], "3": [[4400, 5100]]])
        #expect(result.cues[103]?.map(\.payload) == ["3"] && result.counts[.lateCues] == 0)
    }

    @Test func cueOfRepeatedClockWaitsForItsVideo() {
        let cues = (0..<2).map { Cue(start: $0 * 2000 + 200, end: $0 * 2000 + 900, text: "a\($0)") }
        let again = (0..<2).map { Cue(start: $0 * 2000 + 200, end: $0 * 2000 + 900, text: "b\($0)") }
        let channel = SubtitleChannel(
            programs: [cues, again].map {
                Program(clock: Self.day, video: [2000, 2000], subtitles: [2000, 2000], cues: $0, isTagged: false)
            })
        // Each subtitle segment comes before its video, whose clock was published before.
        let order = Array(repeating: [SubtitleChannel.Step.subtitles, .video], count: 4).flatMap(\.self)
        let result = channel.result(order)
        #expect(
            result.times == [
                "a0": [[400, 1100]], "a1": [[2400, 3100]], "b0": [[4400, 5100]], "b1": [[6400, 7100]],
            ])
        #expect(result.filesBeforeEnd == 4)
    }

    @Test func cueEndsBeforeAd() {
        let channel = Self.channelWithAd { $0.programs[0].cues.append(Cue(start: 11_000, end: 14_000, text: "e")) }
        let result = channel.result(channel.liveOrder)
        #expect(result.times["e"] == [[11_200, 12_200]], "the cue ends with its period")
        #expect(result.cues[102] == [], "the ad has no cues")
    }

    @Test func cueThatBeganDuringAdStartsWithProgram() {
        let channel = Self.channelWithAd { $0.programs[2].cues.append(Cue(start: -2000, end: 800, text: "e")) }
        let result = channel.result(channel.liveOrder)
        #expect(result.times["e"] == [[18_200, 19_000]])
    }

    @Test func cueContinuesOverSpliceOnSameClock() {
        // Two periods on one clock with different configurations.
        let cues = [Cue(start: 5000, end: 8000, text: "a")]
        let channel = SubtitleChannel(programs: [
            Program(clock: Self.day, video: [6000], subtitles: [6000], cues: cues),
            Program(
                clock: Self.day + 6000 * 90, video: [6000], subtitles: [6000],
                cues: cues.map { Cue(start: $0.start - 6000, end: $0.end - 6000, text: $0.text) }, isTagged: false),
        ])
        let result = channel.result(channel.liveOrder)
        #expect(result.times["a"] == [[5200, 8200]] && result.counts[.cues] == 1)
        let counts = result.cues.values.map(\.count)
        #expect(counts == [1, 1])
    }

    @Test func lateRenditionIsNotAwaited() {
        var channel = Self.channelWithAd()
        channel.lateness = .seconds(10)
        // All video segments arrive first.
        let result = channel.result(Array(repeating: .video, count: 6))
        #expect(result.files.map(\.mediaSequence) == Array(100...105), "each segment has a file")
        #expect(result.counts[.lateCues] == 2, "the cues of the first two segments are late, \(result.counts)")
        #expect(result.times["d"] == [[27_200, 30_100]], "later cues are published")
    }

    @Test func missingRenditionGetsEmptyFiles() {
        var channel = Self.channelWithAd { for index in $0.programs.indices { $0.programs[index].subtitles = [] } }
        channel.lateness = .seconds(10)
        let result = channel.result([])
        #expect(result.files.count == 6 && result.filesBeforeEnd == 4)
        let isEmpty = result.cues.values.joined().isEmpty
        #expect(isEmpty)
    }

    @Test func otherFormatIsCounted() {
        var timeline = SubtitleTimeline(sources: [nil], lateness: nil)
        let input = SubtitleInput(mediaSequence: 1, duration: .seconds(6), bytes: Array("<html>".utf8))
        #expect(timeline.append(input, rendition: 0) == [] && timeline.append(input, rendition: 5) == [])
        #expect(timeline.counts(of: 0)[.malformedSegments] == 1 && timeline.counts(of: 0)[.segments] == 1)
    }

    /// Generated channels: each cue is published once, with the times of its video, in any order of arrival.
    @Test(arguments: UInt64(1)...60) func everyCueIsPublishedOnceWithItsVideo(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let channel = SubtitleChannel(seed: &random)
        var expected: [String: Set<[Int64]>] = [:]
        for (index, program) in channel.programs.enumerated() {
            for cue in program.cues {
                let base = channel.output(index) / 90
                expected[cue.text] = [[base + cue.start, base + cue.end]]
            }
        }
        let result = channel.result(channel.liveOrder)
        #expect(result.times == expected)
        #expect(
            result.counts[.cues] == expected.count && result.counts[.lateCues] == 0 && result.counts[.unplacedCues] == 0
        )
        #expect(expected.isEmpty || result.faults.isEmpty, "\(result.faults)")
        let shuffled = (0..<80).map { _ in Bool.random(using: &random) ? SubtitleChannel.Step.video : .subtitles }
        let isSame = channel.result(shuffled).files == result.files
        #expect(isSame)
    }
}

extension SubtitleChannel {
    /// Generates programs of whole seconds with cues inside them. Some channels have no dates, some have wrong maps.
    fileprivate init(seed random: inout SeededGenerator) {
        var programs: [SourceProgram] = []
        for index in 0..<Int.random(in: 1...6, using: &random) {
            let lengths = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Int64.random(in: 2...8, using: &random) * 1000
            }
            let length = lengths.reduce(0, +)
            let clock = index % 2 == 1 ? 126_000 : Int64.random(in: 0..<Ticks.wrap, using: &random)
            var program = SourceProgram(clock: clock, video: lengths, subtitles: lengths)
            if Bool.random(using: &random) { program.subtitles = [length] }
            var time = Int64.random(in: 0...900, using: &random)
            while index % 2 == 0, time + 1600 < length {
                let end = time + Int64.random(in: 300...1500, using: &random)
                program.cues.append(Cue(start: time, end: end, text: "\(index) \(time)"))
                time = end + Int64.random(in: 0...900, using: &random)
            }
            programs.append(program)
        }
        self.init(programs: programs)
        hasDates = Bool.random(using: &random)
        if hasDates {
            mapping =
                [.correct, .shifted(3_600_000), .shifted(-19_800_000), .absentPerSegment].randomElement(using: &random)
                ?? .correct
            numberOffset = UInt64.random(in: 0...5, using: &random)
        }
    }
}
