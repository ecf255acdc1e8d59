import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// An event on the audio side, in order of arrival.
private enum Arrival {
    case frames([AudioPacket], discontinuity: UInt64 = 0)
    case discontinuity(AudioVideoMatcher.Discontinuity)
    case ended
}

private func videoSpan(
    _ start: Int64, _ end: Int64, discontinuity: UInt64 = 0, beginsPeriod: Bool = false
) -> AudioVideoMatcher.VideoSpan {
    AudioVideoMatcher.VideoSpan(
        start: Ticks(start), end: Ticks(end), discontinuitySequence: discontinuity, beginsPeriod: beginsPeriod)
}

/// Video spans in order, the rule that matches each, and the times (on the video's clock) of its first and last audio
/// frame.
private let rows:
    [(
        when: String, arrivals: [Arrival], spans: [AudioVideoMatcher.VideoSpan],
        rules: [AudioMatchRule?], audio: [ClosedRange<Int64>?]
    )] =
        [
            (
                "one clock", [.frames(SyntheticPackets.audioPackets(94, from: 900_000))],
                [videoSpan(900_000, 990_000, beginsPeriod: true), videoSpan(990_000, 1_080_000)],
                [.signaledOverlapping, .continuedSpan], [900_000...988_320, 990_240...1_078_560]
            ),
            (
                "a companion that began earlier", [.frames(SyntheticPackets.audioPackets(94, from: 810_000))],
                [videoSpan(900_000, 990_000, beginsPeriod: true)], [.signaledOverlapping], [810_000...988_560]
            ),
            (
                "two lost seconds inside a period are a gap on the same clock",
                [
                    .frames(SyntheticPackets.audioPackets(46, from: 900_000)), .discontinuity(.framesLost),
                    .frames(SyntheticPackets.audioPackets(94, from: 1_170_000)),
                ],
                [
                    videoSpan(900_000, 990_000, beginsPeriod: true), videoSpan(990_000, 1_080_000),
                    videoSpan(1_080_000, 1_170_000),
                    videoSpan(1_170_000, 1_260_000),
                ], [.signaledOverlapping, nil, .nextOverlapping, .nextOverlapping],
                [900_000...986_400, nil, nil, 1_170_000...1_258_320]
            ),
            (
                "an ad whose audio counts from another base",
                [
                    .frames(SyntheticPackets.audioPackets(46, from: 900_000)), .discontinuity(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 8_000_000_000), discontinuity: 1),
                ],
                [
                    videoSpan(900_000, 990_000, beginsPeriod: true),
                    videoSpan(126_000, 216_000, discontinuity: 1, beginsPeriod: true),
                    videoSpan(216_000, 306_000, discontinuity: 1),
                ], [.signaledOverlapping, .signaledOwnClock, .continuedSpan],
                [900_000...986_400, 125_040...215_280, 217_200...303_600]
            ),
            (
                "audio on its own clock restarts while the video's clock continues by chance",
                [
                    .frames(SyntheticPackets.audioPackets(60, from: 7_000_000_000)), .discontinuity(.signaled),
                    .frames(
                        SyntheticPackets.audioPackets(
                            94, from: 7_000_000_000, configuration: SyntheticPackets.audioConfiguration(channels: 1)),
                        discontinuity: 1),
                ],
                [
                    videoSpan(900_000, 1_015_200, beginsPeriod: true),
                    videoSpan(990_000, 1_080_000, discontinuity: 1, beginsPeriod: true),
                ], [.sequenceOwnClock, .signaledOwnClock], [899_040...1_012_320, 989_040...1_079_280]
            ),
            (
                "a period begins after a gap, and an ad already queued counts from the same second",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000)), .discontinuity(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000), discontinuity: 1),
                ],
                [
                    videoSpan(126_000, 171_000, beginsPeriod: true), videoSpan(243_000, 288_000, beginsPeriod: true),
                    videoSpan(126_000, 216_000, discontinuity: 1, beginsPeriod: true),
                ], [.signaledOverlapping, .rematchedSpan, .signaledOverlapping],
                [126_000...170_160, 172_080...287_280, 126_000...214_320]
            ),
            (
                "audio on its own clock after a tag, where the video's clock continues by chance",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 900_000)), .discontinuity(.signaled),
                    .frames(SyntheticPackets.audioPackets(94, from: 7_000_000_000), discontinuity: 1),
                ],
                [
                    videoSpan(900_000, 990_000, beginsPeriod: true),
                    videoSpan(960_000, 1_050_000, discontinuity: 1, beginsPeriod: true),
                ],
                [.signaledOverlapping, .signaledOwnClock], [900_000...988_320, 959_040...1_049_280]
            ),
            (
                "ads that all count from the same second",
                [
                    .frames(SyntheticPackets.audioPackets(94, from: 126_000), discontinuity: 1),
                    .discontinuity(.signaled),
                    .frames(
                        SyntheticPackets.audioPackets(
                            94, from: 126_000, configuration: SyntheticPackets.audioConfiguration(channels: 1)),
                        discontinuity: 2),
                ],
                [
                    videoSpan(126_000, 216_000, discontinuity: 1, beginsPeriod: true),
                    videoSpan(126_000, 216_000, discontinuity: 2, beginsPeriod: true),
                ], [.signaledOverlapping, .signaledOverlapping], [126_000...214_320, 126_000...214_320]
            ),
            (
                "the timestamps wrap", [.frames(SyntheticPackets.audioPackets(94, from: (1 << 33) - 90_000))],
                [videoSpan((1 << 33) - 90_000, 1 << 33, beginsPeriod: true), videoSpan(1 << 33, (1 << 33) + 90_000)],
                [.signaledOverlapping, .continuedSpan],
                [((1 << 33) - 90_000)...((1 << 33) - 1680), ((1 << 33) + 240)...((1 << 33) + 88_560)]
            ),
            (
                "an ad inside a segment, whose audio does not match the video before it",
                [
                    .frames(SyntheticPackets.audioPackets(47, from: 900_000)),
                    .frames(SyntheticPackets.audioPackets(47, from: 126_000)),
                    .frames(SyntheticPackets.audioPackets(47, from: 990_240)),
                ],
                [
                    videoSpan(900_000, 990_000, beginsPeriod: true), videoSpan(126_000, 216_000, beginsPeriod: true),
                    videoSpan(990_000, 1_080_000, beginsPeriod: true),
                ], [.signaledOverlapping, .sequenceOverlapping, .sequenceOverlapping],
                [900_000...988_320, 126_000...214_320, 990_240...1_078_560]
            ),
            (
                "audio continues where a period begins on the same clock",
                [.frames(SyntheticPackets.audioPackets(94, from: 900_000))],
                [videoSpan(900_000, 990_000, beginsPeriod: true), videoSpan(990_000, 1_080_000, beginsPeriod: true)],
                [.signaledOverlapping, .unbrokenSpan], [900_000...988_320, 990_240...1_078_560]
            ),
            (
                "audio after a loss, with the sequence number of the period before",
                [
                    .frames(SyntheticPackets.audioPackets(47, from: 900_000), discontinuity: 1),
                    .discontinuity(.framesLost),
                    .frames(SyntheticPackets.audioPackets(47, from: 1_170_000), discontinuity: 1),
                ],
                [
                    videoSpan(900_000, 990_000, discontinuity: 1, beginsPeriod: true),
                    videoSpan(1_170_000, 1_260_000, discontinuity: 2, beginsPeriod: true),
                ], [.signaledOverlapping, .newOverlapping], [900_000...988_320, 1_170_000...1_258_320]
            ),
            ("no audio at all", [.ended], [videoSpan(0, 90_000, beginsPeriod: true)], [nil], [nil]),
        ]

