import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Streams without IDR pictures, joined anywhere: what is published decodes to the frames that ffmpeg decodes of the
/// input, no fewer and no others.
@Suite struct RandomAccessDecodingTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let video: [String]
        /// First frame of the input, in decoding order.
        var first = 10
        /// Frames of an input segment.
        var count = 50
        /// Frames published.
        let published: Int
        /// Frames decoded of these. Leading pictures and the others of a gradual refresh are not shown.
        var decoded: Int?
        /// Whether each segment is independent.
        let independent: [Bool]
        /// Whether each segment begins with a gradual refresh.
        var beginsRefresh = false
        /// Segments that begin before it is known that the stream has no other IDR picture.
        var withoutSync = 0

        var testDescription: String { when }
    }

    private static func x264(_ parameters: String) -> [String] {
        ["-c:v", "libx264", "-preset", "veryfast", "-x264-params", parameters + ":min-keyint=50:scenecut=0"]
    }

    private static let openX264 = x264("open-gop=1:keyint=50:bframes=3:b-adapt=0")

    private static let openX265 = [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "log-level=none:pools=1:frame-threads=1:open-gop=1:keyint=50:min-keyint=50:bframes=3:scenecut=0",
    ]

    static let rows = [
        Row(when: "open GOPs", video: openX264, published: 150, independent: [true, false, false]),
        Row(
            when: "open GOPs in segments of ten frames", video: openX264, count: 10, published: 150,
            independent: [true, false, false]),
        Row(
            when: "open GOPs after an IDR picture", video: openX264, first: 0, published: 200,
            independent: [true, false, false, false], withoutSync: 1),
        Row(
            when: "recovery points without B-frames: nothing refers before them",
            video: x264("open-gop=1:keyint=50:bframes=0"), published: 150, independent: [true, true, true]),
        Row(
            when: "open GOPs of macroblock-adaptive frames", video: x264("open-gop=1:keyint=50:bframes=2:tff=1"),
            published: 152, decoded: 150, independent: [true, false, false]),
        Row(
            when: "open GOPs without recovery point messages",
            video: openX264 + ["-bsf:v", "filter_units=remove_types=6"], published: 150,
            independent: [true, false, false]),
        Row(
            when: "intra refresh", video: x264("intra-refresh=1:keyint=50:bframes=0"), published: 150, decoded: 132,
            independent: [false, false, false], beginsRefresh: true),
        Row(
            when: "intra refresh with B-frames", video: x264("intra-refresh=1:keyint=50:bframes=2"), published: 152,
            decoded: 119, independent: [false, false, false], beginsRefresh: true),
        Row(when: "one IDR picture, before the join", video: x264("keyint=infinite"), published: 0, independent: []),
        Row(when: "HEVC, open GOPs", video: openX265, published: 150, independent: [true, false, false]),
        Row(
            when: "HEVC, open GOPs in segments of twelve frames", video: openX265, count: 12, published: 150,
            independent: [true, false, false]),
        Row(
            when: "HEVC, open GOPs after an IDR picture", video: openX265, first: 0, published: 200,
            independent: [true, false, false, false], withoutSync: 1),
    ]

    @Test(arguments: rows)
    func framesAreThoseOfTheInput(row: Row) throws {
        let media = try RandomAccessMedia(row.video)
        let segments = media.segments(from: row.first, count: row.count)
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .milliseconds(2500), wallClock: 0))
        var output: [SplicedSegment] = []
        for (number, bytes) in segments.enumerated() {
            output += try engine.handle(
                .segment(SegmentInput(rendition: .main, mediaSequence: UInt64(number), bytes: bytes)))
        }
        output += try engine.handle(.ended(.main))
        let fragments = output.flatMap { $0.fragment.header + $0.fragment.payloads.joined() }
        let tracks = try MovieFragment.fragments(of: fragments).map { $0.tracks[0] }
        #expect(tracks.flatMap(\.samples).count == row.published)
        let published = try output.map {
            let bytes = $0.fragment.header + $0.fragment.payloads.joined()
            return try TransportMedia(fragment: bytes[...], audio: nil, lasting: $0.duration)
        }
        #expect(published.allSatisfy { $0.beginsGradualRefresh == row.beginsRefresh })
        #expect(output.map(\.isIndependent) == row.independent)
        #expect(engine.counts[.openSegments] == row.independent.count { !$0 } - row.withoutSync)
        #expect(engine.counts[.segmentsWithoutSync] == row.withoutSync)
        guard let first = output.first else { return }
        let found = try RandomAccessMedia.decoded(first.initSection.bytes + fragments).map(\.hash)
        let expected = try RandomAccessMedia.decoded(segments.flatMap(\.self)).map(\.hash)
        #expect(found.count == row.decoded ?? row.published)
        #expect(found == expected.suffix(found.count))
        // ffmpeg's HEVC decoder begins with any frame, whatever that refers to.
        if row.video != Self.openX265 { #expect(found.count == expected.count) }
    }
}
