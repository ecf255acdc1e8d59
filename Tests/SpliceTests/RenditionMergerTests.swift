import Testing

@testable import Splice

/// What arrives of the sound, in order.
private enum Arrival {
    case frames([AudioPacket], discontinuity: UInt64 = 0)
    case broken(RenditionMerger.Break)
    case ended
}

private func window(
    _ start: Int64, _ end: Int64, discontinuity: UInt64 = 0, beginsRun: Bool = false
) -> RenditionMerger.Window {
    RenditionMerger.Window(
        start: Ticks(start), end: Ticks(end), discontinuitySequence: discontinuity, beginsRun: beginsRun)
}

/// Windows asked for one after the other, and the times (on the picture's clock) of the first and last frame each gets.
private let rows: [(when: String, arrivals: [Arrival], asked: [RenditionMerger.Window], given: [ClosedRange<Int64>?])] =
    [
        (
            "one clock", [.frames(Synthetic.frames(94, from: 900_000))],
            [window(900_000, 990_000, beginsRun: true), window(990_000, 1_080_000)],
            [900_000...988_320, 990_240...1_078_560]
        ),
        (
            "a companion that began earlier", [.frames(Synthetic.frames(94, from: 810_000))],
            [window(900_000, 990_000, beginsRun: true)], [810_000...988_560]
        ),
        (
            "two seconds lost in the middle are a hole, not another clock",
            [
                .frames(Synthetic.frames(46, from: 900_000)), .broken(.loss),
                .frames(Synthetic.frames(94, from: 1_170_000)),
            ],
            [
                window(900_000, 990_000, beginsRun: true), window(990_000, 1_080_000), window(1_080_000, 1_170_000),
                window(1_170_000, 1_260_000),
            ], [900_000...986_400, nil, nil, 1_170_000...1_258_320]
        ),
        (
            "an advertisement whose sound counts from elsewhere",
            [
                .frames(Synthetic.frames(46, from: 900_000)), .broken(.announced),
                .frames(Synthetic.frames(94, from: 8_000_000_000), discontinuity: 1),
            ],
            [
                window(900_000, 990_000, beginsRun: true), window(126_000, 216_000, discontinuity: 1, beginsRun: true),
                window(216_000, 306_000, discontinuity: 1),
            ], [900_000...986_400, 125_040...215_280, 217_200...303_600]
        ),
        (
            "sound on a clock of its own restarts while the picture's clock happens to go on",
            [
                .frames(Synthetic.frames(60, from: 7_000_000_000)), .broken(.announced),
                .frames(
                    Synthetic.frames(94, from: 7_000_000_000, configuration: Synthetic.sound(channels: 1)),
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
                .frames(Synthetic.frames(94, from: 126_000)), .broken(.announced),
                .frames(Synthetic.frames(94, from: 126_000), discontinuity: 1),
            ],
            [
                window(126_000, 171_000, beginsRun: true), window(243_000, 288_000, beginsRun: true),
                window(126_000, 216_000, discontinuity: 1, beginsRun: true),
            ], [126_000...170_160, 172_080...287_280, 126_000...214_320]
        ),
        (
            "sound on a clock of its own behind a tag, where the picture's clock happens to go on",
            [
                .frames(Synthetic.frames(94, from: 900_000)), .broken(.announced),
                .frames(Synthetic.frames(94, from: 7_000_000_000), discontinuity: 1),
            ],
            [window(900_000, 990_000, beginsRun: true), window(960_000, 1_050_000, discontinuity: 1, beginsRun: true)],
            [900_000...988_320, 959_040...1_049_280]
        ),
        (
            "ads that all count from the same second",
            [
                .frames(Synthetic.frames(94, from: 126_000), discontinuity: 1), .broken(.announced),
                .frames(
                    Synthetic.frames(94, from: 126_000, configuration: Synthetic.sound(channels: 1)), discontinuity: 2),
            ],
            [
                window(126_000, 216_000, discontinuity: 1, beginsRun: true),
                window(126_000, 216_000, discontinuity: 2, beginsRun: true),
            ], [126_000...214_320, 126_000...214_320]
        ),
        (
            "the wrap", [.frames(Synthetic.frames(94, from: (1 << 33) - 90_000))],
            [window((1 << 33) - 90_000, 1 << 33, beginsRun: true), window(1 << 33, (1 << 33) + 90_000)],
            [((1 << 33) - 90_000)...((1 << 33) - 1680), ((1 << 33) + 240)...((1 << 33) + 88_560)]
        ),
        (
            "a clip inside a segment, whose sound is not laid under the picture before it",
            [
                .frames(Synthetic.frames(47, from: 900_000)), .frames(Synthetic.frames(47, from: 126_000)),
                .frames(Synthetic.frames(47, from: 990_240)),
            ],
            [
                window(900_000, 990_000, beginsRun: true), window(126_000, 216_000, beginsRun: true),
                window(990_000, 1_080_000, beginsRun: true),
            ], [900_000...988_320, 126_000...214_320, 990_240...1_078_560]
        ),
        ("no sound at all", [.ended], [window(0, 90_000, beginsRun: true)], [nil]),
    ]

@Test(arguments: rows.indices)
func soundIsFoundForItsPicture(_ index: Int) {
    let row = rows[index]
    var merger = RenditionMerger(isMuxed: false)
    for arrival in row.arrivals {
        switch arrival {
        case .frames(let frames, let discontinuity): merger.append(frames, discontinuitySequence: discontinuity)
        case .broken(let cause): merger.breakClock(cause)
        case .ended: merger.end()
        }
    }
    for (asked, given) in zip(row.asked, row.given) {
        let taken = merger.take(asked).map(\.pts.count)
        merger.pass(asked)
        #expect(taken.first == given?.lowerBound && taken.last == given?.upperBound, "\(row.when): \(asked)")
    }
}

@Test func aCompanionIsWaitedForUntilItCoversThePicture() {
    var merger = RenditionMerger(isMuxed: false)
    let asked = window(900_000, 990_000, beginsRun: true)
    #expect(!merger.covers(asked), "nothing has come")
    merger.append(Synthetic.frames(20, from: 900_000), discontinuitySequence: 0)
    #expect(!merger.covers(asked), "a part has come")
    merger.append(Synthetic.frames(27, from: 900_000 + 20 * 1920), discontinuitySequence: 0)
    #expect(merger.covers(asked))
    let next = window(990_000, 1_080_000)
    _ = merger.take(asked)
    #expect(!merger.covers(next))
    merger.end()
    #expect(merger.covers(next), "nothing more will come")
}

@Test func whatCameTooLateForARunIsGivenBeforeTheNext() {
    var merger = RenditionMerger(isMuxed: true)
    let asked = window(900_000, 990_000, beginsRun: true)
    merger.append(Synthetic.frames(44, from: 900_000), discontinuitySequence: 0)
    #expect(merger.take(asked).count == 44)
    merger.pass(asked)
    merger.append(Synthetic.frames(5, from: 900_000 + 44 * 1920), discontinuitySequence: 0)
    #expect(merger.takeLate(before: window(990_000, 1_080_000, beginsRun: true)).isEmpty, "the sound goes on")
    merger.breakClock(.announced)
    merger.append(Synthetic.frames(47, from: 126_000), discontinuitySequence: 1)
    let next = window(126_000, 216_000, discontinuity: 1, beginsRun: true)
    #expect(merger.takeLate(before: next).map(\.pts.count) == [984_480, 986_400, 988_320], "up to the picture's end")
    #expect(merger.takeLate(before: next).isEmpty, "once")
    #expect(merger.take(next).count == 47 && merger.discarded == 2)
}

@Test func whatCannotBePlacedOrPlayedIsCounted() {
    var merger = RenditionMerger(isMuxed: true)
    let whole = Synthetic.frames(4, from: 900_000)
    let frames = whole.enumerated().map { place, frame in
        AudioPacket(
            pid: frame.pid, configuration: frame.configuration, pts: place == 0 ? nil : frame.pts,
            isDamaged: place == 2, payload: frame.payload)
    }
    merger.append(frames, discontinuitySequence: 0)
    #expect(merger.untimed == 1 && merger.damaged == 1)
    #expect(merger.take(window(900_000, 990_000, beginsRun: true)).count == 2)
}
