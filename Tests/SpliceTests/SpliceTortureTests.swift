import Glibc
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

private func input(
    _ sequence: Int, _ bytes: [UInt8], of rendition: InputRendition = .main,
    isAfterDiscontinuity: Bool = false
) -> SpliceInput {
    .segment(
        SegmentInput(
            rendition: rendition, mediaSequence: UInt64(sequence), isAfterDiscontinuity: isAfterDiscontinuity,
            bytes: bytes)
    )
}

@Test func audioIsInSyncAfterTwoLostSegments() {
    var program = TortureProgram(serial: 0, segments: [Int](repeating: 150, count: 6))
    program.hasCompanionAudio = true
    var (videoMuxer, audioMuxer) = (TortureMultiplexer(), TortureMultiplexer())
    let video = videoMuxer.segments(of: program)
    let audio = audioMuxer.companion(of: program, boundaries: (1...6).map { Int64($0) * 540_000 })
    let inputs = (0..<6).flatMap { index in
        let isLost = index == 1 || index == 2
        let companion = input(index, audio[index], of: .audio, isAfterDiscontinuity: index == 3)
        return [input(index, video[index]), isLost ? .lost(.audio) : companion]
    }
    let output = TortureOutput(inputs + [.ended(.main), .ended(.audio)], hasAudioRendition: true)
    #expect(output.audioOffsets(of: [program]).values.allSatisfy { abs($0) <= 25_000 })
}

@Test func wrongPresentationTimeDoesNotCrash() async {
    await #expect(processExitsWith: .success) {
        var builder = TransportStreamBuilder()
        let program = TortureProgram(serial: 0)
        builder.tables([.init(pid: 256, type: 0x1B)])
        for index in 0..<50 {
            let time = 900_000 + Int64(index) * 3600
            builder.pes(
                pid: 256, pts: index == 30 ? time | 1 << 31 : time, dts: index == 30 ? time : nil,
                program.accessUnit(index))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

@Test func audioFromAnotherStreamDoesNotLoopForever() async {
    await #expect(processExitsWith: .success) {
        _ = alarm(5)
        var builder = TransportStreamBuilder()
        let program = TortureProgram(serial: 0)
        var foreign = program
        foreign.frequencyIndex = 4
        builder.tables([.init(pid: 256, type: 0x1B), .init(pid: 257, type: 0x0F)])
        for index in 0..<9 {
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 880_000 + Int64(index) * 1920, isBounded: true,
                foreign.audioFrame(index))
        }
        for index in 0..<50 {
            builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, program.accessUnit(index))
            builder.pes(
                pid: 257, streamID: 0xC0, pts: 898_000 + Int64(index) * 3840, isBounded: true,
                program.audioFrame(2 * index) + program.audioFrame(2 * index + 1))
        }
        _ = TortureOutput([input(0, builder.cut())])
    }
}

/// The last frame is known to be complete only at the end, and its segment waits for it.
@Test func frameHeldAtTheEndIsPublished() {
    var builder = TransportStreamBuilder()
    let program = TortureProgram(serial: 0)
    builder.tables([.init(pid: 256, type: 0x1B)])
    for index in 0..<25 {
        var unit = program.accessUnit(index)
        // Transport packets that end with the unit do not tell that the unit is complete.
        while (unit.count + 14) % 184 != 0 { unit.insert(0x33, at: unit.count - 8) }
        builder.pes(pid: 256, pts: 900_000 + Int64(index) * 3600, unit)
    }
    let output = TortureOutput([input(0, builder.cut()), .ended(.main)])
    #expect(output.videoSamples.count == 25 && output.counts[.segmentsWithoutSync] == 0)
}
