import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// One second of audio is 14 112 000 ticks; a frame of 1024 samples at 48 kHz is 301 056 of them, at 44.1 kHz 327 680.
private let frame48: Int64 = 301_056

private func timeline(source: Int64, at output: Int64) -> PeriodTimeline {
    let unit = TimedVideo(packet: SyntheticPackets.videoPacket(dts: source), dts: Ticks(source), pts: Ticks(source))
    return PeriodTimeline(first: unit, at: Ticks(output))
}

private func timed(_ packets: [AudioPacket], near reference: Int64) -> [TimedAudio] {
    packets.map { TimedAudio(packet: $0, pts: Ticks(wire: $0.pts ?? .zero, near: Ticks(reference))) }
}

private let gaps: [(when: String, frames: [AudioPacket], durations: Set<UInt32>, samples: Int, silentFrames: Int)] = [
    ("no gap", SyntheticPackets.audioPackets(40, from: 900_000), [301_056], 40, 0),
    (
        "each time off by a tick in either direction",
        SyntheticPackets.audioPackets(40, from: 900_000).enumerated().map { index, packet in
            AudioPacket(
                pid: packet.pid, configuration: packet.configuration,
                pts: packet.pts.map { $0 + Ticks(index % 2 == 0 ? 1 : -1) }, isDamaged: false, payload: packet.payload)
        }, [301_056, 301_213], 40, 0
    ),
    (
        "three frames lost",
        SyntheticPackets.audioPackets(10, from: 900_000) + SyntheticPackets.audioPackets(27, from: 900_000 + 13 * 1920),
        [301_056], 40, 3
    ),
    (
        "a third of a frame more, too little to correct",
        SyntheticPackets.audioPackets(10, from: 900_000)
            + SyntheticPackets.audioPackets(30, from: 900_000 + 10 * 1920 + 640), [301_056], 40, 0
    ),
    (
        "three quarters of a frame more extend a sample",
        SyntheticPackets.audioPackets(10, from: 900_000)
            + SyntheticPackets.audioPackets(30, from: 900_000 + 10 * 1920 + 1440), [301_056, 301_056 + 225_792], 40, 0
    ),
    (
        "one wrong time among good ones",
        SyntheticPackets.audioPackets(10, from: 900_000)
            + [
                AudioPacket(
                    pid: 257, configuration: SyntheticPackets.audioConfiguration(), pts: Ticks(950_000),
                    isDamaged: false, payload: [1])
            ]
            + SyntheticPackets.audioPackets(29, from: 900_000 + 11 * 1920), [301_056], 40, 0
    ),
    (
        "two frames sent twice",
        SyntheticPackets.audioPackets(10, from: 900_000) + SyntheticPackets.audioPackets(32, from: 900_000 + 8 * 1920),
        [301_056], 40, 0
    ),
]

@Test(arguments: gaps.indices)
func audioIsPlacedEndToEnd(_ index: Int) throws {
    let row = gaps[index]
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(row.frames, near: 900_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(18_000 + 40 * 1920))
    let cut = try #require(dequeued)
    #expect(
        cut.decodeTime == PeriodTimeline.audioTime(Ticks(18_000)) + (row.when.hasPrefix("each") ? 157 : 0),
        "\(row.when)")
    #expect(
        Set(cut.samples.map(\.duration)).isSubset(of: row.durations), "\(row.when): \(Set(cut.samples.map(\.duration)))"
    )
    #expect(assembler.counts[.silentAudioFrames] == row.silentFrames, "\(row.when)")
    let written = cut.samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
    #expect(assembler.nextDecodeTime == cut.decodeTime + written, "\(row.when): the next decode time is the sum")
    let end = PeriodTimeline.audioTime(Ticks(18_000 + 40 * 1920))
    #expect(cut.decodeTime + written <= end && end - cut.decodeTime - written < 2 * frame48, "\(row.when)")
}

@Test func periodIsExactWithAudioMissingAtItsStart() throws {
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(47, from: 900_000), near: 900_000))
    _ = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(108_000))
    let before = try #require(assembler.nextDecodeTime)
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(rate: 44_100), silence: SyntheticPackets.silence,
        on: timeline(source: 126_000, at: 108_000))
    assembler.append(
        timed(
            SyntheticPackets.audioPackets(
                60, from: 125_000, configuration: SyntheticPackets.audioConfiguration(rate: 44_100)), near: 126_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(108_000), to: Ticks(198_000))
    let cut = try #require(dequeued)
    #expect(cut.decodeTime == before, "decode time does not jump at the discontinuity")
    let second = cut.decodeTime + Int64(cut.samples[0].duration)
    let source = PeriodTimeline.audioTime(Ticks(107_000)) + 327_680
    #expect(abs(second - source) <= 1, "from the second frame on the audio is where its source placed it")
    #expect(Set(cut.samples.dropFirst().map(\.duration)) == [327_680])
}

@Test func periodWithoutAudioIsFilledWithSilence() throws {
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(47, from: 900_000), near: 900_000))
    _ = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(108_000))
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence, on: timeline(source: 0, at: 108_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(108_000), to: Ticks(198_000))
    let cut = try #require(dequeued)
    #expect(cut.samples.count == 47 && assembler.counts[.silentAudioFrames] == 47)
}

