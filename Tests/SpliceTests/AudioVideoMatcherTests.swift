import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// What arrives of the sound, in order.
private enum Arrival {
    case frames([AudioPacket], discontinuity: UInt64 = 0)
    case broken(AudioVideoMatcher.Discontinuity)
    case ended
}

private func window(
    _ start: Int64, _ end: Int64, discontinuity: UInt64 = 0, beginsRun: Bool = false
) -> AudioVideoMatcher.VideoSpan {
    AudioVideoMatcher.VideoSpan(
        start: Ticks(start), end: Ticks(end), discontinuitySequence: discontinuity, beginsRun: beginsRun)
}

/// Windows asked for one after the other, and the times (on the picture's clock) of the first and last frame each gets.
private let rows:
    [(when: String, arrivals: [Arrival], asked: [AudioVideoMatcher.VideoSpan], given: [ClosedRange<Int64>?])] =
        [
            (
                "one clock", [.frames(SyntheticPackets.audioPackets(94, from: 900_000))],
                [window(900_000, 990_000, beginsRun: true), window(990_000, 1_080_000)],
                [900_000...988_320, 990_240...1_078_560]
            ),
            (
                "a companion that began earlier", [.frames(SyntheticPackets.audioPackets(94, from: 810_000))],
                [window(900_000, 990_000, beginsRun: true)], [810_000...988_560]
            ),
            (
                "two seconds lost in the middle are a hole, not another clock",
                [
                    .frames(SyntheticPackets.audioPackets(46, from: 900_000)), .broken(.framesLost),
                    .frames(SyntheticPackets.audioPackets(94, from: 1_170_000)),
                ],
                [
                    window(900_000, 990_000, beginsRun: true), window(990_000, 1_080_000), window(1_080_000, 1_170_000),
                    window(1_170_000, 1_260_000),
                ], [900_000...986_400, nil, nil, 1_170_000...1_258_320]
            ),
            (
                "an advertisement whose sound counts from elsewhere",
                [
                    .frames(SyntheticPackets.audioPackets(46, from: 900_000)), .broken(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 8_000_000_000), discontinuity: 1),
                ],
                [
                    window(900_000, 990_000, beginsRun: true),
                    window(126_000, 216_000, discontinuity: 1, beginsRun: true),
                    window(216_000, 306_000, discontinuity: 1),
                ], [900_000...986_400, 125_040...215_280, 217_200...303_600]
            ),
            (
                "sound on a clock of its own restarts while the picture's clock happens to go on",
                [
                    .frames(SyntheticPackets.audioPackets(60, from: 7_000_000_000)), .broken(.signaled),
                    .frames(
                        SyntheticPackets.audioPackets(
                            94, from: 7_000_000_000, configuration: SyntheticPackets.audioConfiguration(channels: 1)),
                        discontinuity: 1),
                ],
                [
                    window(900_000, 1_015_200, beginsRun: true),
                    window(990_000, 1_080_000, discontinuity: 1, beginsRun: true),
                ], [899_040...1_012_320, 989_040...1_079_280]
            ),
            (
                "a run begins behind a hole, and an advertisement that was read already counts from the same second",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000)), .broken(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000), discontinuity: 1),
                ],
                [
                    window(126_000, 171_000, beginsRun: true), window(243_000, 288_000, beginsRun: true),
                    window(126_000, 216_000, discontinuity: 1, beginsRun: true),
                ], [126_000...170_160, 172_080...287_280, 126_000...214_320]
            ),
            (
                "sound on a clock of its own behind a tag, where the picture's clock happens to go on",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 900_000)), .broken(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 7_000_000_000), discontinuity: 1),
                ],
                [
                    window(900_000, 990_000, beginsRun: true),
                    window(960_000, 1_050_000, discontinuity: 1, beginsRun: true),
                ],
                [900_000...988_320, 959_040...1_049_280]
            ),
            (
                "ads that all count from the same second",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000), discontinuity: 1), .broken(.signaled),
                    .frames(
                        SyntheticPackets.audioPackets(
                            94, from: 126_000, configuration: SyntheticPackets.audioConfiguration(channels: 1)),
                        discontinuity: 2),
                ],
                [
                    window(126_000, 216_000, discontinuity: 1, beginsRun: true),
                    window(126_000, 216_000, discontinuity: 2, beginsRun: true),
                ], [126_000...214_320, 126_000...214_320]
            ),
            (
                "the wrap", [.frames(SyntheticPackets.audioPackets(94, from: (1 << 33) - 90_000))],
                [window((1 << 33) - 90_000, 1 << 33, beginsRun: true), window(1 << 33, (1 << 33) + 90_000)],
                [((1 << 33) - 90_000)...((1 << 33) - 1680), ((1 << 33) + 240)...((1 << 33) + 88_560)]
            ),
            (
                "a clip inside a segment, whose sound is not laid under the picture before it",
                [
                    .frames(SyntheticPackets.audioPackets(47, from: 900_000)),
                    .frames(SyntheticPackets.audioPackets(47, from: 126_000)),
                    .frames(SyntheticPackets.audioPackets(47, from: 990_240)),
                ],
                [
                    window(900_000, 990_000, beginsRun: true), window(126_000, 216_000, beginsRun: true),
                    window(990_000, 1_080_000, beginsRun: true),
                ], [900_000...988_320, 126_000...214_320, 990_240...1_078_560]
            ),
            ("no sound at all", [.ended], [window(0, 90_000, beginsRun: true)], [nil]),
        ]

