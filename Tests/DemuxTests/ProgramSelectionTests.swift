import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Selection of the program and streams of a transport stream, and the description of the others.
@Suite struct ProgramSelectionTests {
    typealias Builder = TransportStreamBuilder
    typealias Stream = TransportStreamBuilder.Stream
    typealias Sample = ElementarySamples

    static let video = Stream(pid: 0x100, type: 0x1B)
    static let audio = Stream(pid: 0x101, type: 0x0F)

    static func registration(_ identifier: String) -> [UInt8] { [0x05, 4] + Array(identifier.utf8) }

    static func language(_ code: String, audioType: UInt8 = 0) -> [UInt8] {
        [0x0A, 4] + Array(code.utf8) + [audioType]
    }

    /// One program of a multiplex and its streams.
    struct Program: Sendable {
        let number: UInt16
        let streams: [Stream]
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        /// The programs in the tables of each segment, in the order of the PAT.
        let segments: [[Program]]
        var tracks = TrackSelection.both
        /// Program and PIDs that are followed at the end of each segment.
        let follows: [(program: UInt16, pids: [UInt16])]

        var testDescription: String { when }
    }

    private static let first = Program(number: 1, streams: [video, audio])
    private static let second = Program(
        number: 2, streams: [Stream(pid: 0x200, type: 0x1B), Stream(pid: 0x201, type: 0x0F)])
    private static let radio = Program(number: 3, streams: [Stream(pid: 0x301, type: 0x0F)])

    static let rows = [
        Row(when: "the first with video", segments: [[radio, first, second]], follows: [(1, [0x100, 0x101])]),
        Row(
            when: "kept while it is listed, whatever precedes it",
            segments: [[first, second], [second, first]], follows: [(1, [0x100, 0x101]), (1, [0x100, 0x101])]),
        Row(
            when: "it leaves the PAT: the program with its streams",
            segments: [
                [first, second], [second, Program(number: 7, streams: [audio, video])],
            ], follows: [(1, [0x100, 0x101]), (7, [0x100, 0x101])]),
        Row(
            when: "it leaves the PAT and no program has its streams: the next",
            segments: [[first, second], [radio, second]], follows: [(1, [0x100, 0x101]), (2, [0x200, 0x201])]),
        Row(
            when: "it lists only audio for a while: no other program replaces it",
            segments: [[first, second], [Program(number: 1, streams: [audio]), second], [first, second]],
            follows: [(1, [0x100, 0x101]), (1, [0x101]), (1, [0x100, 0x101])]),
        Row(
            when: "its video moves to another PID",
            segments: [
                [first, second], [Program(number: 1, streams: [Stream(pid: 0x110, type: 0x24), audio]), second],
            ], follows: [(1, [0x100, 0x101]), (1, [0x110, 0x101])]),
        Row(
            when: "a companion follows the first program with audio",
            segments: [[Program(number: 4, streams: [video]), radio]],
            tracks: .audio, follows: [(3, [0x301])]),
        Row(
            when: "main audio before audio description",
            segments: [
                [
                    Program(
                        number: 1,
                        streams: [
                            video, Stream(pid: 0x102, type: 0x0F, descriptors: language("eng", audioType: 3)),
                            Stream(pid: 0x103, type: 0x0F, descriptors: language("eng")),
                        ])
                ]
            ], follows: [(1, [0x100, 0x103])]),
        Row(
            when: "main audio before supplementary audio",
            segments: [
                [
                    Program(
                        number: 1,
                        streams: [
                            video, Stream(pid: 0x102, type: 0x0F, descriptors: [0x7F, 2, 0x06, 0b0000_0110]),
                            Stream(pid: 0x103, type: 0x0F),
                        ])
                ]
            ], follows: [(1, [0x100, 0x103])]),
        Row(
            when: "audio in a codec that is not supported is passed over",
            segments: [
                [Program(number: 1, streams: [video, Stream(pid: 0x102, type: 0x8A), Stream(pid: 0x103, type: 0x81)])]
            ], follows: [(1, [0x100, 0x103])]),
        Row(
            when: "two languages: the first listed",
            segments: [
                [
                    Program(
                        number: 1,
                        streams: [
                            video, Stream(pid: 0x102, type: 0x0F, descriptors: language("deu")),
                            Stream(pid: 0x103, type: 0x0F, descriptors: language("eng")),
                        ])
                ]
            ], follows: [(1, [0x100, 0x102])]),
        Row(
            when: "unsupported video: its audio is followed",
            segments: [
                [Program(number: 1, streams: [Stream(pid: 0x100, type: 0x01), audio])]
            ], follows: [(1, [0x101])]),
    ]

    @Test(arguments: rows)
    func follows(row: Row) throws {
        var demuxer = TransportDemuxer(tracks: row.tracks)
        for (programs, expected) in zip(row.segments, row.follows) {
            let output = try demuxer.feed(Self.tables(programs))
            let program = try #require(output.program)
            #expect(program.programNumber == expected.program)
            #expect(program.streams.map(\.pid) == expected.pids)
            #expect(Set(program.otherPrograms) == Set(programs.map(\.number)).subtracting([expected.program]))
            #expect(program.listed.filter(\.isFollowed).map(\.pid).sorted() == expected.pids.sorted())
        }
    }

    private static func tables(_ programs: [Program]) -> [UInt8] {
        var builder = Builder()
        builder.association(programs.map { ($0.number, 0x1000 + $0.number) })
        for program in programs.reversed() {
            builder.map(program.streams, program: program.number, mapPID: 0x1000 + program.number)
        }
        return builder.cut()
    }

