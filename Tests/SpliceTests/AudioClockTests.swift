import Testing

@testable import Splice

/// One second of sound is 14 112 000 ticks; a frame of 1024 samples at 48 kHz is 301 056 of them, at 44.1 kHz 327 680.
private let frame48: Int64 = 301_056

private func timeline(source: Int64, at output: Int64) -> ProgramTimeline {
    let unit = TimedVideo(packet: Synthetic.picture(dts: source), dts: Ticks(source), pts: Ticks(source))
    return ProgramTimeline(first: unit, at: Ticks(output))
}

private func timed(_ packets: [AudioPacket], near reference: Int64) -> [TimedAudio] {
    packets.map { TimedAudio(packet: $0, pts: Ticks(wire: $0.pts ?? .zero, near: Ticks(reference))) }
}

private let holes: [(when: String, frames: [AudioPacket], durations: Set<UInt32>, samples: Int, silent: Int)] = [
    ("unbroken", Synthetic.frames(40, from: 900_000), [301_056], 40, 0),
    (
        "each time off by a tick either way",
        Synthetic.frames(40, from: 900_000).enumerated().map { index, packet in
            AudioPacket(
                pid: packet.pid, configuration: packet.configuration,
                pts: packet.pts.map { $0 + Ticks(index % 2 == 0 ? 1 : -1) }, isDamaged: false, payload: packet.payload)
        }, [301_056, 301_213], 40, 0
    ),
    (
        "three frames lost", Synthetic.frames(10, from: 900_000) + Synthetic.frames(27, from: 900_000 + 13 * 1920),
        [301_056], 40, 3
    ),
    (
        "a third of a frame more, too little to depart",
        Synthetic.frames(10, from: 900_000)
            + Synthetic.frames(30, from: 900_000 + 10 * 1920 + 640), [301_056], 40, 0
    ),
    (
        "three quarters of a frame more are carried by a sample",
        Synthetic.frames(10, from: 900_000)
            + Synthetic.frames(30, from: 900_000 + 10 * 1920 + 1440), [301_056, 301_056 + 225_792], 40, 0
    ),
    (
        "one wild time among good ones",
        Synthetic.frames(10, from: 900_000)
            + [
                AudioPacket(
                    pid: 257, configuration: Synthetic.sound(), pts: Ticks(950_000), isDamaged: false, payload: [1])
            ]
            + Synthetic.frames(29, from: 900_000 + 11 * 1920), [301_056], 40, 0
    ),
    (
        "two frames sent twice", Synthetic.frames(10, from: 900_000) + Synthetic.frames(32, from: 900_000 + 8 * 1920),
        [301_056], 40, 0
    ),
]

@Test(arguments: holes.indices)
func soundIsLaidEndToEnd(_ index: Int) throws {
    let row = holes[index]
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(row.frames, near: 900_000))
    let given = clock.cut(from: Ticks(18_000), to: Ticks(18_000 + 40 * 1920))
    let cut = try #require(given)
    #expect(
        cut.decodeTime == ProgramTimeline.audioTime(Ticks(18_000)) + (row.when.hasPrefix("each") ? 157 : 0),
        "\(row.when)")
    #expect(
        Set(cut.samples.map(\.duration)).isSubset(of: row.durations), "\(row.when): \(Set(cut.samples.map(\.duration)))"
    )
    #expect(clock.counts.silent == row.silent, "\(row.when)")
    let written = cut.samples.reduce(Int64(0)) { $0 + Int64($1.duration) }
    #expect(clock.next == cut.decodeTime + written, "\(row.when): next is the sum")
    let end = ProgramTimeline.audioTime(Ticks(18_000 + 40 * 1920))
    #expect(cut.decodeTime + written <= end && end - cut.decodeTime - written < 2 * frame48, "\(row.when)")
}

@Test func aRunIsExactWhateverItsSeamLacked() throws {
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(47, from: 900_000), near: 900_000))
    _ = clock.cut(from: Ticks(18_000), to: Ticks(108_000))
    let before = try #require(clock.next)
    clock.beginRun(
        Synthetic.sound(rate: 44_100), silence: Synthetic.silence, on: timeline(source: 126_000, at: 108_000))
    clock.append(
        timed(Synthetic.frames(60, from: 125_000, configuration: Synthetic.sound(rate: 44_100)), near: 126_000))
    let given = clock.cut(from: Ticks(108_000), to: Ticks(198_000))
    let cut = try #require(given)
    #expect(cut.decodeTime == before, "decode time does not jump at the seam")
    let second = cut.decodeTime + Int64(cut.samples[0].duration)
    let source = ProgramTimeline.audioTime(Ticks(107_000)) + 327_680
    #expect(abs(second - source) <= 1, "from the second frame on the sound is where its source put it")
    #expect(Set(cut.samples.dropFirst().map(\.duration)) == [327_680])
}

