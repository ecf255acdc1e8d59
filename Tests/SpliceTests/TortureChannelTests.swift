import Foundation
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Any sequence of programmes, cut, tagged and numbered in any way: what holds of every channel holds of it.
@Test(arguments: TortureSeeds.all)
func anyChannelComesOutWhole(seed: UInt64) {
    let channel = TortureChannel(seed: seed)
    var random = SeededGenerator(seed: seed)
    let output = TortureOutput(
        channel.inputs(aheadBy: 1, &random), hasAudioRendition: channel.hasCompanion, longest: channel.longest)
    let unreadable = channel.unreadable
    #expect(output.errors.isEmpty, "\(channel)")
    #expect(output.faults(after: unreadable, grain: channel.grain).isEmpty, "\(channel)")
    #expect(output.videoFaults(of: channel.programs).isEmpty, "\(channel)")
    #expect(
        output.counts.timestampsSanitized == 0 && output.counts.timestampGaps <= channel.apparentHoles, "\(channel)")
    for programme in channel.programs where unreadable.allSatisfy({ $0.serial != programme.serial }) {
        #expect(
            output.pictureCount[programme.serial, default: 0] == programme.decodableVideoFrames.count,
            "programme \(programme.serial): \(channel)")
    }
    let fed = channel.programs.reduce(0) { $0 + $1.sentVideoFrames.count }
    let left = output.counts.framesBeforeSync + output.counts.leadingPictures + output.counts.demux.undecodable
    let accounted = output.videoSamples.count + left
    #expect((fed...fed + channel.unpairedFields).contains(accounted), "\(accounted) of \(fed): \(channel)")
    for (run, off) in output.departures(of: channel.programs) {
        #expect(abs(off) <= 25_000, "run \(run) is off by \(off) µs: \(channel)")
    }
    for (serial, missing) in output.missingAudio(of: channel.programs) {
        let lost = unreadable.count { $0.serial == serial }
        #expect(missing < 24 + lost * 2, "programme \(serial) lacks \(missing) frames of sound: \(channel)")
    }
    if seed % 2 == 1 || channel.hasCompanion { expectSameWhateverTheOrder(channel, output, &random) }
}

/// The same renditions fetched in another order are the same bytes; the same bytes cut elsewhere are the same samples.
private func expectSameWhateverTheOrder(
    _ channel: TortureChannel, _ output: TortureOutput, _ random: inout SeededGenerator
) {
    guard !channel.hasCompanion else {
        let other = TortureOutput(
            channel.inputs(aheadBy: 3, &random), hasAudioRendition: true, longest: channel.longest)
        #expect(other.bytes == output.bytes && other.counts == output.counts, "\(channel)")
        return
    }
    guard channel.unreadable.isEmpty else { return }
    let parts = channel.recut(&random)
    let other = TortureOutput(TortureChannel.inputs(parts), longest: channel.longest)
    let sizes = parts.map(\.segment.bytes.count)
    #expect(other.faults(grain: channel.grain).isEmpty, "cut into \(sizes): \(channel)")
    #expect(other.videoSamples.map(\.label) == output.videoSamples.map(\.label), "cut into \(sizes): \(channel)")
    for (one, two) in zip(other.videoSamples, output.videoSamples)
    where abs(one.presentation - two.presentation) > 4 + channel.grain * 5 {
        Issue.record("picture \(String(describing: one.label)) is elsewhere, cut into \(sizes): \(channel)")
        return
    }
}

/// The seeds that are tried; TORTURE_SEEDS="1001...1400" tries others.
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
    /// Programmes of one stream with one configuration that the next one's clock leaves behind by no more than a hole: who
    /// does not see the pictures cannot tell.
    fileprivate var apparentHoles: Int {
        zip(programs, programs.dropFirst()).count { last, next in
            let isAlike = last.videoPID == next.videoPID && last.sequenceSet == next.sequenceSet
            let step = next.decode(next.sentVideoFrames.lowerBound) - last.decode(last.sentVideoFrames.upperBound - 1)
            return isAlike && Ticks(step).wire <= DiscontinuityDetector.longestGap
        }
    }
}