@Test(arguments: rows.indices)
func videoSpanGetsItsAudio(_ index: Int) {
    let row = rows[index]
    var matcher = AudioVideoMatcher(isMuxed: false)
    for arrival in row.arrivals {
        switch arrival {
        case .frames(let frames, let discontinuity): matcher.append(frames, discontinuitySequence: discontinuity)
        case .discontinuity(let cause): matcher.beginSpan(after: cause)
        case .ended: matcher.end()
        }
    }
    for (index, (span, audio)) in zip(row.spans, row.audio).enumerated() {
        #expect(matcher.match(span)?.rule == row.rules[index], "\(row.when): \(span)")
        let times = matcher.dequeueAudio(for: span).map(\.pts.count)
        matcher.finish(span)
        #expect(times.first == audio?.lowerBound && times.last == audio?.upperBound, "\(row.when): \(span)")
    }
}

@Test func everyMatchRuleHasARow() {
    #expect(Set(rows.flatMap(\.rules).compactMap(\.self)) == Set(AudioMatchRule.allCases))
}

@Test func companionIsAwaitedUntilItCoversTheVideo() {
    var matcher = AudioVideoMatcher(isMuxed: false)
    let span = videoSpan(900_000, 990_000, beginsPeriod: true)
    #expect(!matcher.canMatch(span), "no audio was received")
    matcher.append(SyntheticPackets.audioPackets(20, from: 900_000), discontinuitySequence: 0)
    #expect(!matcher.canMatch(span), "part of the audio was received")
    matcher.append(SyntheticPackets.audioPackets(27, from: 900_000 + 20 * 1920), discontinuitySequence: 0)
    #expect(matcher.canMatch(span))
    let next = videoSpan(990_000, 1_080_000)
    _ = matcher.dequeueAudio(for: span)
    #expect(!matcher.canMatch(next))
    matcher.end()
    #expect(matcher.canMatch(next), "no audio follows")
}