@Test func aRunWithoutSoundIsFilledToItsEnd() throws {
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(47, from: 900_000), near: 900_000))
    _ = clock.cut(from: Ticks(18_000), to: Ticks(108_000))
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 0, at: 108_000))
    let given = clock.cut(from: Ticks(108_000), to: Ticks(198_000))
    let cut = try #require(given)
    #expect(cut.samples.count == 47 && clock.counts.silent == 47)
}

private let lateRows: [(when: String, next: AudioConfiguration, from: Int64, laid: Int, silent: Int, trimmed: Int)] = [
    ("coded alike: it stands where silence would", Synthetic.sound(), 44, 2, 0, 1),
    ("coded otherwise", Synthetic.sound(channels: 1), 44, 0, 2, 3),
    ("from another place", Synthetic.sound(), 20, 0, 2, 3),
]

@Test(arguments: lateRows.indices)
func soundThatCameTooLateForItsRun(_ index: Int) throws {
    let row = lateRows[index]
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(44, from: 900_000), near: 900_000))
    _ = clock.cut(from: Ticks(18_000), to: Ticks(18_000 + 46 * 1920))
    let late = Synthetic.frames(3, from: 900_000 + row.from * 1920)
    clock.append(timed(late, near: 900_000))
    clock.beginRun(row.next, silence: Synthetic.silence, on: timeline(source: 126_000, at: 18_000 + 46 * 1920))
    clock.append(timed(Synthetic.frames(47, from: 126_000, configuration: row.next), near: 126_000))
    let given = clock.cut(from: Ticks(18_000 + 46 * 1920), to: Ticks(18_000 + 93 * 1920))
    let cut = try #require(given)
    #expect(cut.samples.prefix(row.laid).map(\.payload) == late.prefix(row.laid).map(\.payload), "\(row.when)")
    #expect(cut.samples.count == 49 && Set(cut.samples.map(\.duration)) == [301_056], "\(row.when)")
    #expect(clock.counts.silent == row.silent && clock.counts.trimmed == row.trimmed, "\(row.when): \(clock.counts)")
}

@Test func aRunWithoutSoundIsFilledBehindWhatCameLate() throws {
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(44, from: 900_000), near: 900_000))
    _ = clock.cut(from: Ticks(18_000), to: Ticks(18_000 + 46 * 1920))
    clock.append(timed(Synthetic.frames(2, from: 900_000 + 44 * 1920), near: 900_000))
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 0, at: 18_000 + 46 * 1920))
    let given = clock.cut(from: Ticks(18_000 + 46 * 1920), to: Ticks(18_000 + 93 * 1920))
    let cut = try #require(given)
    #expect(cut.samples.count == 49 && clock.counts.silent == 47)
}

@Test func aVeryShortSegmentStillHasItsSound() throws {
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(3, from: 900_000), near: 900_000))
    let given = clock.cut(from: Ticks(18_000), to: Ticks(18_900))
    let cut = try #require(given)
    #expect(cut.samples.count == 1)
}

@Test func whatARunsSoundLackedAtItsEndIsSilence() throws {
    var clock = AudioClock()
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 900_000, at: 18_000))
    clock.append(timed(Synthetic.frames(10, from: 900_000), near: 900_000))
    _ = clock.cut(from: Ticks(18_000), to: Ticks(198_000))
    let before = try #require(clock.next)
    clock.beginRun(Synthetic.sound(), silence: Synthetic.silence, on: timeline(source: 126_000, at: 198_000))
    clock.append(timed(Synthetic.frames(60, from: 126_000), near: 126_000))
    let given = clock.cut(from: Ticks(198_000), to: Ticks(288_000))
    let cut = try #require(given)
    #expect(cut.decodeTime == before, "decode time does not jump by what lacked")
    #expect(clock.counts.silent == 83, "of 1.8 s, but for what the first frame carries")
}
