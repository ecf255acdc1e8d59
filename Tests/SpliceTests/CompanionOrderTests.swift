import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// A channel whose sound is a rendition of its own: the inputs of each, in its playlist's order.
private struct Renditions {
    var main: [SpliceInput] = []
    var audio: [SpliceInput] = []
    var programs: [TortureProgram] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (pictures, sounds) = (TortureMultiplexer(), TortureMultiplexer())
        let isTagged = seed % 3 != 0
        var numbers = (main: UInt64(100), sound: UInt64(7))
        for serial in 0..<Int.random(in: 2...4, using: &random) {
            var programme = TortureProgram(serial: serial)
            programme.hasCompanionAudio = true
            programme.clock = [900_000, 126_000, Ticks.wrap - 90_000].randomElement(using: &random) ?? 0
            programme.parameterSets = serial % 2 == 0 ? 5 : 6
            programme.videoPID = serial % 2 == 0 ? 256 : 481
            if isTagged, seed % 4 == 0, serial % 2 == 1 { programme.audioClock = 7_000_000_000 }
            programme.segments = [Int](repeating: 25, count: Int.random(in: 2...3, using: &random))
            programs.append(programme)
            let borders = programme.segments.indices.map { place in
                place == programme.segments.count - 1
                    ? Int64.max : Int64(place + 1) * 90_000 + Int64.random(in: -9000...9000, using: &random)
            }
            let parts = (pictures.segments(of: programme), sounds.companion(of: programme, borders: borders))
            for (place, (picture, sound)) in zip(parts.0, parts.1).enumerated() {
                let isSplice = isTagged && place == 0 && serial > 0
                let number = isTagged ? UInt64(serial) : 0
                main.append(input(picture, .main, numbers.main, number, isSplice))
                self.audio.append(input(sound, .audio, numbers.sound, number, isSplice))
                numbers = (numbers.main + 1, numbers.sound + 1)
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

    /// Neither is ever more than `bound` segments ahead of the other.
    func inSomeOrder(within bound: Int, _ random: inout SeededGenerator) -> [SpliceInput] {
        var (taken, result) = ((main: 0, sound: 0), [SpliceInput]())
        while taken.main < main.count || taken.sound < audio.count {
            let canTakeMain =
                taken.main < main.count && (taken.main - taken.sound < bound || taken.sound == audio.count)
            let canTakeSound =
                taken.sound < audio.count && (taken.sound - taken.main < bound || taken.main == main.count)
            if canTakeMain, !canTakeSound || Bool.random(using: &random) {
                result.append(main[taken.main])
                taken.main += 1
            } else {
                result.append(audio[taken.sound])
                taken.sound += 1
            }
        }
        return result
    }
}

/// Renditions are fetched in step (two target durations): in which order within that never shows.
@Test(arguments: UInt64(1)...16)
func theSameWhicheverRenditionCameFirst(seed: UInt64) {
    let channel = Renditions(seed: seed)
    var random = SeededGenerator(seed: seed)
    let first = TortureOutput(channel.inSomeOrder(within: 1, &random), hasAudioRendition: true, longest: 105_000)
    #expect(first.faults.isEmpty && first.errors.isEmpty)
    #expect(first.videoSamples.count == channel.programs.reduce(0) { $0 + $1.videoFrameCount })
    for (serial, off) in first.departures(of: channel.programs) {
        #expect(abs(off) <= 25_000, "programme \(serial) is off by \(off) µs: \(channel.programs)")
    }
    for bound in [1, 2, 3, 3] {
        let other = TortureOutput(
            channel.inSomeOrder(within: bound, &random), hasAudioRendition: true, longest: 105_000)
        #expect(other.bytes == first.bytes, "within \(bound)")
        #expect(other.counts == first.counts, "within \(bound)")
    }
}
