import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice

/// MPEG-2 video, published and then written as a transport stream, has the frames that it was made of.
@Suite struct MPEG2SpliceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let options: [String]
        /// Parts of the stream that are left out at its beginning, of eight.
        var skipped = 0
    }

    static let rows = [
        Row(testDescription: "P-frames alone", options: ["-g", "12"]),
        Row(testDescription: "B-frames in open groups", options: ["-g", "12", "-bf", "2"]),
        Row(
            testDescription: "interlaced, in closed groups",
            options: ["-g", "15", "-bf", "2", "-flags", "+ilme+ildct+cgop", "-sc_threshold", "1000000000"]),
        Row(testDescription: "joined inside an open group", options: ["-g", "12", "-bf", "2"], skipped: 3),
    ]

    @Test(arguments: rows) func framesAreThoseOfTheInput(_ row: Row) throws {
        let input = try OracleMedia.make(video: ["-c:v", "mpeg2video"] + row.options, audio: nil, seconds: 8)
        let parts = Self.parts(of: input)
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0))
        var published: [SplicedSegment] = []
        for (number, part) in parts.enumerated().dropFirst(row.skipped) {
            published += try engine.handle(
                .segment(SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: part)))
        }
        published += try engine.handle(.ended(.main))
        let movie = (published.first?.initSection.bytes ?? []) + published.flatMap(Self.file)
        var stream: [UInt8] = []
        for segment in published {
            let media = try TransportMedia(fragment: Self.file(of: segment)[...], audio: nil, lasting: segment.duration)
            var buffer: [UInt8] = []
            stream +=
                TransportStreamMuxer(TransportProgram(video: .mpeg2, audio: .aac), audioChanges: 0)
                .segment(media, in: &buffer).bytes
        }
        let expected = try Self.frames(of: input)
        let outputs = try [movie, stream].map(Self.frames)
        for frames in outputs {
            #expect(frames == Array(expected.suffix(frames.count)))
            #expect(row.skipped == 0 ? frames.count == expected.count : frames.count > expected.count / 2)
        }
        #expect(outputs[0].count == outputs[1].count)
        #expect(published.first?.description.video?.codec == "mp4v.61")
    }

    /// Eight parts, each from the beginning of a PES packet of the video on.
    private static func parts(of stream: [UInt8]) -> [[UInt8]] {
        let starts = stride(from: 0, to: stream.count, by: 188).filter { offset in
            let packet = TransportPacket(stream, at: offset)
            return packet.startsUnit && packet.pid == 0x100
        }
        let cuts = [0] + (1..<8).map { starts[starts.count * $0 / 8] } + [stream.count]
        return zip(cuts, cuts.dropFirst()).map { Array(stream[$0..<$1]) }
    }

    private static func file(of segment: SplicedSegment) -> [UInt8] {
        segment.fragment.header + segment.fragment.payloads.joined()
    }

    /// Digests of the decoded frames. Any error of the decoder is one of the test.
    private static func frames(of bytes: [UInt8]) throws -> [String] {
        let answer = try FFmpegTool.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "error", "-i", "INPUT", "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5",
                "-",
            ],
            input: bytes)
        #expect(answer.errors.isEmpty)
        return answer.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { String($0.drop { $0 == " " }) } }
    }
}
