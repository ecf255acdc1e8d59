import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Splice
@testable import Transcode

/// Segments and sections after a prefix, and sections of transport streams, as a rendition demuxes them.
@Suite struct SegmentPrefixTests {
    private static let multiplex = EndlessMultiplex(seconds: 4)
    private static let title = ID3Sample.tag(ID3Sample.title)
    private static let picture = [0x89] + Array("PNG\r\n".utf8) + [UInt8](repeating: 0x11, count: 3000)

    private static func demux(
        _ segments: [[UInt8]], initialization: [UInt8]? = nil, audio choice: AudioTrackChoice = .leading
    ) throws -> (packets: DemuxedSegment, counts: SpliceCounts) {
        var demuxer = RenditionDemuxer(tracks: .both, audio: choice, audioStage: AudioTranscodeStage(.copy))
        var whole = DemuxedSegment()
        for (index, bytes) in segments.enumerated() {
            let input = SegmentInput(
                rendition: .main, mediaSequence: UInt64(index), initialization: initialization, bytes: bytes)
            let demuxed = try demuxer.demux(input)
            whole.append(demuxed.flushed)
            whole.append(demuxed.packets)
        }
        whole.append(try demuxer.finish())
        return (whole, demuxer.counts)
    }

    private static let parts: [[UInt8]] = (0..<4).map { second in
        Array(multiplex.bytes[multiplex.part(Double(second), Double(second) + 1)])
    }

    static let prefixes: [(when: String, bytes: [UInt8], tags: Int, junk: Int)] = [
        ("no prefix", [], 0, 0), ("an ID3 tag", title, 1, 0),
        ("two ID3 tags", ID3Sample.tag(ID3Sample.timestamp(900_000)) + title, 1, 0),
        ("a picture's header", picture, 0, picture.count),
        ("a tag and a picture's header", title + picture, 1, picture.count),
    ]

    @Test("A prefix before each segment of a transport stream costs no frame", arguments: prefixes.indices)
    func transportStream(_ index: Int) throws {
        let (when, prefix, tags, junk) = Self.prefixes[index]
        let (packets, counts) = try Self.demux(Self.parts.map { prefix + $0 })
        #expect(packets.video.count == 100 && packets.audio.count == 100, "\(when)")
        #expect(packets.metadata.map(\.content) == Array(repeating: .id3(Self.title), count: tags * 4), "\(when)")
        // The parts begin and end inside packets.
        let plain = try Self.demux(Self.parts).counts.demux
        #expect(counts.demux[.bytesOutOfSync] == plain[.bytesOutOfSync] + junk * 4, "\(when)")
        #expect(counts.demux[.transportErrors] == plain[.transportErrors], "\(when)")
    }

    @Test("A prefix before each fragment and its section costs no frame", arguments: prefixes.indices)
    func fragmentedMP4(_ index: Int) throws {
        let (when, prefix, tags, junk) = Self.prefixes[index]
        let fragment = MovieBuilder.fragment([
            .init(runs: [(0x301, [.init(duration: 3600, payload: [0, 0, 0, 3, 0x65, 0x88, 0x84])])])
        ])
        let (packets, counts) = try Self.demux(
            [prefix + fragment, prefix + fragment], initialization: prefix + MovieBuilder.initialization([.init()]))
        #expect(packets.video.count == 2 && packets.metadata.count == 2 * tags, "\(when)")
        #expect(counts.demux[.bytesOutOfSync] == 2 * junk && counts.demux[.badBoxes] == 0, "\(when)")
    }

    @Test("Opus of a transport stream becomes AAC, as that of fragmented MP4 does")
    func opusIsTranscoded() throws {
        var builder = TransportStreamBuilder()
        let opus = Array("Opus".utf8)
        builder.tables([
            .init(pid: 0x100, type: 0x1B),
            .init(pid: 0x101, type: 6, descriptors: [5, 4] + opus + [0x7F, 2, 0x80, 2]),
        ])
        builder.pes(pid: 0x100, pts: 900_000, ElementarySamples.idr(1))
        for index in 0..<50 {
            builder.pes(
                pid: 0x101, streamID: 0xBD, pts: 900_000 + Int64(index) * 1800, isBounded: true,
                [0x7F, 0xE0, 3, 0xFC, 0xFF, 0xFE])
        }
        let (packets, counts) = try Self.demux([builder.cut()])
        #expect(packets.audio.allSatisfy { $0.configuration.codec == .aac && $0.configuration.sampleRate == 48_000 })
        #expect((46...49).contains(packets.audio.count), "\(packets.audio.count)")
        #expect(counts.demux[.undecodableUnits] == 0)
    }
}
