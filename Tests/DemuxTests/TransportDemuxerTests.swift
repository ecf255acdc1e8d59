import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Resets, refusals, stream selection and timestamps of the transport stream demuxer.
@Suite struct TransportDemuxerTests {
    typealias Builder = TransportStreamBuilder
    typealias Sample = ElementarySamples

    @Test func resetEmitsCompleteFramesAndForgetsTheProgram() throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video])
        builder.packets(pid: 0x100, Builder.pesPacket(pts: nil, Sample.idr(1, size: 146)))
        var demuxer = TransportDemuxer()
        #expect(try demuxer.feed(builder.cut()).video.isEmpty)
        let held = try demuxer.reset()
        #expect(held.video.map { $0.payload.last } == [0x11])
        #expect(held.counts[.abandonedUnits] == 0)
        // After a reset the tables apply from the first byte, even if they come late.
        builder.pes(pid: 0x200, Sample.idr(2))
        builder.map([Builder.Stream(pid: 0x200, type: 0x1B)], mapPID: 0x1100)
        builder.association([(1, 0x1100)])
        #expect(try demuxer.feed(builder.cut()).video.map { $0.payload.last } == [0x12])
    }

    @Test func resetCountsIncompleteFrames() throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video, TransportRuleTests.audio])
        let unit = Builder.pesPacket(pts: 0, isBounded: true, Sample.idr(1, size: 450))
        builder.packets(pid: 0x100, Array(unit.prefix(368)))
        builder.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(1) + Sample.adts(2).prefix(50))
        var demuxer = TransportDemuxer()
        #expect(try demuxer.feed(builder.cut()).audio.count == 1)
        let held = try demuxer.reset()
        #expect(held.video.isEmpty && held.audio.isEmpty)
        #expect(held.counts[.abandonedUnits] == 2)
    }

    @Test func resetForgetsParameterSets() throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video])
        builder.pes(pid: 0x100, Sample.idr(1))
        var demuxer = TransportDemuxer()
        _ = try demuxer.feed(builder.cut())
        _ = try demuxer.reset()
        builder.tables([TransportRuleTests.video])
        builder.pes(pid: 0x100, Sample.plain(2))
        let next = try demuxer.feed(builder.cut())
        #expect(next.video.isEmpty)
        #expect(next.counts[.undecodableUnits] == 1)
    }

    static let refusals: [(when: String, types: [UInt8], reason: MediaError.Reason)] = [
        ("sample encryption of H.264", [0xDB, 0xCF], .sampleEncryption(streamType: 0xDB)),
        ("sample encryption of audio only", [0x1B, 0xC1], .sampleEncryption(streamType: 0xC1)),
        (
            "unsupported streams are named", [0x01, 0x86, 0xFF],
            .noSupportedStream(streamTypes: [0x01, 0x86, 0xFF], names: ["MPEG-1 video", "SCTE-35", "unknown"])
        ),
    ]

    @Test(arguments: refusals)
    func refusal(when: String, types: [UInt8], reason: MediaError.Reason) throws {
        var builder = Builder()
        builder.tables(types.enumerated().map { Builder.Stream(pid: 0x100 + UInt16($0), type: $1) })
        builder.pes(pid: 0x100, Sample.idr(1))
        builder.pes(pid: 0x100, Sample.idr(1))
        var demuxer = TransportDemuxer()
        let segment = builder.cut()
        let error = #expect(throws: MediaError.self, "\(when)") { try demuxer.feed(segment) }
        #expect(error?.reason == reason)
    }

    @Test func htmlPageIsNoTransportStream() {
        var demuxer = TransportDemuxer()
        let page = Array("<html>GGGGGGG</html>".utf8)
        let error = #expect(throws: MediaError.self) { try demuxer.feed(page) }
        #expect(error?.reason == .unknownContainer(firstBytes: Array(page.prefix(16))))
    }

    static let types: [(when: String, stream: Builder.Stream, kind: ElementaryStreamKind)] = [
        ("H.264", Builder.Stream(pid: 1, type: 0x1B), .video(.h264)),
        ("HEVC", Builder.Stream(pid: 1, type: 0x24), .video(.hevc)),
        ("ADTS", Builder.Stream(pid: 1, type: 0x0F), .audio(.mpeg)),
        ("MPEG-1 audio", Builder.Stream(pid: 1, type: 0x03), .audio(.mpeg)),
        ("AC-3 by its ATSC stream type", Builder.Stream(pid: 1, type: 0x81), .audio(.ac3)),
        (
            "AC-3 by its DVB descriptor", Builder.Stream(pid: 1, type: 0x06, descriptors: [0x0A, 0, 0x6A, 1, 0]),
            .audio(.ac3)
        ),
        ("E-AC-3 by its DVB descriptor", Builder.Stream(pid: 1, type: 0x06, descriptors: [0x7A, 0]), .audio(.ac3)),
        (
            "E-AC-3 by its registration",
            Builder.Stream(pid: 1, type: 0x06, descriptors: [5, 4] + Array("EAC3".utf8)), .audio(.ac3)
        ),
        (
            "HEVC by its registration", Builder.Stream(pid: 1, type: 0x06, descriptors: [5, 4] + Array("HEVC".utf8)),
            .video(.hevc)
        ),
    ]

    @Test(arguments: types)
    func streamType(when: String, stream: Builder.Stream, kind: ElementaryStreamKind) throws {
        var builder = Builder()
        builder.tables([stream, Builder.Stream(pid: 9, type: 0x06), Builder.Stream(pid: 8, type: 0x15)])
        var demuxer = TransportDemuxer()
        _ = try demuxer.feed(
            builder.cut()
                + Array(repeating: [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0, count: 184), count: 2).joined())
        #expect(demuxer.selection?.streams.map(\.kind) == [kind], "\(when)")
        #expect(demuxer.selection?.listed.map(\.isFollowed) == [true, false, true])
    }

    @Test(arguments: [(TrackSelection.video, 1, 0), (.audio, 0, 2), (.both, 1, 2)])
    func tracks(selection: TrackSelection, video: Int, audio: Int) throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video, TransportRuleTests.audio])
        builder.pes(pid: 0x100, Sample.idr(1))
        builder.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(1) + Sample.adts(2))
        let output = try TransportDemuxer.all([builder.cut()], tracks: selection)
        #expect(output.video.count == video)
        #expect(output.audio.count == audio)
        #expect(output.video.allSatisfy { $0.pid == 0x100 } && output.audio.allSatisfy { $0.pid == 0x101 })
    }

    static let times: [(when: String, pts: Int64?, dts: Int64?)] = [
        ("none", nil, nil), ("PTS only: it is the DTS too", 5, nil), ("both", 90_000, 84_000),
        ("all 33 bits", (1 << 33) - 1, (1 << 33) - 2),
        ("each part separately", 5 << 30 | 3 << 15 | 1, 2 << 30 | 1 << 29),
    ]

    @Test(arguments: times)
    func timestamps(when: String, pts: Int64?, dts: Int64?) throws {
        var builder = Builder()
        builder.tables([TransportRuleTests.video])
        builder.pes(pid: 0x100, pts: pts, dts: dts, Sample.idr(1))
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.video.map { $0.pts?.count } == [pts], "\(when)")
        #expect(output.video.map { $0.dts?.count } == [dts ?? pts], "\(when)")
    }

    @Test func wrongMarkerBitMeansNoTimestamp() {
        var packet = Builder.pesPacket(pts: 90_000, [1, 2, 3])
        packet[11] &= 0xFE
        guard case .header(let header) = PESHeader.read(packet[...]) else {
            Issue.record("expected a header despite the wrong marker bit")
            return
        }
        #expect(header.pts == nil)
    }

    /// Random bytes never trap, and packets are no larger than their input.
    @Test(arguments: 0..<40)
    func noiseDoesNotTrap(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var builder = Builder()
        builder.tables([TransportRuleTests.video, TransportRuleTests.audio])
        for fill in 0..<20 {
            builder.pes(pid: 0x100, pts: 0, fill.isMultiple(of: 5) ? Sample.idr(1) : Sample.plain(2))
            builder.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(1) + Sample.adts(2))
        }
        var bytes = builder.cut()
        for _ in 0..<(1 << Int.random(in: 2...10, using: &random)) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        var demuxer = TransportDemuxer()
        do {
            let output = try demuxer.feed(bytes)
            #expect(output.video.reduce(0) { $0 + $1.payload.count } <= 2 * bytes.count)
        } catch {
            #expect(error.section.isEmpty == false)
        }
        _ = try demuxer.finish()
    }
}

/// A multiplexer that never advances the continuity counter tells nothing of losses.
@Test func standingContinuityCounterIsNoLoss() throws {
    var builder = TransportStreamBuilder()
    builder.tables([TransportRuleTests.audio])
    for index in 0..<20 {
        var frame = ElementarySamples.adts(UInt8(index), size: 700)
        // Packets of equal payloads would be duplicates.
        for offset in 7..<frame.count { frame[offset] = UInt8((offset + offset / 184) & 0x7F) }
        builder.pes(pid: 0x101, streamID: 0xC0, pts: Int64(index) * 1920, frame)
    }
    var bytes = builder.cut()
    var first = TransportDemuxer()
    let counted = try first.feed(bytes).audio.count + first.finish().audio.count
    for offset in stride(from: 0, to: bytes.count, by: 188) { bytes[offset + 3] &= 0xF0 }
    var demuxer = TransportDemuxer()
    let standing = try demuxer.feed(bytes).audio.count + demuxer.finish().audio.count
    #expect(counted == 20 && standing >= 18, "the first frames show that it stands")
}
