import Foundation
import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Checks the invariants of every channel on random sequences of programs, cut, tagged and numbered in any way.
@Test(arguments: TortureSeeds.all)
func anyChannelIsPublishedWhole(seed: UInt64) {
    let channel = TortureChannel(seed: seed)
    var random = SeededGenerator(seed: seed)
    let output = TortureOutput(
        channel.inputs(within: 1, &random), hasAudioRendition: channel.hasCompanion, longest: channel.longest)
    let unreadable = channel.unreadable
    #expect(output.errors.isEmpty, "\(channel)")
    #expect(output.faults(after: unreadable, roundingError: channel.roundingError).isEmpty, "\(channel)")
    #expect(output.videoFaults(of: channel.programs).isEmpty, "\(channel)")
    #expect(
        output.counts[.adjustedTimestamps] == 0 && output.counts[.timestampGaps] <= channel.apparentGaps, "\(channel)")
    for program in channel.programs where unreadable.allSatisfy({ $0.serial != program.serial }) {
        #expect(
            output.videoFrameCounts[program.serial, default: 0] == program.decodableVideoFrames.count,
            "program \(program.serial): \(channel)")
    }
    let sent = channel.programs.reduce(0) { $0 + $1.sentVideoFrames.count }
    let dropped =
        output.counts[.framesBeforeSync] + output.counts[.leadingPictures] + output.counts.demux[.undecodableUnits]
    let accounted = output.videoSamples.count + dropped
    #expect((sent...sent + channel.unpairedFields).contains(accounted), "\(accounted) of \(sent): \(channel)")
    for (period, offset) in output.audioOffsets(of: channel.programs) {
        #expect(abs(offset) <= 25_000, "period \(period) is off by \(offset) µs: \(channel)")
    }
    for (serial, missing) in output.missingAudio(of: channel.programs) {
        let lost = unreadable.count { $0.serial == serial }
        #expect(missing < 24 + lost * 2, "program \(serial): \(missing) audio frames are missing: \(channel)")
    }
    if seed % 2 == 1 || channel.hasCompanion { expectSameOutputInAnyOrder(channel, output, &random) }
}

/// Checks that another fetch order gives the same bytes, and that other segment boundaries give the same samples.
private func expectSameOutputInAnyOrder(
    _ channel: TortureChannel, _ output: TortureOutput, _ random: inout SeededGenerator
) {
    guard !channel.hasCompanion else {
        let other = TortureOutput(
            channel.inputs(within: 3, &random), hasAudioRendition: true, longest: channel.longest)
        #expect(other.bytes == output.bytes && other.counts == output.counts, "\(channel)")
        return
    }
    guard channel.unreadable.isEmpty else { return }
    let parts = channel.recut(&random)
    let other = TortureOutput(TortureChannel.inputs(parts), longest: channel.longest)
    let sizes = parts.map(\.segment.bytes.count)
    #expect(other.faults(roundingError: channel.roundingError).isEmpty, "cut into \(sizes): \(channel)")
    #expect(other.videoSamples.map(\.label) == output.videoSamples.map(\.label), "cut into \(sizes): \(channel)")
    for (one, two) in zip(other.videoSamples, output.videoSamples)
    where abs(one.presentation - two.presentation) > 4 + channel.roundingError * 5 {
        Issue.record("frame \(String(describing: one.label)) is elsewhere, cut into \(sizes): \(channel)")
        return
    }
}

/// Seeds of the test; TORTURE_SEEDS="1001...1400" replaces them.
enum TortureSeeds {
    static let all: ClosedRange<UInt64> = {
        let words = (ProcessInfo.processInfo.environment["TORTURE_SEEDS"] ?? "").split(separator: ".").compactMap {
            UInt64($0)
        }
        guard words.count == 2, words[0] <= words[1] else { return 1...200 }
        return words[0]...words[1]
    }()
}

extension TortureChannel {
    /// Number of program changes that look like a gap: same stream, same configuration, and a small step of the clock.
    fileprivate var apparentGaps: Int {
        zip(programs, programs.dropFirst()).count { last, next in
            let isSimilar = last.videoPID == next.videoPID && last.sequenceSet == next.sequenceSet
            let step = next.decode(next.sentVideoFrames.lowerBound) - last.decode(last.sentVideoFrames.upperBound - 1)
            return isSimilar && Ticks(step).wire <= DiscontinuityDetector.longestGap
        }
    }
}