private let lateRows:
    [(when: String, next: AudioConfiguration, from: Int64, written: Int, silentFrames: Int, trimmed: Int)] = [
        ("same configuration: it replaces silence", SyntheticPackets.audioConfiguration(), 44, 2, 0, 1),
        ("another configuration", SyntheticPackets.audioConfiguration(channels: 1), 44, 0, 2, 3),
        ("not adjacent to the end", SyntheticPackets.audioConfiguration(), 20, 0, 2, 3),
    ]

@Test(arguments: lateRows.indices)
func lateAudioReplacesSilenceOfTheNextPeriod(_ index: Int) throws {
    let row = lateRows[index]
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(44, from: 900_000), near: 900_000))
    _ = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(18_000 + 46 * 1920))
    let late = SyntheticPackets.audioPackets(3, from: 900_000 + row.from * 1920)
    assembler.append(timed(late, near: 900_000))
    assembler.beginPeriod(
        row.next, silence: SyntheticPackets.silence, on: timeline(source: 126_000, at: 18_000 + 46 * 1920))
    assembler.append(timed(SyntheticPackets.audioPackets(47, from: 126_000, configuration: row.next), near: 126_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(18_000 + 46 * 1920), to: Ticks(18_000 + 93 * 1920))
    let cut = try #require(dequeued)
    #expect(cut.samples.prefix(row.written).map(\.payload) == late.prefix(row.written).map(\.payload), "\(row.when)")
    #expect(cut.samples.count == 49 && Set(cut.samples.map(\.duration)) == [301_056], "\(row.when)")
    #expect(
        assembler.counts[.silentAudioFrames] == row.silentFrames
            && assembler.counts[.trimmedAudioFrames] == row.trimmed,
        "\(row.when): \(assembler.counts)")
}

@Test func periodWithoutAudioIsFilledAfterLateAudio() throws {
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(44, from: 900_000), near: 900_000))
    _ = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(18_000 + 46 * 1920))
    assembler.append(timed(SyntheticPackets.audioPackets(2, from: 900_000 + 44 * 1920), near: 900_000))
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 0, at: 18_000 + 46 * 1920))
    let dequeued = assembler.dequeueSamples(from: Ticks(18_000 + 46 * 1920), to: Ticks(18_000 + 93 * 1920))
    let cut = try #require(dequeued)
    #expect(cut.samples.count == 49 && assembler.counts[.silentAudioFrames] == 47)
}

/// Audio of a track by itself, of which a part is missing: frames of the first second and of the second one, and the seconds
/// that each segment has.
private let finalRows: [(when: String, first: Range<Int>, second: Range<Int>, fills: Bool, seconds: [Double?])] = [
    ("nothing is missing", 0..<47, 47..<94, true, [1, 1]),
    ("the end of a segment is missing", 0..<20, 47..<94, true, [1, 1]),
    ("all is missing", 0..<0, 47..<94, true, [1, 1]),
    ("all is missing, without silence", 0..<0, 47..<94, false, [nil, 1]),
]

@Test(arguments: finalRows.indices)
func missingAudioIsMissingInItsOwnSegment(_ index: Int) {
    let row = finalRows[index]
    var assembler = AudioTrackAssembler(fillsGaps: row.fills)
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    let all = timed(SyntheticPackets.audioPackets(94, from: 900_000), near: 900_000)
    var seconds: [Double?] = []
    for (number, frames) in [row.first, row.second].enumerated() {
        assembler.append(Array(all[frames]))
        let start = Int64(18_000 + number * 90_000)
        let dequeued = assembler.dequeueSamples(from: Ticks(start), to: Ticks(start + 90_000), isFinal: true)
        seconds.append(dequeued.map { Double($0.samples.reduce(0) { $0 + Int64($1.duration) }) / 14_112_000 })
    }
    #expect(seconds.count == row.seconds.count)
    for (found, expected) in zip(seconds, row.seconds) {
        #expect((found == nil) == (expected == nil), "\(row.when)")
        if let found, let expected { #expect(abs(found - expected) < 0.05, "\(row.when): \(found)") }
    }
}

@Test func veryShortSegmentHasAudio() throws {
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(3, from: 900_000), near: 900_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(18_900))
    let cut = try #require(dequeued)
    #expect(cut.samples.count == 1)
}

@Test func audioMissingAtTheEndOfAPeriodBecomesSilence() throws {
    var assembler = AudioTrackAssembler()
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 900_000, at: 18_000))
    assembler.append(timed(SyntheticPackets.audioPackets(10, from: 900_000), near: 900_000))
    _ = assembler.dequeueSamples(from: Ticks(18_000), to: Ticks(198_000))
    let before = try #require(assembler.nextDecodeTime)
    assembler.beginPeriod(
        SyntheticPackets.audioConfiguration(), silence: SyntheticPackets.silence,
        on: timeline(source: 126_000, at: 198_000))
    assembler.append(timed(SyntheticPackets.audioPackets(60, from: 126_000), near: 126_000))
    let dequeued = assembler.dequeueSamples(from: Ticks(198_000), to: Ticks(288_000))
    let cut = try #require(dequeued)
    #expect(cut.decodeTime == before, "decode time does not jump by the missing time")
    #expect(assembler.counts[.silentAudioFrames] == 83, "1.8 s, less the extension of the first frame")
}
