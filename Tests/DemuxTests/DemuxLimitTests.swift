import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// What a demuxer keeps of inputs beyond `DemuxLimits`.
@Suite struct DemuxLimitTests {
    typealias Builder = TransportStreamBuilder
    typealias Stream = TransportStreamBuilder.Stream
    typealias Sample = ElementarySamples

    private static let streams = [Stream(pid: 0x100, type: 0x1B), Stream(pid: 0x200, type: 0x1B)]

    @Test func lastOfTooManySelectionsApplies() throws {
        var (demuxer, builder) = (TransportDemuxer(), Builder())
        builder.tables([Self.streams[0]])
        for n in 1...301 { builder.map([Self.streams[n % 2]]) }
        builder.pes(pid: 0x100, pts: 0, Sample.idr(1))
        builder.pes(pid: 0x200, pts: 0, Sample.idr(2))
        let output = try demuxer.feed(builder.cut())
        #expect(output.program?.video?.pid == 0x200)
        #expect(output.video.map(\.pid) == [0x200])
        #expect(output.counts[.badSections] == 301 + 1 - DemuxLimits.selectionChanges)
        builder.pes(pid: 0x200, pts: 3600, Sample.idr(3))
        #expect(try demuxer.feed(builder.cut()).video.map(\.pid) == [0x200])
    }

    @Test func changedTablesBeyondTheLimitAreCounted() throws {
        var (demuxer, builder) = (TransportDemuxer(), Builder())
        builder.tables([Self.streams[0]])
        for n in 0..<2000 { builder.association([(1, 0x1000), (2, UInt16(0x1001 + n))]) }
        builder.pes(pid: 0x100, pts: 0, Sample.idr(1))
        let output = try demuxer.feed(builder.cut())
        #expect(output.counts[.badSections] == 2002 - DemuxLimits.tableChanges)
        #expect(output.video.count == 1)
    }

    @Test func firstProgramsOfALargePATAreKnown() throws {
        var (demuxer, builder) = (TransportDemuxer(), Builder())
        builder.association((1...400).map { (UInt16($0), UInt16($0 + 0x1000)) })
        for program: UInt16 in [256, 257] { builder.map([Self.streams[0]], program: program, mapPID: program + 0x1000) }
        builder.pes(pid: 0x100, pts: 0, Sample.idr(1))
        let program = try #require(try demuxer.feed(builder.cut()).program)
        #expect(program.programNumber == 256)
        #expect(program.otherPrograms.count == DemuxLimits.programs - 1)
    }

    @Test func metadataBeyondTheLimitIsCounted() throws {
        var (demuxer, builder) = (TransportDemuxer(), Builder())
        builder.tables([Self.streams[0], Stream(pid: 0x300, type: 0x15)])
        builder.pes(pid: 0x100, pts: 0, Sample.idr(1))
        for n in 0..<1500 { builder.pes(pid: 0x300, streamID: 0xBD, pts: Int64(n), Array("ID3".utf8)) }
        let output = try demuxer.feed(builder.cut())
        #expect(output.metadata.count == DemuxLimits.messages)
        #expect(output.counts[.excessEventMessages] == 1500 - DemuxLimits.messages)
    }

    /// Frames of E-AC-3 that extend another one: what is held is no larger than a frame, whatever comes after it.
    @Test func heldAudioIsNoLargerThanAFrame() throws {
        let (first, next) = (AudioAC3Tests.Frame().bytes, AudioAC3Tests.Frame(streamType: 1).bytes)
        var (framer, buffer) = (AudioFramer(pid: 0x101, framing: .ac3), ElementaryBuffer())
        var (counts, held) = (Counts<DemuxCount>(), [Int]())
        for segment in 0..<4 {
            buffer.startPacket(pts: .zero, dts: .zero)
            buffer.bytes += segment == 0 ? first : []
            for _ in 0..<(2 << 20) / next.count { buffer.bytes += next }
            _ = try framer.frame(&buffer, isClosed: false, counts: &counts)
            held.append(buffer.bytes.count)
        }
        #expect(held.allSatisfy { $0 <= first.count + AudioFrameSync.dependentLimit * next.count }, "\(held)")
    }

    /// A damaged slice may look like a parameter set; those that apply are not lost to it.
    @Test func parameterSetsHaveARoomOfTheirOwn() {
        var store = ParameterSetStore(codec: .h264)
        func insert(_ unit: [UInt8], _ kind: NALUnitRole.ParameterSet) -> Bool { store.insert(unit[...], kind) }
        #expect(insert(Sample.sequenceUnit(0), .sequence))
        let fill = [UInt8](repeating: 0x55, count: 15_000)
        #expect(!insert(Sample.pictureUnit(1) + fill + fill, .picture))
        // Exp-Golomb codes of 0 to 3, and of 4 below.
        let identifiers: [UInt8] = [0b1000_0000, 0b0100_0000, 0b0110_0000, 0b0010_0000]
        for id in identifiers { #expect(insert([0x68, id] + fill, .picture)) }
        store.beginAccessUnit()
        #expect(insert(Sample.sequenceUnit(0, fill: 7), .sequence))
        #expect(insert([0x68, 0b0010_1000] + fill, .picture))
        store.activate()
        #expect(store.configuration?.pictureParameterSets.count == 1)
        #expect(store.prefix.count <= ParameterSetStore.largestSize)
    }
}