@Test func lateAudioIsReturnedBeforeTheNextPeriod() {
    var matcher = AudioVideoMatcher(isMuxed: true)
    let span = videoSpan(900_000, 990_000, beginsPeriod: true)
    matcher.append(SyntheticPackets.audioPackets(44, from: 900_000), discontinuitySequence: 0)
    #expect(matcher.dequeueAudio(for: span).count == 44)
    matcher.finish(span)
    matcher.append(SyntheticPackets.audioPackets(5, from: 900_000 + 44 * 1920), discontinuitySequence: 0)
    #expect(
        matcher.dequeueLateAudio(before: videoSpan(990_000, 1_080_000, beginsPeriod: true)).isEmpty,
        "the audio continues")
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(47, from: 126_000), discontinuitySequence: 1)
    let next = videoSpan(126_000, 216_000, discontinuity: 1, beginsPeriod: true)
    #expect(
        matcher.dequeueLateAudio(before: next).map(\.pts.count) == [984_480, 986_400, 988_320],
        "up to the end of the video"
    )
    #expect(matcher.dequeueLateAudio(before: next).isEmpty, "only once")
    #expect(matcher.dequeueAudio(for: next).count == 47 && matcher.counts[.unmatchedAudioFrames] == 2)
}

@Test func untimedAndDamagedAudioIsCounted() {
    var matcher = AudioVideoMatcher(isMuxed: true)
    let intact = SyntheticPackets.audioPackets(4, from: 900_000)
    let frames = intact.enumerated().map { index, frame in
        AudioPacket(
            pid: frame.pid, configuration: frame.configuration, pts: index == 0 ? nil : frame.pts,
            isDamaged: index == 2, payload: frame.payload)
    }
    matcher.append(frames, discontinuitySequence: 0)
    #expect(matcher.counts[.untimedAudioFrames] == 1 && matcher.counts[.damagedAudioFrames] == 1)
    #expect(matcher.dequeueAudio(for: videoSpan(900_000, 990_000, beginsPeriod: true)).count == 2)
}

