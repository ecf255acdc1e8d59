import Foundation
import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Packed audio and its timestamp (RFC 8216 §3.4), and detection of containers.
@Suite struct PackedAudioDemuxerTests {
    typealias Sample = ElementarySamples

    static let rows: [(when: String, head: [UInt8], pts: Int64)] = [
        ("only the timestamp", ID3Sample.tag(ID3Sample.timestamp(900_000)), 900_000),
        (
            "after a title, before padding",
            ID3Sample.tag(ID3Sample.title + ID3Sample.timestamp(5), padding: 100), 5
        ),
        ("in the second of two tags", ID3Sample.tag(ID3Sample.title) + ID3Sample.tag(ID3Sample.timestamp(7)), 7),
        ("in an ID3v2.3 tag", ID3Sample.tag(ID3Sample.timestamp(9), version: 3), 9),
        ("bits above the 33 are ignored", ID3Sample.tag(ID3Sample.timestamp(1 << 40 | 11)), 11),
    ]

    @Test(arguments: rows)
    func time(when: String, head: [UInt8], pts: Int64) throws {
        var demuxer = PackedAudioDemuxer()
        let output = try demuxer.feed(head + Sample.adts(1) + Sample.adts(2))
        #expect(output.audio.map { $0.pts?.count } == [pts, pts + 1920], "\(when)")
        #expect(output.audio.map { $0.payload.last } == [1, 2])
        #expect(output.audio.allSatisfy { $0.pid == 0 })
    }

    static let refusals: [(when: String, bytes: [UInt8], reason: MediaError.Reason)] = [
        ("no tag", Sample.adts(1), .missingTimestamp),
        ("a tag without the timestamp", ID3Sample.tag(ID3Sample.title) + Sample.adts(1), .missingTimestamp),
        (
            "no audio after the tag", ID3Sample.tag(ID3Sample.timestamp(1)) + [1, 2],
            .unknownContainer(firstBytes: [1, 2])
        ),
        ("nothing after the tag", ID3Sample.tag(ID3Sample.timestamp(1)), .unknownContainer(firstBytes: [])),
    ]

    @Test(arguments: refusals)
    func refusal(when: String, bytes: [UInt8], reason: MediaError.Reason) {
        var demuxer = PackedAudioDemuxer()
        let error = #expect(throws: MediaError.self, "\(when)") { try demuxer.feed(bytes) }
        #expect(error?.reason == reason)
    }

    static let containers: [(when: String, bytes: [UInt8], container: SegmentContainer?)] = [
        ("styp", [0, 0, 0, 24] + Array("stypmsdh".utf8), .fragmentedMP4),
        ("moof", [0, 0, 0, 24] + Array("moof1234".utf8), .fragmentedMP4),
        ("ID3", ID3Sample.tag(ID3Sample.timestamp(1)) + Sample.adts(1), .packedAudio),
        ("ADTS without a tag", Sample.adts(1) + Sample.adts(2), .packedAudio),
        (
            "sync bytes", Array(repeating: [0x47] + [UInt8](repeating: 0, count: 187), count: 3).flatMap(\.self),
            .transportStream
        ),
        (
            "sync bytes after junk",
            [9, 9, 9] + Array(repeating: [0x47] + [UInt8](repeating: 0, count: 187), count: 3).flatMap(\.self),
            .transportStream
        ),
        ("an HTML page", Array("<!DOCTYPE html><html><body>GGGG".utf8), nil), ("nothing", [], nil),
    ]

    /// Tags between frames are metadata, and the frames go on.
    static let tagRows: [(when: String, bytes: [UInt8], pts: [Int64], metadata: [Int64])] = [
        (
            "a tag between two frames",
            ID3Sample.tag(ID3Sample.timestamp(900)) + Sample.adts(1) + ID3Sample.tag(ID3Sample.title) + Sample.adts(2)
                + Sample.adts(3), [900, 2820, 4740],
            [2820]
        ),
        (
            "two tags in a row, and one at the end",
            ID3Sample.tag(ID3Sample.timestamp(0)) + Sample.adts(1) + ID3Sample.tag(ID3Sample.title)
                + ID3Sample.tag(ID3Sample.title) + Sample.adts(2) + ID3Sample.tag(ID3Sample.title, padding: 20),
            [0, 1920], [1920, 1920, 3840]
        ),
        (
            "a tag with another timestamp moves the clock",
            ID3Sample.tag(ID3Sample.timestamp(0)) + Sample.adts(1) + ID3Sample.tag(ID3Sample.timestamp(9000))
                + Sample.adts(2) + Sample.adts(3),
            [0, 9000, 10920], []
        ),
        (
            "bytes of a frame that look like a tag",
            ID3Sample.tag(ID3Sample.timestamp(0)) + Sample.adts(0x49).dropLast(10) + Array("ID3".utf8) + [
                4, 0, 0, 0, 0, 0, 10,
            ]
                + Sample.adts(2), [0, 1920], []
        ),
        (
            "an ID3v1 tag at the end",
            ID3Sample.tag(ID3Sample.timestamp(0)) + Sample.adts(1) + Sample.adts(2) + Array("TAG".utf8)
                + [UInt8](repeating: 32, count: 125),
            [0, 1920], []
        ),
        (
            "padding after the tag",
            ID3Sample.tag(ID3Sample.timestamp(0)) + [UInt8](repeating: 0, count: 700)
                + (1...5).flatMap { Sample.adts($0) },
            [0, 1920, 3840, 5760, 7680], []
        ),
    ]