@Test(arguments: rows.indices)
func audioIsMatchedToItsVideo(_ index: Int) {
    let row = rows[index]
    var merger = AudioVideoMatcher(isMuxed: false)
    for arrival in row.arrivals {
        switch arrival {
        case .frames(let frames, let discontinuity): merger.append(frames, discontinuitySequence: discontinuity)
        case .broken(let cause): merger.beginSpan(after: cause)
        case .ended: merger.end()
        }
    }
    for (asked, given) in zip(row.asked, row.given) {
        let taken = merger.dequeueAudio(for: asked).map(\.pts.count)
        merger.finish(asked)
        #expect(taken.first == given?.lowerBound && taken.last == given?.upperBound, "\(row.when): \(asked)")
    }
}

@Test func aCompanionIsWaitedForUntilItCoversTheVideo() {
    var merger = AudioVideoMatcher(isMuxed: false)
    let asked = window(900_000, 990_000, beginsRun: true)
    #expect(!merger.canMatch(asked), "nothing has come")
    merger.append(SyntheticPackets.audioPackets(20, from: 900_000), discontinuitySequence: 0)
    #expect(!merger.canMatch(asked), "a part has come")
    merger.append(SyntheticPackets.audioPackets(27, from: 900_000 + 20 * 1920), discontinuitySequence: 0)
    #expect(merger.canMatch(asked))
    let next = window(990_000, 1_080_000)
    _ = merger.dequeueAudio(for: asked)
    #expect(!merger.canMatch(next))
    merger.end()
    #expect(merger.canMatch(next), "nothing more will come")
}

@Test func lateAudioIsEmittedBeforeTheNextPeriod() {
    var merger = AudioVideoMatcher(isMuxed: true)
    let asked = window(900_000, 990_000, beginsRun: true)
    merger.append(SyntheticPackets.audioPackets(44, from: 900_000), discontinuitySequence: 0)
    #expect(merger.dequeueAudio(for: asked).count == 44)
    merger.finish(asked)
    merger.append(SyntheticPackets.audioPackets(5, from: 900_000 + 44 * 1920), discontinuitySequence: 0)
    #expect(merger.dequeueLateAudio(before: window(990_000, 1_080_000, beginsRun: true)).isEmpty, "the sound goes on")
    merger.beginSpan(after: .signaled)
    merger.append(SyntheticPackets.audioPackets(47, from: 126_000), discontinuitySequence: 1)
    let next = window(126_000, 216_000, discontinuity: 1, beginsRun: true)
    #expect(
        merger.dequeueLateAudio(before: next).map(\.pts.count) == [984_480, 986_400, 988_320], "up to the picture's end"
    )
    #expect(merger.dequeueLateAudio(before: next).isEmpty, "once")
    #expect(merger.dequeueAudio(for: next).count == 47 && merger.discarded == 2)
}

@Test func unmatchedAndDamagedAudioIsCounted() {
    var merger = AudioVideoMatcher(isMuxed: true)
    let whole = SyntheticPackets.audioPackets(4, from: 900_000)
    let frames = whole.enumerated().map { place, frame in
        AudioPacket(
            pid: frame.pid, configuration: frame.configuration, pts: place == 0 ? nil : frame.pts,
            isDamaged: place == 2, payload: frame.payload)
    }
    merger.append(frames, discontinuitySequence: 0)
    #expect(merger.untimed == 1 && merger.damaged == 1)
    #expect(merger.dequeueAudio(for: window(900_000, 990_000, beginsRun: true)).count == 2)
}
