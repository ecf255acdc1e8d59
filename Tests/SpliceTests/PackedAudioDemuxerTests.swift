import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Packed audio and its timestamp (RFC 8216 §3.4), and detection of containers.
@Suite struct PackedAudioDemuxerTests {
    typealias Sample = ElementarySamples

    static func tag(_ frames: [UInt8], version: UInt8 = 4, padding: Int = 0) -> [UInt8] {
        let size = frames.count + padding
        return Array("ID3".utf8) + [version, 0, 0, 0, 0, UInt8(size >> 7), UInt8(size & 0x7F)] + frames
            + [UInt8](repeating: 0, count: padding)
    }

    static func timestamp(_ ticks: Int64) -> [UInt8] {
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8) + [0]
        let value = (0..<8).reversed().map { UInt8(truncatingIfNeeded: ticks >> (8 * $0)) }
        return Array("PRIV".utf8) + [0, 0, 0, UInt8(owner.count + 8), 0, 0] + owner + value
    }

    static let title = Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 3, 0x41, 0x42]

    static let rows: [(when: String, head: [UInt8], pts: Int64)] = [
        ("only the timestamp", tag(timestamp(900_000)), 900_000),
        ("after a title, before padding", tag(title + timestamp(5), padding: 100), 5),
        ("in the second of two tags", tag(title) + tag(timestamp(7)), 7),
        ("in an ID3v2.3 tag", tag(timestamp(9), version: 3), 9),
        ("bits above the 33 are ignored", tag(timestamp(1 << 40 | 11)), 11),
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
        ("a tag without the timestamp", tag(title) + Sample.adts(1), .missingTimestamp),
        ("no audio after the tag", tag(timestamp(1)) + [1, 2], .unknownContainer(firstBytes: [1, 2])),
        ("nothing after the tag", tag(timestamp(1)), .unknownContainer(firstBytes: [])),
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
        ("ID3", tag(timestamp(1)) + Sample.adts(1), .packedAudio),
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

    @Test(arguments: containers)
    func sniff(when: String, bytes: [UInt8], container: SegmentContainer?) {
        #expect(SegmentContainer.sniff(bytes) == container, "\(when)")
    }
}
