import TestSupport
import Testing

@testable import Splice

/// Any sequence of programmes, cut, tagged and numbered in any way: what holds of every channel holds of it.
@Test(arguments: UInt64(1)...200)
func anyChannelComesOutWhole(seed: UInt64) {
    let channel = TortureChannel(seed: seed)
    var random = SeededGenerator(seed: seed)
    let output = TortureOutput(
        channel.inputs(aheadBy: 1, &random), hasAudioRendition: channel.hasCompanion, longest: channel.longest)
    #expect(output.errors.isEmpty, "\(channel)")
    #expect(output.faults.isEmpty, "\(channel)")
    #expect(output.initFaults(of: channel.programmes).isEmpty, "\(channel)")
    #expect(output.counts.sanitized == 0, "\(channel)")
    for programme in channel.programmes {
        #expect(
            output.pictureCount[programme.serial, default: 0] == programme.decodablePictures.count,
            "programme \(programme.serial): \(channel)")
    }
    let fed = channel.programmes.reduce(0) { $0 + $1.sentPictures.count }
    let left = output.counts.picturesBeforeSync + output.counts.leadingPictures + output.counts.demux.undecodable
    #expect(output.pictures.count + left == fed, "all accounted: \(channel)")
    for (serial, off) in output.departures(of: channel.programmes) {
        #expect(abs(off) <= 25_000, "programme \(serial) is off by \(off) µs: \(channel)")
    }
    for (serial, missing) in output.missingSound(of: channel.programmes) {
        #expect(missing < 24, "programme \(serial) lacks \(missing) frames of sound: \(channel)")
    }
    guard channel.hasCompanion else { return }
    let other = TortureOutput(channel.inputs(aheadBy: 3, &random), hasAudioRendition: true, longest: channel.longest)
    #expect(other.bytes == output.bytes && other.counts == output.counts, "\(channel)")
}