    /// The first PMT need not be that of the followed program.
    @Test func framesOfOtherProgramsAreDropped() throws {
        var builder = Builder()
        builder.association([(3, 0x1003), (1, 0x1001)])
        builder.map(Self.radio.streams, program: 3, mapPID: 0x1003)
        builder.pes(pid: 0x301, streamID: 0xC0, pts: 0, Sample.adts(1) + Sample.adts(2))
        builder.map([Self.video, Self.audio], program: 1, mapPID: 0x1001)
        builder.pes(pid: 0x100, pts: 0, Sample.idr(1))
        builder.pes(pid: 0x101, streamID: 0xC0, pts: 0, Sample.adts(3) + Sample.adts(4))
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.video.count == 1)
        #expect(output.audio.map { $0.payload.last } == [3, 4])
        #expect(output.counts[.otherPackets] == 2)
    }

    /// Repeated tables must not fill the memory.
    @Test func repeatedPATIsOneTable() throws {
        var builder = Builder()
        for _ in 0..<500 { builder.association([(1, 0x1000), (1, 0x1000)]) }
        builder.map([Self.video], program: 1, mapPID: 0x1000)
        builder.pes(pid: 0x100, Sample.idr(1))
        var demuxer = TransportDemuxer()
        #expect(try demuxer.feed(builder.cut()).program?.otherPrograms == [])
    }

    static let names: [(stream: Stream, name: String?)] = [
        (Stream(pid: 9, type: 0x02), "MPEG-2 video"), (Stream(pid: 9, type: 0x33), "VVC"),
        (Stream(pid: 9, type: 0x42), "AVS video"), (Stream(pid: 9, type: 0x21), "JPEG 2000"),
        (Stream(pid: 9, type: 0xD4), "AVS3 video"), (Stream(pid: 9, type: 0x15), "timed ID3"),
        (Stream(pid: 9, type: 0x06, descriptors: registration("AV01")), "AV1"),
        (Stream(pid: 9, type: 0x06, descriptors: registration("KLVA")), "KLV"),
        (Stream(pid: 9, type: 0x06, descriptors: registration("XyZ1")), "“XyZ1”"),
        (Stream(pid: 9, type: 0x06, descriptors: [0x05, 4, 0x41, 0x0A, 0x1B, 0x42]), "“A..B”"),
        (Stream(pid: 9, type: 0x06, descriptors: [0x56, 0]), "DVB teletext"),
        (Stream(pid: 9, type: 0x06, descriptors: [0x59, 0]), "DVB subtitles"),
        (Stream(pid: 9, type: 0x06), nil), (Stream(pid: 9, type: 0xF3), nil),
    ]

    static let unsupported: [(stream: Stream, name: String)] = [
        (Stream(pid: 9, type: 0x82), "DTS"), (Stream(pid: 9, type: 0x8A), "DTS"),
        (Stream(pid: 9, type: 0x06, descriptors: registration("DTS2")), "DTS"),
        (Stream(pid: 9, type: 0x06, descriptors: [0x7B, 1, 0]), "DTS"),
        (Stream(pid: 9, type: 0x06, descriptors: registration("BSSD")), "PCM (SMPTE 302M)"),
        (Stream(pid: 9, type: 0x83), "TrueHD"), (Stream(pid: 9, type: 0x06, descriptors: registration("AC-4")), "AC-4"),
    ]

    @Test("Audio in a codec that is not supported is named and not followed", arguments: unsupported)
    func unsupportedAudio(stream: Stream, name: String) throws {
        var (demuxer, builder) = (TransportDemuxer(), Builder())
        builder.tables([Self.video, stream])
        builder.pes(pid: 0x100, Sample.idr(1))
        let output = try demuxer.feed(builder.cut())
        #expect(output.program?.unsupportedAudio == [name])
        #expect(output.program?.audio == nil && !output.declaresAudio)
    }

    @Test("Stream type 0x82 of a registered program is subtitles") func subtitlesOfCableSystems() {
        let program = StreamDescriptors(Self.registration("SCTE")[...])
        let format = ElementaryStreamFormat(streamType: 0x82, StreamDescriptors([]), program: program)
        #expect(format.content == .other && format.name == "SCTE 27 subtitles")
    }

    /// Streams that are not followed are named and counted, and do not disturb the others.
    @Test(arguments: names)
    func unfollowedStreamsAreNamedAndCounted(stream: Stream, name: String?) throws {
        var builder = Builder()
        builder.tables([Self.video, stream])
        builder.pes(pid: 0x100, Sample.idr(1))
        for _ in 0..<3 { builder.pes(pid: 9, streamID: 0xBD, pts: 0, [UInt8](repeating: 0x47, count: 300)) }
        builder.pes(pid: 0x100, Sample.plain(2))
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.video.count == 2)
        var demuxer = TransportDemuxer()
        var tables = Builder()
        tables.tables([Self.video, stream])
        let program = try demuxer.feed(tables.cut()).program
        #expect(program?.listed.map(\.name) == ["H.264", name])
    }

    @Test func packetsCountedAsUnfollowed() throws {
        var builder = Builder()
        builder.tables([Self.video, Stream(pid: 0x29, type: 0x06)])
        builder.pes(pid: 0x100, Sample.idr(1))
        builder.packet(pid: 0x29, payload: [1])  // listed
        builder.packet(pid: 0x777, payload: [1])  // listed by no table
        builder.packet(pid: 0x11, payload: [1])  // a service description table
        builder.packet(pid: 0x1FFF, payload: [1])  // null
        let output = try TransportDemuxer.all([builder.cut()])
        #expect(output.counts[.otherPackets] == 2)
    }
}
