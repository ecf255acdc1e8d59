import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// The container of a segment, told by its bytes after any prefix.
@Suite struct LocatedMediaTests {
    typealias Builder = TransportStreamBuilder
    typealias Sample = ElementarySamples

    struct Media: Sendable {
        let name: String
        let container: SegmentContainer
        let bytes: [UInt8]
    }

    struct Prefix: Sendable {
        let name: String
        let bytes: [UInt8]
        /// Tags with metadata, whose number is in what was demuxed.
        var tags = 0
        /// Bytes that are neither media nor tags.
        var junk = 0
    }

    private static let stream: [UInt8] = {
        var builder = Builder()
        builder.tables([TransportRuleTests.video, TransportRuleTests.audio])
        for number in 0..<6 {
            builder.pes(pid: 0x100, pts: 900_000 + Int64(number) * 3600, Sample.idr(UInt8(number)))
            builder.pes(pid: 0x101, streamID: 0xC0, pts: 900_000 + Int64(number) * 1920, Sample.adts(1))
        }
        return builder.cut()
    }()

    private static let fragment = MovieBuilder.fragment([
        .init(runs: [(0x301, [.init(payload: [0, 0, 0, 3, 0x65, 0x88, 0x84])])])
    ])

    static let media = [
        Media(name: "a transport stream", container: .transportStream, bytes: stream),
        Media(
            name: "packets of 192 bytes", container: .transportStream,
            bytes: EndlessMultiplex.packets(stream, size: 192)),
        Media(
            name: "packets of 204 bytes", container: .transportStream,
            bytes: EndlessMultiplex.packets(stream, size: 204)),
        Media(name: "a fragment", container: .fragmentedMP4, bytes: fragment),
        Media(
            name: "a fragment after styp", container: .fragmentedMP4,
            bytes: MovieBuilder.box("styp", Array("msdh".utf8) + [0, 0, 0, 0]) + fragment),
        Media(name: "an init section", container: .fragmentedMP4, bytes: MovieBuilder.initialization([.init()])),
        Media(name: "ADTS", container: .packedAudio, bytes: (0..<9).flatMap { Sample.adts(UInt8($0)) }),
        Media(
            name: "ADTS after its time", container: .packedAudio,
            bytes: ID3Sample.tag(ID3Sample.timestamp(7)) + (0..<9).flatMap { Sample.adts(UInt8($0)) }),
    ]

    /// The signature, IHDR and the head of IDAT of a PNG picture.
    private static let picture: [UInt8] =
        [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 1, 0, 0, 0, 1]
        + [8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 10] + Array("IDAT".utf8) + [0x78, 0x9C]
    private static let title = ID3Sample.tag(ID3Sample.title)

    static let prefixes = [
        Prefix(name: "nothing", bytes: []),
        Prefix(name: "an ID3 tag", bytes: title, tags: 1),
        Prefix(
            name: "two ID3 tags, one of them with the time", bytes: ID3Sample.tag(ID3Sample.timestamp(9)) + title,
            tags: 1),
        Prefix(name: "a picture's header", bytes: picture, junk: picture.count),
        Prefix(name: "junk", bytes: [UInt8](repeating: 0x55, count: 5000), junk: 5000),
        Prefix(
            name: "as much junk as is searched", bytes: [UInt8](repeating: 0, count: (1 << 16) - 4000),
            junk: (1 << 16) - 4000),
        Prefix(name: "an ID3 tag and junk", bytes: title + picture, tags: 1, junk: picture.count),
    ]

    @Test(arguments: media.indices, prefixes.indices)
    func containerAfterAnyPrefix(_ media: Int, _ prefix: Int) throws {
        let (media, prefix) = (Self.media[media], Self.prefixes[prefix])
        let bytes = prefix.bytes + media.bytes
        let found = try LocatedMedia.find(in: bytes)
        #expect(found?.container == media.container, "\(media.name) after \(prefix.name)")
        guard let found, media.container == .fragmentedMP4 else { return }
        #expect(found.media(of: bytes) == media.bytes)
        var segment = DemuxedSegment()
        try found.appendPrefix(of: bytes, to: &segment)
        #expect(segment.metadata.count == prefix.tags && segment.counts[.bytesOutOfSync] == prefix.junk)
    }

    @Test("Packed audio after a picture's header keeps the time in its tag")
    func audioAfterJunkAndTag() throws {
        let audio = ID3Sample.tag(ID3Sample.timestamp(900)) + (0..<9).flatMap { Sample.adts(UInt8($0)) }
        let bytes = Self.picture + audio
        let found = try #require(try LocatedMedia.find(in: bytes))
        #expect(found.container == .packedAudio && found.media(of: bytes) == audio)
    }

    static let others: [(when: String, bytes: [UInt8])] = [
        ("nothing", []), ("a picture", picture + [UInt8](repeating: 7, count: 900)),
        ("a tag and nothing else", title), ("a page", Array("<html><body>GGGGGGGG</body></html>".utf8)),
        ("more junk than is searched", [UInt8](repeating: 0x55, count: 1 << 17) + stream),
    ]

    @Test(arguments: others)
    func noMedia(when: String, bytes: [UInt8]) throws {
        #expect(try LocatedMedia.find(in: bytes) == nil, "\(when)")
    }

    @Test("Random bytes, such as the text under a wrong key, are no media")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20 {
            let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try LocatedMedia.find(in: bytes) == nil && !LocatedMedia.isWhole(bytes))
        }
    }

    static let wholes: [(when: String, bytes: [UInt8], isWhole: Bool)] = [
        ("transport packets", stream, true), ("a cut packet", stream.dropLast(1), false),
        ("packets and padding", stream + [UInt8](repeating: 4, count: 4), false),
        ("a PAT and a PMT", Array(stream.prefix(376)), true), ("boxes", fragment, true),
        ("boxes and padding", fragment + [UInt8](repeating: 16, count: 16), false),
        ("an init section", MovieBuilder.initialization([.init()]), true),
        ("a box of no segment", MovieBuilder.box("abcd", [1, 2, 3]), false),
        ("audio frames", (0..<9).flatMap { Sample.adts(UInt8($0)) }, true),
        ("audio frames after a tag", title + (0..<9).flatMap { Sample.adts(UInt8($0)) }, true),
        ("a cut audio frame", (0..<9).flatMap { Sample.adts(UInt8($0)) }.dropLast(3), false),
        (
            "two sync bytes", [0x47] + [UInt8](repeating: 0, count: 187) + [0x47] + [UInt8](repeating: 0, count: 187),
            false
        ),
        ("nothing", [], false),
    ]

    @Test(arguments: wholes)
    func wholeUnits(when: String, bytes: [UInt8], isWhole: Bool) {
        #expect(LocatedMedia.isWhole(bytes) == isWhole, "\(when)")
    }
}
