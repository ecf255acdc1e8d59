import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// The audio tracks of a program: which one leads, and which ones are followed beside it.
@Suite struct AudioTrackSelectionTests {
    typealias Stream = TransportStreamBuilder.Stream

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var choice = "all"
        /// The audio streams in the tables of each segment.
        let segments: [[Stream]]
        /// The PID that leads, and the others with what they are, after the last segment.
        let leading: UInt16
        let further: [UInt16: String]

        var testDescription: String { when }
    }

    private static func audio(_ pid: UInt16, _ language: String?, type: UInt8 = 0) -> Stream {
        let descriptors = language.map { ProgramSelectionTests.language($0, audioType: type) } ?? []
        return Stream(pid: pid, type: 0x0F, descriptors: descriptors)
    }

    static let rows: [Row] = [
        Row(
            when: "three languages", segments: [[audio(0x101, "eng"), audio(0x102, "ger"), audio(0x103, "fra")]],
            leading: 0x101, further: [0x102: "de.0.0", 0x103: "fr.0.0"]),
        Row(
            when: "two tracks of one language, one with a description, one without a language",
            segments: [[audio(0x101, "eng"), audio(0x102, "eng"), audio(0x103, "eng", type: 3), audio(0x104, nil)]],
            leading: 0x101, further: [0x102: "en.0.1", 0x103: "en.3.0", 0x104: "und.0.0"]),
        Row(
            when: "the leading track alone", choice: "default",
            segments: [[audio(0x101, "eng"), audio(0x102, "deu")]], leading: 0x101, further: [:]),
        Row(
            when: "languages that are asked for", choice: "fr,en",
            segments: [[audio(0x101, "eng"), audio(0x102, "deu"), audio(0x103, "fra")]], leading: 0x103,
            further: [0x101: "en.0.0"]),
        Row(
            when: "other PIDs after a splice",
            segments: [
                [audio(0x101, "eng"), audio(0x102, "deu")], [audio(0x201, "eng"), audio(0x202, "deu")],
            ], leading: 0x201, further: [0x202: "de.0.0"]),
        Row(
            when: "the order changes, so the PID that led has another language",
            segments: [[audio(0x101, "eng"), audio(0x102, "deu")], [audio(0x101, "deu"), audio(0x102, "eng")]],
            leading: 0x102, further: [0x101: "de.0.0"]),
        Row(
            when: "the language that led is not there",
            segments: [
                [audio(0x101, "eng"), audio(0x102, "deu")], [audio(0x101, "deu"), audio(0x102, "fra")],
            ], leading: 0x101, further: [0x102: "fr.0.0"]),
        Row(
            when: "more than a channel has", segments: [(0..<20).map { audio(0x101 + $0, "eng") }], leading: 0x101,
            further: Dictionary(uniqueKeysWithValues: (1...8).map { (0x101 + UInt16($0), "en.0.\($0)") })),
    ]

    @Test(arguments: rows)
    func tracksOfATransportStream(_ row: Row) throws {
        var demuxer = TransportDemuxer(audio: try #require(AudioTrackChoice(row.choice)))
        var output = DemuxedSegment()
        for streams in row.segments {
            var builder = TransportStreamBuilder()
            builder.tables([ProgramSelectionTests.video] + streams)
            builder.pes(pid: 0x100, ElementarySamples.idr(1))
            output = try demuxer.feed(builder.cut())
        }
        #expect(output.program?.audio?.pid == row.leading)
        let further = output.program?.furtherAudio.map { ($0.pid, $0.furtherTrack?.text ?? "") } ?? []
        #expect(Dictionary(uniqueKeysWithValues: further) == row.further)
    }
}
