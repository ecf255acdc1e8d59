import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Leading pictures at the start of a period, to which frames after them refer.
@Suite struct LeadingPicturesTests {
    private typealias Fragments = (bytes: [UInt8], samples: [TrackFragment.Sample])

    private static func fragments(_ output: [SplicedSegment]) throws -> Fragments {
        let bytes = output.flatMap { $0.fragment.header + $0.fragment.payloads.joined() }
        let samples = try MovieFragment.fragments(of: bytes).flatMap { $0.tracks[0].samples }
        return ((output.first?.initSection.bytes ?? []) + bytes, samples)
    }

    /// Presentation times of the first samples, from that of the first output on.
    private static func times(_ samples: [TrackFragment.Sample], _ count: Int) -> [Int64] {
        var time: Int64 = 0
        return samples.prefix(count).map { sample in
            defer { time += Int64(sample.duration) }
            return time + Int64(sample.compositionOffset) - PeriodTimeline.compositionDelay.count
        }
    }

    private static func published(_ segments: [SegmentInput]) throws -> (output: [SplicedSegment], SpliceCounts) {
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(2), wallClock: 0))
        var output: [SplicedSegment] = []
        for segment in segments { output += try engine.handle(.segment(segment)) }
        output += try engine.handle(.ended(.main))
        return (output, engine.counts)
    }

    private static func input(_ segments: [[UInt8]], from number: UInt64 = 0, isTagged: Bool = false) -> [SegmentInput]
    {
        segments.enumerated().map { index, bytes in
            SegmentInput(
                rendition: .main, mediaSequence: number + UInt64(index),
                discontinuitySequence: isTagged ? 1 : 0, isDiscontinuous: isTagged && index == 0, bytes: bytes)
        }
    }

    /// At a join every picture is published, and decodes as if the source were joined directly.
    @Test func joinDecodesAsTheSource() throws {
        let segments = ReferenceBFrames(side: 2).segments(1..<5)
        let (output, counts) = try Self.published(Self.input(segments))
        let found = try Self.fragments(output)
        #expect(found.samples.count == 36 && counts[.leadingPictures] == 0)
        #expect(Self.times(found.samples, 5) == [10_800, 0, 3600, 7200, 28_800])
        let expected = try RandomAccessMedia.decoded(segments.flatMap(\.self)).map(\.hash)
        #expect(try RandomAccessMedia.decoded(found.bytes).map(\.hash) == expected)
        #expect(expected.count >= 33)
    }

    /// After another program the leading pictures have wrong references. They are decoded, and presented for a tick each.
    @Test func spliceDecodesAsTheSource() throws {
        let advertisement = ReferenceBFrames(side: 3).segments(1..<3)
        let segments = ReferenceBFrames(side: 2).segments(3..<6)
        let (output, counts) = try Self.published(
            Self.input(advertisement) + Self.input(segments, from: 2, isTagged: true))
        let period = output.filter { $0.description.index == 1 }
        let found = try Self.fragments(period)
        #expect(counts[.periods] == 2 && counts[.leadingPictures] == 0 && counts[.adjustedTimestamps] == 0)
        #expect(Self.times(found.samples, 5) == [3, 0, 1, 2, 28_800])
        let expected = try RandomAccessMedia.decoded(segments.flatMap(\.self)).map(\.hash)
        #expect(try RandomAccessMedia.decoded(found.bytes).map(\.hash) == expected)
        // The period lasts as long as its pictures.
        #expect(period.reduce(.zero) { $0 + $1.duration } == Ticks(27 * 3600))
    }

    @Test func decodingTakesNoLongerThanTheCompositionDelay() {
        #expect(LeadingPictures.longestDecoding == PeriodTimeline.compositionDelay)
    }

    private static func unit(_ dts: Int64, _ pts: Int64, isReference: Bool = true) -> VideoPacket {
        SyntheticPackets.videoPacket(
            dts: dts, pts: pts, sync: dts == 0 ? .cleanRandomAccess : nil, isReference: isReference)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Decode time, presentation time, whether it is a reference picture.
        let frames: [(Int64, Int64, Bool)]
        /// Decode and presentation times of the period.
        let published: [[Int64]]
        let dropped: Int
    }

    static let rows = [
        Row(
            testDescription: "none is a reference picture",
            frames: [(0, 18_000, true), (3600, 7200, false), (7200, 10_800, false), (14_400, 25_200, true)],
            published: [[7200, 18_000], [14_400, 25_200]], dropped: 2),
        Row(
            testDescription: "one is a reference picture: all stay",
            frames: [(0, 18_000, true), (3600, 10_800, true), (7200, 7200, false), (14_400, 25_200, true)],
            published: [[0, 7202], [3600, 7201], [7200, 7200], [14_400, 25_200]], dropped: 0),
        Row(
            testDescription: "decoded within the composition delay",
            frames: [(0, 43_200, true), (18_000, 39_600, true), (36_000, 36_000, true), (39_600, 46_800, true)],
            published: [[0, 36_002], [9000, 36_001], [18_000, 36_000], [39_600, 46_800]], dropped: 0),
        Row(
            testDescription: "a late leading picture is dropped",
            frames: [(0, 7200, true), (3600, 10_800, true), (7200, 3600, true)],
            published: [[0, 7200], [3600, 10_800]], dropped: 1),
        Row(
            testDescription: "nothing follows",
            frames: [(0, 7200, true), (3600, 3600, true)], published: [[0, 3601], [3600, 3600]], dropped: 0),
    ]

    /// After a period on another clock.
    @Test(arguments: rows, [1, 2, 3]) func leadingPictures(row: Row, split: Int) {
        var splitter = PeriodSplitter()
        let frames = row.frames.map { Self.unit($0.0, $0.1, isReference: $0.2) }
        var parts = splitter.split(
            SyntheticPackets.videoPackets(2, from: 9_000_000) + frames.prefix(split),
            from: SyntheticPackets.segment(), boundary: .plain)
        if split < frames.count {
            parts += splitter.split(Array(frames.dropFirst(split)), from: SyntheticPackets.segment(1), boundary: .plain)
        }
        parts += splitter.finish()
        let units = parts.dropFirst().flatMap(\.units)
        #expect(units.map { [$0.dts.count, $0.pts.count] } == row.published)
        #expect(splitter.counts[.leadingPictures] == row.dropped && splitter.counts[.framesBeforeSync] == 0)
        #expect(parts.compactMap(\.signal) == [.joined, .clock])
    }
}