/// A rendition that could not be had before, and comes with the audio of a period that is over.
@Test func lateAudioIsNotThatOfTheNextPeriod() {
    var matcher = AudioVideoMatcher(isMuxed: false)
    let (program, ad) = (
        videoSpan(90_000_000, 90_090_000, beginsPeriod: true),
        videoSpan(180_000, 270_000, discontinuity: 1, beginsPeriod: true)
    )
    matcher.finish(program)
    matcher.finish(videoSpan(90_090_000, 90_360_000))
    matcher.append(SyntheticPackets.audioPackets(47, from: 90_000_000), discontinuitySequence: 5)
    #expect(!matcher.canMatch(ad) && matcher.configuration(for: ad) == nil, "it waits for its own audio")
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(47, from: 180_000), discontinuitySequence: 6)
    #expect(matcher.canMatch(ad))
    #expect(matcher.dequeueAudio(for: ad).first?.pts == Ticks(180_000))
    #expect(matcher.counts[.unmatchedAudioFrames] == 47)
}

/// The first segment of a period was cut, and its audio is missing.
@Test func audioOnTheClockOfItsOwnSegmentIsNotThatOfAnEarlierOne() {
    let cut = videoSpan(900_000, 964_800, beginsPeriod: true)
    for (videoStart, count) in [(Ticks(1_080_000), 0), (nil, 35)] {
        var matcher = AudioVideoMatcher(isMuxed: true)
        matcher.append(
            SyntheticPackets.audioPackets(94, from: 1_080_000), after: .tagged, discontinuitySequence: 0,
            videoStart: videoStart)
        #expect(matcher.dequeueAudio(for: cut).count == count)
        matcher.finish(cut)
        let next = videoSpan(1_080_000, 1_260_000, beginsPeriod: true)
        if videoStart != nil { #expect(matcher.dequeueAudio(for: next).first?.pts == Ticks(1_080_000)) }
    }
}

/// The same, and the cut ends shortly before the audio begins. Another showing follows.
@Test func audioThatBeginsAfterItsVideoIsNewToTheNext() {
    var matcher = AudioVideoMatcher(isMuxed: true)
    let cut = videoSpan(900_000, 997_500, beginsPeriod: true)
    matcher.append(
        SyntheticPackets.audioPackets(94, from: 1_080_000), after: .tagged, discontinuitySequence: 0)
    #expect(matcher.dequeueAudio(for: cut).isEmpty)
    matcher.finish(cut)
    let next = videoSpan(1_080_000, 1_260_000, beginsPeriod: true)
    #expect(!matcher.hasNoAudio(for: next), "it is not left over from the period before")
    matcher.append(SyntheticPackets.audioPackets(94, from: 900_000), after: .tagged, discontinuitySequence: 1)
    #expect(matcher.dequeueAudio(for: next).first?.pts == Ticks(1_080_000))
}

/// Segments of an ad's video are lost, and another ad on the same clock follows. Their audio is not lost.
@Test func audioOfLostVideoIsNotThatOfTheNextAd() {
    var matcher = AudioVideoMatcher(isMuxed: false, longestSegment: .seconds(2))
    let program = videoSpan(90_000_000, 90_180_000, beginsPeriod: true)
    matcher.append(SyntheticPackets.audioPackets(94, from: 90_000_000), discontinuitySequence: 0)
    #expect(matcher.dequeueAudio(for: program).count == 94)
    matcher.finish(program)
    var ad = videoSpan(900_000, 1_080_000, discontinuity: 2, beginsPeriod: true)
    (ad.followsLoss, ad.missingBefore) = (true, 2)
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(94, from: 900_000), discontinuitySequence: 1)
    #expect(!matcher.canMatch(ad), "its own audio may follow")
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(94, from: 900_480), discontinuitySequence: 2)
    #expect(matcher.canMatch(ad))
    #expect(matcher.dequeueAudio(for: ad).first?.pts == Ticks(900_480))
}

