import Glibc
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

private func input(
    _ sequence: Int, _ bytes: [UInt8], of rendition: InputRendition = .main,
    isAfterSeam: Bool = false
) -> SpliceInput {
    .segment(
        SegmentInput(
            rendition: rendition, mediaSequence: UInt64(sequence), isAfterSeam: isAfterSeam, bytes: bytes)
    )
}

@Test func audioComesBackInSyncAfterTwoLostSegments() {
    var programme = TortureProgram(serial: 0, segments: [Int](repeating: 150, count: 6))
    programme.hasCompanionAudio = true
    var (pictures, sounds) = (TortureMultiplexer(), TortureMultiplexer())
    let video = pictures.segments(of: programme)
    let audio = sounds.companion(of: programme, borders: (1...6).map { Int64($0) * 540_000 })
    let inputs = (0..<6).flatMap { place in
        let isLost = place == 1 || place == 2
        let sound = input(place, audio[place], of: .audio, isAfterSeam: place == 3)
        return [input(place, video[place]), isLost ? .lost(.audio) : sound]
    }
    let output = TortureOutput(inputs + [.ended(.main), .ended(.audio)], hasAudioRendition: true)
    #expect(output.departures(of: [programme]).values.allSatisfy { abs($0) <= 25_000 })
}

@Test func aWildPresentationTimeIsNoEndOfTheProcess() async {
    await #expect(processExitsWith: .success) {
        var builder = TransportStreamBuilder()
        let programme = TortureProgram(serial: 0)
        builder.tables([.init(pid: 256, type: 0x1B)])
        for index in 0..<50 {
            let time = 900_000 + Int64(index) * 3600
            builder.pes(
                pid: 256, pts: index == 30 ? time | 1 << 31 : time, dts: index == 30 ? time : nil,
                programme.accessUnit(index))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

@Test func audioFromAnotherStreamIsNoEndlessLoop() async {
    await #expect(processExitsWith: .success) {
        _ = alarm(5)
        var builder = TransportStreamBuilder()
        let programme = TortureProgram(serial: 0)
        var foreign = programme
        foreign.frequencyIndex = 4
        builder.tables([.init(pid: 256, type: 0x1B), .init(pid: 257, type: 0x0F)])
        for index in 0..<9 {
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 880_000 + Int64(index) * 1920, isBounded: true,
                foreign.audioFrame(index))
        }
        for index in 0..<50 {
            builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, programme.accessUnit(index))
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 898_000 + Int64(index) * 3840, isBounded: true,
                programme.audioFrame(2 * index) + programme.audioFrame(2 * index + 1))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

/// Nobody can know that the last picture is whole until the end, and its segment waits for it.
@Test func aFrameHeldAtTheEndIsPublished() {
    var builder = TransportStreamBuilder()
    let programme = TortureProgram(serial: 0)
    builder.tables([.init(pid: 256, type: 0x1B)])
    for index in 0..<25 {
        var unit = programme.accessUnit(index)
        // Transport packets that end with the unit do not say that it is over.
        while (unit.count + 14) % 184 != 0 { unit.insert(0x33, at: unit.count - 8) }
        builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, unit)
    }
    let output = TortureOutput([input(0, builder.cut()), .ended(.main)])
    #expect(output.videoSamples.count == 25 && output.counts.segmentsWithoutSync == 0)
}
