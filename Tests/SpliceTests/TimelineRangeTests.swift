import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice

/// Times of any position of a timeline, in every unit.
@Suite struct TimelineRangeTests {
    /// Positions around which something overflowed or wraps, in ticks.
    static let edges: [Int64] = [
        0, 1 << 32, 1 << 33, 653_583_619_391, 653_583_619_392, 1 << 44, Ticks.timeline.upperBound,
    ]

    @Test(arguments: edges) func audioTimeIsExact(_ edge: Int64) {
        for ticks in max(-10, edge - 10)...edge + 10 {
            let expected = (Int128(ticks) * 784 * 2 + 5) / 10
            if ticks >= 0 { #expect(Int128(PeriodTimeline.audioTime(Ticks(ticks))) == expected) }
            #expect(PeriodTimeline.ticks(ofAudioTime: PeriodTimeline.audioTime(Ticks(ticks))) == Ticks(ticks))
        }
    }

    @Test func conversionsAreInverse() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let ticks = Ticks(.random(in: Ticks.timeline, using: &random))
            let audio = PeriodTimeline.audioTime(ticks)
            #expect(PeriodTimeline.ticks(ofAudioTime: audio) == ticks)
            let scale: Int64 = .random(in: 1...100_000_000, using: &random)
            let units = ticks.count.rescaled(scale, over: Ticks.perSecond)
            let error = units.rescaled(Ticks.perSecond, over: scale) - ticks.count
            #expect(abs(error) <= max(1, Ticks.perSecond / scale))
            let up = ticks.count.rescaledUp(scale, over: Ticks.perSecond)
            #expect(Int128(up) * Int128(Ticks.perSecond) >= Int128(ticks.count) * Int128(scale))
            #expect(Int128(up - 1) * Int128(Ticks.perSecond) < Int128(ticks.count) * Int128(scale))
        }
    }

    static let roundings: [(value: Int64, nearest: Int64, up: Int64)] = [
        (0, 0, 0), (1, 0, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (6, 2, 2), (-1, 0, 0), (-2, 0, 0), (-3, -1, 0),
        (-4, -1, -1), (-6, -1, -1),
    ]

    @Test(arguments: roundings) func quarters(value: Int64, nearest: Int64, up: Int64) {
        #expect(value.rescaled(1, over: 4) == nearest && value.rescaledUp(1, over: 4) == up)
    }

    /// The clocks of a resume point: those of a damaged file may disagree.
    static let positions: [(when: String, video: Int64?, audio: Int64?, end: Int64, reconciled: (Int64?, Int64?))] = [
        ("a new channel", nil, nil, 18_000, (nil, nil)),
        ("a regular one", 540_000, 84_672_000, 558_000, (540_000, 84_672_000)),
        ("an hour between the clocks", 0, nil, 324_018_000, (0, nil)),
        ("a little more", 0, nil, 324_018_001, (324_000_001, nil)),
        ("video far ahead", 1 << 52, nil, 18_000, (0, nil)),
        ("video far ahead of a presentation without a delay", 1 << 52, nil, 0, (0, nil)),
        ("audio far behind, after a period without it", 1 << 40, 0, 1 << 40, (1 << 40, 0)),
        ("audio far ahead", 0, 1 << 60, 18_000, (0, 2_822_400)),
        ("the end of the timeline", 0, 1 << 60, 1 << 52, ((1 << 52) - 18_000, (1 << 52) * 784 / 5)),
    ]

    @Test(arguments: positions)
    func reconciledPosition(when: String, video: Int64?, audio: Int64?, end: Int64, reconciled: (Int64?, Int64?)) {
        let position = TimelinePosition(
            videoDecodeTime: video, audioDecodeTime: audio, presentationEnd: Ticks(end), fragmentSequence: 7)
        #expect(position.reconciled.videoDecodeTime == reconciled.0, "\(when)")
        #expect(position.reconciled.audioDecodeTime.map { $0 / 5 } == reconciled.1.map { $0 / 5 }, "\(when)")
        #expect(position.reconciled.presentationEnd == Ticks(end) && position.reconciled.fragmentSequence == 7)
    }

    @Test(arguments: [
        "-1", "8589934592", "9223372036854775807", "-9223372036854775808", "1/-2/3/4", "1/8589934592/3/4",
    ])
    func publishedFramesHaveTimesOf33Bits(_ text: String) { #expect(PublishedFrames(text: text) == nil) }

    @Test func publishedFramesAreRestored() {
        for text in ["0", "8589934591", "1/8589934591/3/4"] { #expect(PublishedFrames(text: text)?.text == text) }
    }

    @Test(arguments: ["-1", "4503599627370497", "9223372036854775807"])
    func changesOfAudioCanBeCounted(_ count: String) {
        func text(_ count: String) -> String { "h264;aac;\(count);init-a.mp4;aac/48000/2/1024/1190" }
        #expect(TransportStreamState(text: text(count), discontinuities: 0) == nil)
        let most = TransportStreamState(text: text("4503599627370496"), discontinuities: .max - 1)
        let other = AudioConfiguration(text: "aac/44100/2/1024/1210")
        #expect(most?.followed(by: other, initialization: "init-b.mp4").audioChanges == (1 << 52) + 1)
    }
}
