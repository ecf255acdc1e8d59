import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// A channel with a companion rendition: the inputs of each rendition, in playlist order.
private struct Renditions {
    var main: [SpliceInput] = []
    var audio: [SpliceInput] = []
    var programs: [TortureProgram] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (videoMuxer, audioMuxer) = (TortureMultiplexer(), TortureMultiplexer())
        let isTagged = seed % 3 != 0
        var numbers = (main: UInt64(100), audio: UInt64(7))
        for serial in 0..<Int.random(in: 2...4, using: &random) {
            var program = TortureProgram(serial: serial)
            program.hasCompanionAudio = true
            program.clock = [900_000, 126_000, Ticks.wrap - 90_000].randomElement(using: &random) ?? 0
            program.parameterSets = serial % 2 == 0 ? 5 : 6
            program.videoPID = serial % 2 == 0 ? 256 : 481
            if isTagged, seed % 4 == 0, serial % 2 == 1 { program.audioClock = 7_000_000_000 }
            program.segments = [Int](repeating: 25, count: Int.random(in: 2...3, using: &random))
            programs.append(program)
            let boundaries = program.segments.indices.map { index in
                index == program.segments.count - 1
                    ? Int64.max : Int64(index + 1) * 90_000 + Int64.random(in: -9000...9000, using: &random)
            }
            let parts = (videoMuxer.segments(of: program), audioMuxer.companion(of: program, boundaries: boundaries))
            for (index, (video, audio)) in zip(parts.0, parts.1).enumerated() {
                let isSplice = isTagged && index == 0 && serial > 0
                let number = isTagged ? UInt64(serial) : 0
                main.append(input(video, .main, numbers.main, number, isSplice))
                self.audio.append(input(audio, .audio, numbers.audio, number, isSplice))
                numbers = (numbers.main + 1, numbers.audio + 1)
            }
        }
        main.append(.ended(.main))
        audio.append(.ended(.audio))
    }

    private func input(
        _ bytes: [UInt8], _ rendition: InputRendition, _ sequence: UInt64, _ number: UInt64, _ isSplice: Bool
    ) -> SpliceInput {
        .segment(
            SegmentInput(
                rendition: rendition, mediaSequence: sequence, discontinuitySequence: number,
                isDiscontinuous: isSplice, bytes: bytes))
    }

    /// Interleaves the renditions so that neither is more than `bound` segments ahead of the other.
    func interleaved(within bound: Int, _ random: inout SeededGenerator) -> [SpliceInput] {
        var (consumed, result) = ((main: 0, audio: 0), [SpliceInput]())
        while consumed.main < main.count || consumed.audio < audio.count {
            let canAppendMain =
                consumed.main < main.count && (consumed.main - consumed.audio < bound || consumed.audio == audio.count)
            let canAppendAudio =
                consumed.audio < audio.count && (consumed.audio - consumed.main < bound || consumed.main == main.count)
            if canAppendMain, !canAppendAudio || Bool.random(using: &random) {
                result.append(main[consumed.main])
                consumed.main += 1
            } else {
                result.append(audio[consumed.audio])
                consumed.audio += 1
            }
        }
        return result
    }
}

/// Renditions are fetched at most two target durations apart; the order within that does not change the output.
@Test(arguments: UInt64(1)...16)
func fetchOrderOfRenditionsDoesNotChangeTheOutput(seed: UInt64) {
    let channel = Renditions(seed: seed)
    var random = SeededGenerator(seed: seed)
    let first = TortureOutput(channel.interleaved(within: 1, &random), hasAudioRendition: true, longest: 105_000)
    #expect(first.faults.isEmpty && first.errors.isEmpty)
    #expect(first.videoSamples.count == channel.programs.reduce(0) { $0 + $1.videoFrameCount })
    for (serial, offset) in first.audioOffsets(of: channel.programs) {
        #expect(abs(offset) <= 25_000, "program \(serial) is off by \(offset) µs: \(channel.programs)")
    }
    for bound in [1, 2, 3, 3] {
        let other = TortureOutput(
            channel.interleaved(within: bound, &random), hasAudioRendition: true, longest: 105_000)
        #expect(other.bytes == first.bytes, "within \(bound)")
        #expect(other.counts == first.counts, "within \(bound)")
    }
}