    @Test(arguments: tagRows)
    func tagsBetweenFrames(when: String, bytes: [UInt8], pts: [Int64], metadata: [Int64]) throws {
        var demuxer = PackedAudioDemuxer()
        let output = try demuxer.feed(bytes)
        #expect(output.audio.map { $0.pts?.count } == pts, "\(when)")
        #expect(output.metadata.map { $0.time?.count } == metadata, "\(when)")
        #expect(output.metadata.allSatisfy { $0.content == .id3(ID3Sample.tag(ID3Sample.title)) }, "\(when)")
        #expect(output.counts == Counts<DemuxCount>(), "\(when)")
    }

    /// MP3 files as encoders write them, each with what ffmpeg reads of it.
    @Test(arguments: MP3File.all)
    func plainMP3Files(file: MP3File) throws {
        let bytes = file.lead + (try file.bytes())
        #expect(try LocatedMedia.find(in: bytes)?.container == .packedAudio, "\(file.name)")
        var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
        let output = try demuxer.feed(bytes)
        let oracle = try OracleDemuxer.packets(file.bytes(), container: "mp3")
        #expect(output.audio.map { Array($0.payload) } == oracle.map(\.bytes), "\(file.name): all but the header frame")
        #expect(output.counts == Counts<DemuxCount>(), "\(file.name)")
        let delay = try #require(output.audio.first?.pts).count
        #expect(((1 << 33) - delay) & ((1 << 33) - 1) == file.delay, "\(file.name)")
    }

    /// Files without timestamps follow one another without the padding at their ends.
    @Test func plainMP3FilesFollowOneAnother() throws {
        let file = try MP3File.all[0].bytes()
        var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
        let outputs = try (0..<3).map { _ in try demuxer.feed(file) }
        let starts = try outputs.map { ((try #require($0.audio.first?.pts)) + Ticks(MP3File.all[0].delay)).wire.count }
        for (index, start) in starts.enumerated() { #expect(abs(start - Int64(index) * 135_000) <= 3, "\(starts)") }
    }

    /// A packager may write the same header frame before each part of one stream.
    @Test func partOfAnMP3StreamHasNoDelay() throws {
        let file = try MP3File.all[0].bytes()
        let start = try ID3Tags(file).end
        let header = try #require(MP3HeaderFrame(file, at: start))
        #expect(header.delay == Ticks(2255))
        var demuxer = PackedAudioDemuxer(requiresTimestamp: false)
        let frames = try demuxer.feed(file).audio.map(\.payload)
        let rest = frames[20...].flatMap(\.self)
        let part = Array(file[..<header.end]) + rest
        #expect(try #require(MP3HeaderFrame(part, at: start)).delay == .zero)
        var other = PackedAudioDemuxer(requiresTimestamp: false)
        #expect(try other.feed(part).audio.first?.pts == .zero)
    }

    @Test(arguments: containers)
    func sniff(when: String, bytes: [UInt8], container: SegmentContainer?) throws {
        #expect(try LocatedMedia.find(in: bytes)?.container == container, "\(when)")
    }
}

/// An MP3 file as an encoder writes it.
struct MP3File: CustomTestStringConvertible, Sendable {
    let name: String
    var arguments: [String] = []
    /// Bytes before the file.
    var lead: [UInt8] = []
    /// Ticks from the first frame to the start of the audio.
    var delay: Int64 = 0

    var testDescription: String { name }

    static let all = [
        MP3File(name: "44.1 kHz stereo with a Xing frame", arguments: ["-b:a", "128k"], delay: 2255),
        MP3File(name: "variable bit rate", arguments: ["-q:a", "4"], delay: 2255),
        MP3File(name: "mono, with a title", arguments: ["-ac", "1", "-metadata", "title=x"], delay: 2255),
        MP3File(name: "22.05 kHz", arguments: ["-ar", "22050"], delay: 4510),
        MP3File(name: "22.05 kHz mono", arguments: ["-ar", "22050", "-ac", "1"], delay: 4510),
        MP3File(name: "11.025 kHz (MPEG-2.5)", arguments: ["-ar", "11025"], delay: 9020),
        MP3File(name: "no Xing frame, no tag", arguments: ["-write_xing", "0", "-id3v2_version", "0"]),
        MP3File(name: "a tag of both versions", arguments: ["-write_id3v1", "1", "-metadata", "title=x"], delay: 2255),
        MP3File(
            name: "the rest of a frame first", arguments: ["-write_xing", "0", "-id3v2_version", "0"],
            lead: [UInt8](repeating: 0x5A, count: 200)),
    ]

    func bytes() throws -> [UInt8] {
        let source = ["-f", "lavfi", "-i", "sine=440:d=1.5", "-ac", "2", "-ar", "44100", "-c:a", "libmp3lame"]
        let all = source + arguments + ["-fflags", "+bitexact", "-f", "mp3"]
        return try GeneratedMedia.bytes(all) {
            // The Xing frame needs an output that can be rewritten.
            let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp3")
            defer { try? FileManager.default.removeItem(at: path) }
            _ = try FragmentTool.run("ffmpeg", ["-nostdin", "-v", "error"] + all + [path.path])
            return [UInt8](try Data(contentsOf: path))
        }
    }
}
