import Media
import Support
import TestSupport
import Testing

@testable import Demux
@testable import MediaTestSupport
@testable import Splice

/// What the splice holds of media that waits for its audio.
struct HeldMediaTests {
    private func engine(heldBytes: Int) -> SpliceEngine {
        var configuration = SpliceConfiguration(
            hasAudioRendition: true, longestSegment: .seconds(6), wallClock: 0)
        configuration.heldBytes = heldBytes
        return SpliceEngine(configuration)
    }

    private static let rows: [(when: String, heldBytes: Int, written: [Int], releases: Int)] = [
        ("as much as the audio is waited for", 32 << 20, [0, 0, 0, 0, 0], 0),
        ("two segments", 250_000, [0, 0, 0, 4, 0], 1),
        ("less than one segment", 50_000, [0, 2, 0, 2, 0], 2),
    ]

    @Test(arguments: rows.indices) func videoIsReleasedBeyondTheLimit(_ index: Int) throws {
        let row = Self.rows[index]
        var engine = engine(heldBytes: row.heldBytes)
        let written = try CaptureFixture.clean.bodies("clean-").enumerated().map { number, body in
            let input = SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: body)
            return try engine.handle(.segment(input)).count
        }
        #expect(written == row.written, "\(row.when)")
        #expect(engine.counts[.earlyReleases] == row.releases)
        #expect(engine.warnings.contains(.mediaReleased) == (row.releases > 0))
    }

    @Test func audioThatWaitsIsDiscardedBeyondTheLimit() {
        let configuration = AudioConfiguration(
            codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: [0x11, 0x90])
        let packets = (0..<100).map { number in
            AudioPacket(
                pid: 1, configuration: configuration, pts: Ticks(Int64(number) * 1920), isDamaged: false,
                payload: [UInt8](repeating: 1, count: 100)[...])
        }
        var matcher = AudioVideoMatcher(isMuxed: false, byteLimit: 2500)
        for number in 0..<10 {
            matcher.beginSpan(after: .signaled)
            matcher.append(Array(packets[number * 10..<number * 10 + 10]), discontinuitySequence: UInt64(number))
        }
        #expect(matcher.audioSpans.count == 2)
        #expect(matcher.counts[.unmatchedAudioFrames] == 80)
        var queue = CompanionQueue(byteLimit: 2500)
        for number in 0..<10 { queue.append(.ended(Array(packets[number * 10..<number * 10 + 10]))) }
        #expect(queue.counts[.unmatchedAudioFrames] == 80)
    }

    @Test func unitsBeyondTheLimitAreNotFound() throws {
        let stream = [UInt8](Array(repeating: [0, 0, 1, 9], count: DemuxLimits.units + 5000).joined())
        var units: [NALUnit] = []
        try AnnexB.scan(stream, in: stream.indices, into: &units)
        #expect(units.count == DemuxLimits.units)
        units = []
        let sample = [UInt8](Array(repeating: [1, 9], count: DemuxLimits.units + 5000).joined())
        _ = LengthPrefixedNALUnits.scan(sample, in: sample.indices, lengthSize: 1, into: &units)
        #expect(units.count == DemuxLimits.units)
    }

    @Test func framesBeyondTheLimitAreDroppedAndCounted() throws {
        let (excess, limit) = (100, DemuxLimits.videoFrames)
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: .zero)
        let slices = (0..<limit + excess).map { _ in ElementarySamples.slice(1, isIDR: true, size: 4) }
        buffer.bytes += ElementarySamples.parameterSets + ElementarySamples.stream(slices)
        var framer = VideoFramer(pid: 0x100, codec: .h264)
        var counts = Counts<DemuxCount>()
        let frames = try framer.frame(&buffer, start: nil, ending: .closed(isPacketDue: false), counts: &counts)
        #expect(frames.count == limit && counts[.undecodableUnits] == excess)
        let audio = (0..<DemuxLimits.audioFrames + excess).flatMap { _ in ElementarySamples.adts(1) }
        var demuxer = PackedAudioDemuxer()
        let output = try demuxer.feed(
            ID3Sample.tag(ID3Sample.timestamp(0)) + audio)
        #expect(output.audio.count == DemuxLimits.audioFrames && output.counts[.undecodableUnits] == excess)
    }
}