/// A rendition that is joined before its video begins with audio of another clock.
@Test func audioOfEarlierVideoIsReadPast() {
    var matcher = AudioVideoMatcher(isMuxed: false, longestSegment: .seconds(2))
    var ad = videoSpan(900_000, 1_080_000, beginsPeriod: true)
    ad.followsLoss = true
    matcher.append(SyntheticPackets.audioPackets(94, from: 7_000_000_000), discontinuitySequence: 0)
    #expect(!matcher.canMatch(ad) && matcher.match(ad) == nil, "its own audio may follow")
    matcher.append(SyntheticPackets.audioPackets(94, from: 900_000), discontinuitySequence: 0)
    #expect(matcher.canMatch(ad))
    #expect(matcher.dequeueAudio(for: ad).first?.pts == Ticks(900_000))
    #expect(matcher.counts[.unmatchedAudioFrames] == 94)
}

@Test func audioOnItsOwnClockIsMatchedOnceNoOtherCame() {
    var matcher = AudioVideoMatcher(isMuxed: false, longestSegment: .seconds(2))
    var program = videoSpan(900_000, 1_080_000, beginsPeriod: true)
    program.followsLoss = true
    matcher.append(SyntheticPackets.audioPackets(188, from: 7_000_000_000), discontinuitySequence: 0)
    #expect(!matcher.canMatch(program), "two segments")
    matcher.append(SyntheticPackets.audioPackets(94, from: 7_000_360_960), discontinuitySequence: 0)
    #expect(matcher.canMatch(program) && matcher.match(program)?.rule == .sequenceOwnClock)
}

/// Segments of video are lost in an outage, and those of its audio are not.
@Test func audioOfLostVideoIsNotOnAClockOfItsOwn() {
    var matcher = AudioVideoMatcher(isMuxed: false, longestSegment: .seconds(2))
    let program = videoSpan(900_000, 1_080_000, beginsPeriod: true)
    matcher.append(SyntheticPackets.audioPackets(94, from: 900_000), discontinuitySequence: 0)
    #expect(matcher.dequeueAudio(for: program).count == 94)
    matcher.finish(program)
    var later = videoSpan(2_520_000, 2_700_000, discontinuity: 1, beginsPeriod: true)
    (later.followsLoss, later.missingBefore) = (true, 8)
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(470, from: 1_080_480), discontinuitySequence: 1)
    #expect(!matcher.canMatch(later), "10 s on the same clock")
    matcher.append(SyntheticPackets.audioPackets(470, from: 1_982_880), discontinuitySequence: 1)
    #expect(matcher.canMatch(later))
    let times = matcher.dequeueAudio(for: later).map(\.pts)
    #expect(times.first == Ticks(1_080_480) && times.last.map { $0 < Ticks(2_700_000) } == true, "on its own time")
}

/// A tag comes late in the video's playlist, after that of the audio was read.
@Test func lateTagDoesNotMoveTheNumbers() {
    var matcher = AudioVideoMatcher(isMuxed: false, longestSegment: .seconds(2))
    let spans = [
        videoSpan(90_000_000, 90_180_000, beginsPeriod: true),
        videoSpan(1_000_000_000, 1_000_180_000, discontinuity: 1, beginsPeriod: true),
        videoSpan(2_000_000_000, 2_000_180_000, discontinuity: 2, beginsPeriod: true),
    ]
    matcher.append(SyntheticPackets.audioPackets(94, from: 90_000_000), discontinuitySequence: 0)
    matcher.append(SyntheticPackets.audioPackets(94, from: 1_000_000_000), discontinuitySequence: 0)
    matcher.beginSpan(after: .signaled)
    matcher.append(SyntheticPackets.audioPackets(94, from: 2_000_000_000), discontinuitySequence: 2)
    for span in spans {
        #expect(matcher.dequeueAudio(for: span).first?.pts == span.start)
        matcher.finish(span)
    }
}
