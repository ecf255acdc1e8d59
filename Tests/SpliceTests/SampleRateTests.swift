import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice

/// Sample rates that a stream states itself, with 24 bits: AudioSpecificConfig in LATM and in `esds`.
@Suite struct SampleRateTests {
    static let rows: [(when: String, rate: Int, isAccepted: Bool)] = [
        ("nothing", 0, false), ("1 Hz", 1, false), ("2 Hz", 2, false), ("3 Hz", 3, false),
        ("just too low", 3_999, false), ("the lowest", 4_000, true), ("the lowest of AAC", 7_350, true),
        ("an unusual one", 50_000, true), ("the highest", 768_000, true), ("just too high", 768_001, false),
        ("all bits", 0xFF_FFFF, false),
    ]

    @Test(arguments: rows) func latm(when: String, rate: Int, isAccepted: Bool) throws {
        var buffer = ElementaryBuffer()
        buffer.startPacket(pts: .zero, dts: nil)
        for _ in 0..<4 { buffer.bytes += Self.element(rate: rate) }
        var framer = AudioFramer(pid: 0x101, framing: .loas)
        var counts = Counts<DemuxCount>()
        let packets = try framer.frame(&buffer, isClosed: true, counts: &counts)
        #expect(packets.map(\.configuration.sampleRate.hertz) == Array(repeating: rate, count: isAccepted ? 4 : 0))
        #expect(counts[.undecodableUnits] == (isAccepted ? 0 : 4))
        guard let configuration = packets.first?.configuration else { return }
        var writer = AudioSampleWriter(
            configuration: configuration, silence: nil, fillsGaps: false, next: 0, limit: .max / 2)
        let isWritten = writer.write([1], after: 0)
        #expect(isWritten)
        #expect(writer.samples.map(\.duration) == [UInt32(14_112_000 * 1024 / rate)])
        #expect(packets.last?.pts == Ticks(samples: 3 * 1024, sampleRate: configuration.sampleRate))
    }

    @Test(arguments: rows) func decoderSpecificInfo(when: String, rate: Int, isAccepted: Bool) {
        var bits = BitWriter()
        Self.appendConfiguration(rate: rate, to: &bits)
        let read = try? AudioSpecificConfig(bits.bytes)
        #expect(read?.samplingFrequency.hertz == (isAccepted ? rate : nil))
    }

    /// The longest frame lasts 16 s at the lowest rate, and its duration has 32 bits.
    @Test func everyFrameHasADurationOf32Bits() {
        let (longest, lowest) = (AudioConfiguration.frameLengths.upperBound, SampleRate.range.lowerBound)
        #expect(TrackTimescale.audio * Int64(longest) / Int64(lowest) < UInt32.max)
    }

    /// A LOAS frame with a StreamMuxConfig and one byte of audio.
    private static func element(rate: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.append(0, bits: 1)  // useSameStreamMux
        bits.append(0, bits: 1)  // audioMuxVersion
        bits.append(1, bits: 1)  // allStreamsSameTimeFraming
        bits.append(0, bits: 6 + 4 + 3)  // numSubFrames, numProgram, numLayer
        appendConfiguration(rate: rate, to: &bits)
        bits.append(0, bits: 3)  // frameLengthType
        bits.append(0xFF, bits: 8)  // latmBufferFullness
        bits.append(0, bits: 2)  // otherDataPresent, crcCheckPresent
        bits.append(1, bits: 8)  // the length of the payload
        bits.append(7, bits: 8)
        let element = bits.bytes
        return [0x56, 0xE0 | UInt8(element.count >> 8), UInt8(element.count & 0xFF)] + element
    }

    private static func appendConfiguration(rate: Int, to bits: inout BitWriter) {
        bits.append(2, bits: 5)  // AAC LC
        bits.append(15, bits: 4)
        bits.append(rate, bits: 24)
        bits.append(2, bits: 4)  // stereo
        bits.append(0, bits: 3)  // GASpecificConfig
    }
}
