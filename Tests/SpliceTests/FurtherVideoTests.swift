import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Support

/// Video tracks beside the leading one: what each segment has of them.
@Suite struct FurtherVideoTests {
    private static let second: Int64 = 90_000

    /// A second of the leading track, of 25 frames.
    struct Part: Sendable {
        /// The source's time of its first frame, and its discontinuity sequence number.
        let start: Int64
        var sequence: UInt64 = 0
        var beginsPeriod = false
    }

    /// A segment of the variant.
    struct Segment: Sendable {
        let start: Int64
        var sequence: UInt64 = 0
        var frames = 25
        var frame: Int64 = 3600
        /// Whether it begins with a random access point.
        var isIndependent = true
        var configuration = InitSample.video

        var packets: [VideoPacket] {
            (0..<frames).map { index in
                SyntheticPackets.videoPacket(
                    dts: start + Int64(index) * frame, pts: start + Int64(index) * frame,
                    sync: index == 0 && isIndependent ? .instantaneousRefresh : nil, configuration: configuration)
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let parts: [Part]
        let segments: [Segment]
        /// The number of frames that each segment has of the variant; nil: a gap.
        let frames: [Int?]

        var testDescription: String { when }
    }

    private static let wrap: Int64 = 1 << 33
    static let advertisement = VideoConfiguration(
        codec: .h264, sequenceParameterSets: [h264Rows[0].nalUnit], pictureParameterSets: [[0x68, 1]])

    static let rows: [Row] = [
        Row(
            when: "the same frames", parts: seconds(3), segments: (0..<3).map { Segment(start: $0 * second) },
            frames: [25, 25, 25]),
        Row(
            when: "half as many frames", parts: seconds(2),
            segments: (0..<2).map { Segment(start: $0 * second, frames: 13, frame: 7200) }, frames: [13, 13]),
        Row(
            when: "segments of other lengths", parts: seconds(4),
            segments: [Segment(start: 0, frames: 10), Segment(start: 10 * 3600, frames: 15, isIndependent: false)]
                + (1..<4).map { Segment(start: $0 * second) },
            frames: [25, 25, 25, 25]),
        Row(
            when: "a segment is lost", parts: seconds(3), segments: [Segment(start: 0), Segment(start: 2 * second)],
            frames: [25, nil, 25]),
        Row(
            when: "no random access point at the boundary", parts: seconds(3),
            segments: [
                Segment(start: 0), Segment(start: second, isIndependent: false), Segment(start: 2 * second),
            ], frames: [25, nil, 25]),
        Row(
            when: "the end of a segment is missing", parts: seconds(2),
            segments: [Segment(start: 0, frames: 8), Segment(start: second)], frames: [nil, 25]),
        Row(
            when: "a frame less at the end", parts: seconds(2),
            segments: [Segment(start: 0, frames: 24), Segment(start: second)], frames: [24, 25]),
        Row(
            when: "an ad on a clock that restarts, and the same clock again",
            parts: [
                Part(start: 900 * second, beginsPeriod: true), Part(start: 0, sequence: 1, beginsPeriod: true),
                Part(start: second, sequence: 1), Part(start: 901 * second, sequence: 2, beginsPeriod: true),
            ],
            segments: [
                Segment(start: 900 * second), Segment(start: 0, sequence: 1), Segment(start: second, sequence: 1),
                Segment(start: 901 * second, sequence: 2),
            ], frames: [25, 25, 25, 25]),
        Row(
            when: "one of two ads on one clock is lost",
            parts: [
                Part(start: 0, beginsPeriod: true), Part(start: 0, sequence: 1, beginsPeriod: true),
                Part(start: 0, sequence: 2, beginsPeriod: true),
            ], segments: [Segment(start: 0), Segment(start: 0, sequence: 2)], frames: [25, nil, 25]),
        Row(
            when: "discontinuity sequence numbers on another base",
            parts: [Part(start: 0, sequence: 7, beginsPeriod: true), Part(start: 0, sequence: 8, beginsPeriod: true)],
            segments: [Segment(start: 0), Segment(start: 0, sequence: 1)], frames: [25, 25]),
        Row(
            when: "an ad on a clock of the variant's own",
            parts: [
                Part(start: 0, beginsPeriod: true), Part(start: 500 * second, sequence: 1, beginsPeriod: true),
                Part(start: 501 * second, sequence: 1), Part(start: second, sequence: 2, beginsPeriod: true),
            ],
            segments: [
                Segment(start: 0), Segment(start: 8000 * second, sequence: 1),
                Segment(start: 8001 * second, sequence: 1), Segment(start: second, sequence: 2),
            ], frames: [25, 25, 25, 25]),
        Row(
            when: "the wire clock wraps",
            parts: [Part(start: wrap - second, beginsPeriod: true), Part(start: wrap)],
            segments: [Segment(start: wrap - second), Segment(start: wrap)], frames: [25, 25]),
        Row(
            when: "the video of the variant changes inside a period, and at the beginning of the next",
            parts: seconds(2) + [Part(start: 2 * second, sequence: 1, beginsPeriod: true)],
            segments: [
                Segment(start: 0), Segment(start: second, configuration: FurtherVideoTests.advertisement),
                Segment(start: 2 * second, sequence: 1, configuration: FurtherVideoTests.advertisement),
            ], frames: [25, nil, 25]),
    ]

    private static func seconds(_ count: Int64) -> [Part] {
        (0..<count).map { Part(start: $0 * second, beginsPeriod: $0 == 0) }
    }

    private static let identity = VideoTrackIdentity(height: 480, bandwidth: 1_000_000)

    private static func span(_ part: Part) -> AudioVideoMatcher.VideoSpan {
        AudioVideoMatcher.VideoSpan(
            start: Ticks(part.start), end: Ticks(part.start + second), discontinuitySequence: part.sequence,
            beginsPeriod: part.beginsPeriod, clockStart: part.beginsPeriod ? Ticks(part.start) : nil)
    }

    @Test(arguments: rows)
    func segments(_ row: Row) throws {
        var track = FurtherVideoTrack(Self.identity, hasSource: true, byteLimit: 1 << 20)
        track.resume(byteLimit: 1 << 20)
        for segment in row.segments { track.append(segment.packets, discontinuitySequence: segment.sequence) }
        var end = PeriodTimeline.compositionDelay
        var (timeline, frames): (PeriodTimeline?, [Int?]) = (nil, [])
        for (index, part) in row.parts.enumerated() {
            if part.beginsPeriod {
                let unit = TimedVideo(
                    packet: SyntheticPackets.videoPacket(dts: part.start), dts: Ticks(part.start),
                    pts: Ticks(part.start))
                timeline = PeriodTimeline(first: unit, at: end)
            }
            track.adopt(Self.span(part), frameDuration: Ticks(3600))
            let decodeTime = (end - PeriodTimeline.compositionDelay).count
            let written = track.write(
                FurtherVideoTrack.Cut(
                    start: end, end: end + Ticks(Self.second), decodeTime: decodeTime, duration: Self.second,
                    isIndependent: true, timeline: try #require(timeline), sequenceNumber: UInt32(index + 1)))
            frames.append(written?.fragment.payloads.count)
            end = end + Ticks(Self.second)
        }
        #expect(frames == row.frames)
        #expect(track.counts[.segments] == row.frames.compactMap(\.self).count)
        #expect(track.counts[.gaps] == row.frames.count - track.counts[.segments])
    }

    /// Every fragment begins and ends at the decode times of the leading one, whatever the variant's reordering is.
    @Test(arguments: [0, 2, 5] as [Int64])
    func fragmentsTakeTheDecodeTimesOfTheLeadingTrack(reordering: Int64) throws {
        var track = FurtherVideoTrack(Self.identity, hasSource: true, byteLimit: 1 << 20)
        track.resume(byteLimit: 1 << 20)
        let packets = (0..<25).map { index in
            SyntheticPackets.videoPacket(
                dts: Int64(index) * 3600 - reordering * 3600, pts: Int64(index) * 3600,
                sync: index == 0 ? .instantaneousRefresh : nil, configuration: InitSample.video)
        }
        track.append(packets, discontinuitySequence: 0)
        let unit = TimedVideo(packet: SyntheticPackets.videoPacket(dts: 0), dts: .zero, pts: .zero)
        let start = PeriodTimeline.compositionDelay
        track.adopt(Self.span(Part(start: 0, beginsPeriod: true)), frameDuration: Ticks(3600))
        let written = track.write(
            FurtherVideoTrack.Cut(
                start: start, end: start + Ticks(Self.second), decodeTime: 77, duration: Self.second - 5,
                isIndependent: true, timeline: PeriodTimeline(first: unit, at: start), sequenceNumber: 1))
        let fragment = try #require(written?.fragment)
        let bytes = fragment.header + fragment.payloads.joined()
        let video = try #require(
            FragmentTrack.tracks(of: try BoxReader.wholeBoxes(in: bytes[...]).boxes.require("moof"))[TrackID.video])
        #expect(video.decodeTime == 77)
        #expect(video.samples.reduce(0) { $0 + Int64($1.duration) } == Self.second - 5)
        let presented = Int64(video.samples[0].compositionOffset) + 77
        #expect(presented == start.count, "it is presented when the leading one is")
    }

    /// The leading track waits for a variant once, and not again before it has caught up.
    @Test func lateVariantIsNotAwaitedAgain() throws {
        var tracks = FurtherVideoTracks([Self.identity], byteLimit: 1 << 20, after: [])
        let parts = Self.seconds(4).map(Self.span)
        #expect(tracks.awaitsVideo(of: parts[0]))
        tracks.adopt(parts[0], frameDuration: Ticks(3600))
        #expect(!tracks.awaitsVideo(of: parts[1]), "it is late")
        try tracks.end(0)
        tracks.adopt(parts[1], frameDuration: Ticks(3600))
        #expect(!tracks.awaitsVideo(of: parts[2]), "it has ended")
    }

    /// The tracks of the channel keep their places, whatever the source has; a ninth is dropped.
    @Test func tracksKeepTheirPlaces() {
        let known = (0..<3).map { VideoTrackIdentity(height: 100 + $0, bandwidth: 1) }
        let others = (0..<8).map { VideoTrackIdentity(height: 200 + $0, bandwidth: 1) }
        var tracks = FurtherVideoTracks([known[2]] + others, byteLimit: 1 << 20, after: known)
        #expect(tracks.identities == known + others.prefix(5))
        #expect(!tracks.awaitsVideo(of: Self.span(Part(start: 0))) == false, "one of the source's is awaited")
        tracks.resume(after: Array(known.reversed()))
        #expect(tracks.identities == known.reversed() + others.prefix(5))
    }

    /// A second of fragmented MP4, with a byte in each frame.
    private static func movie(of byte: UInt8, from start: Int64 = 0, sequence: UInt64 = 0) throws -> SegmentInput {
        let samples = (0..<25).map { index in
            MuxSample(
                duration: 3600, compositionOffset: 0, randomAccess: index == 0 ? .instantaneousRefresh : nil,
                payload: [0, 0, 0, 3, index == 0 ? 0x65 : 0x41, 0x80, byte][...])
        }
        let track = MuxTrack(trackID: TrackID.video, decodeTime: UInt64(start), samples: samples)
        let fragment = FragmentWriter.write(sequenceNumber: 1, video: track, audio: nil)
        return SegmentInput(
            rendition: .furtherVideo(0), mediaSequence: 0, discontinuitySequence: sequence,
            initialization: try InitWriter.write(video: InitSample.video, audio: nil).bytes,
            bytes: fragment.header + fragment.payloads.joined())
    }

    struct OtherRow: CustomTestStringConvertible, Sendable {
        let when: String
        /// Heights of the channel's tracks beside the leading one, and of the variants that the source has for them.
        let tracks: [Int]
        let variants: [Int]
        var leading: Int? = 1080
        /// Heights of the variants whose media is the same.
        var same: [Int] = []
        /// Whose media each track has: `-1` its own, `0` that of the leading one.
        let media: [Int]

        var testDescription: String { when }
    }

    @Test(arguments: [
        OtherRow(when: "all are there", tracks: [720, 480], variants: [720, 480], media: [-1, -1]),
        OtherRow(when: "a backup with one variant", tracks: [720, 480], variants: [], media: [0, 0]),
        OtherRow(when: "the nearest is a smaller one", tracks: [720, 540], variants: [540], media: [2, -1]),
        OtherRow(when: "the nearest leads", tracks: [900, 240], variants: [240], media: [0, -1]),
        OtherRow(
            when: "the leading one is not known", tracks: [720, 240], variants: [240], leading: nil, media: [2, -1]),
        OtherRow(
            when: "the nearest of two", tracks: [720, 480, 360, 240], variants: [720, 240], media: [-1, 1, 4, -1]),
        OtherRow(
            when: "two variants have the same ad", tracks: [720, 480, 240], variants: [720, 480, 240],
            same: [480, 240],
            media: [-1, -1, 2]),
        OtherRow(
            when: "the nearest has the media of another one", tracks: [540, 480, 240], variants: [540, 480],
            same: [540, 480], media: [-1, 1, 1]),
    ])
    func mediaOfOthers(_ row: OtherRow) throws {
        let identity = { VideoTrackIdentity(height: $0, bandwidth: $0 * 1000) }
        var tracks = FurtherVideoTracks(
            row.variants.map(identity), leading: row.leading.map(identity), byteLimit: 1 << 20,
            after: row.tracks.map(identity))
        for (index, height) in row.variants.enumerated() {
            try tracks.append(Self.movie(of: row.same.contains(height) ? 0 : UInt8(index + 1)), of: index)
        }
        let unit = TimedVideo(packet: SyntheticPackets.videoPacket(dts: 0), dts: .zero, pts: .zero)
        let start = PeriodTimeline.compositionDelay
        tracks.adopt(Self.span(Part(start: 0, beginsPeriod: true)), frameDuration: Ticks(3600))
        let media = tracks.write(
            FurtherVideoTrack.Cut(
                start: start, end: start + Ticks(Self.second), decodeTime: 0, duration: Self.second,
                isIndependent: true, timeline: PeriodTimeline(first: unit, at: start), sequenceNumber: 1))
        #expect(
            media.map { media in
                switch media {
                case .gap: -2
                case .own: -1
                case .other(let track): track
                }
            } == row.media)
        #expect(tracks.counts.map(\.counts[.otherSegments]).reduce(0, +) == row.tracks.count - row.variants.count)
    }

    struct LateRow: CustomTestStringConvertible, Sendable {
        let when: String
        let parts: [Part]
        /// The variant's segments, each with the number of parts before which it comes.
        let segments: [(before: Int, start: Int64, sequence: UInt64)]
        /// The number of each segment that the track has with its segment, and that it has afterwards.
        let own: [UInt32]
        let late: [UInt32]

        var testDescription: String { when }
    }

    static let lateRows: [LateRow] = [
        LateRow(
            when: "it begins with what the origin lists", parts: seconds(6),
            segments: [(4, 1, 0), (4, 2, 0), (4, 3, 0), (4, 4, 0), (5, 5, 0)], own: [5, 6], late: [2, 3, 4]),
        LateRow(
            when: "it begins at the edge", parts: seconds(6), segments: [(4, 4, 0), (5, 5, 0)], own: [5, 6], late: []),
        LateRow(
            when: "it catches up in steps", parts: seconds(6),
            segments: [(3, 1, 0), (4, 2, 0), (4, 3, 0), (4, 4, 0), (5, 5, 0)], own: [5, 6], late: [2, 3, 4]),
        LateRow(
            when: "what the leading track never had precedes it", parts: seconds(4).suffix(3).map { $0 },
            segments: [(2, 0, 0), (2, 1, 0), (2, 2, 0), (2, 3, 0)], own: [3], late: [1, 2]),
        LateRow(
            when: "it begins in an ad on a clock that restarts",
            parts: [Part(start: 900 * second, beginsPeriod: true)]
                + (0..<3).map { Part(start: $0 * second, sequence: 1, beginsPeriod: $0 == 0) },
            segments: [(3, 900, 0), (3, 0, 1), (3, 1, 1), (3, 2, 1)], own: [4], late: [1, 2, 3]),
    ]

    @Test(arguments: lateRows)
    func beginsOnDemand(_ row: LateRow) throws {
        var tracks = FurtherVideoTracks([Self.identity], areOnDemand: true, byteLimit: 1 << 20, after: [])
        var end = PeriodTimeline.compositionDelay
        var (timeline, own, late): (PeriodTimeline?, [UInt32], [UInt32]) = (nil, [], [])
        for (index, part) in row.parts.enumerated() {
            for segment in row.segments where segment.before == index {
                try tracks.append(
                    Self.movie(of: 1, from: segment.start * Self.second, sequence: segment.sequence), of: 0)
                late += tracks.dequeueLate().map(\.sequenceNumber)
            }
            if index < (row.segments.map(\.before).min() ?? 0) { #expect(!tracks.awaitsVideo(of: Self.span(part))) }
            if part.beginsPeriod || timeline == nil {
                let unit = TimedVideo(
                    packet: SyntheticPackets.videoPacket(dts: part.start), dts: Ticks(part.start),
                    pts: Ticks(part.start))
                timeline = PeriodTimeline(first: unit, at: end)
            }
            tracks.adopt(Self.span(part), frameDuration: Ticks(3600))
            let media = tracks.write(
                FurtherVideoTrack.Cut(
                    start: end, end: end + Ticks(Self.second),
                    decodeTime: (end - PeriodTimeline.compositionDelay).count, duration: Self.second,
                    isIndependent: true, timeline: try #require(timeline), sequenceNumber: UInt32(index + 1)))
            if media[0].own != nil { own.append(UInt32(index + 1)) }
            end = end + Ticks(Self.second)
        }
        #expect(own == row.own)
        #expect(late == row.late)
        let counts = try #require(tracks.counts.first?.counts)
        #expect(counts[.segments] == own.count + late.count && counts[.gaps] <= 1, "not followed is no gap")
        try tracks.end(0)
        #expect(!tracks.awaitsVideo(of: Self.span(Part(start: 99 * Self.second))))
    }

    @Test func memoryOfWhatWaitsIsLimited() {
        var matcher = VariantMatcher(byteLimit: 1000)
        for second in 0..<200 {
            matcher.append(Segment(start: Int64(second) * Self.second).packets, discontinuitySequence: 0)
        }
        #expect(matcher.droppedFrames > 4000)
        var many = VariantMatcher(byteLimit: .max)
        for second in 0..<200 {
            many.append(Segment(start: Int64(second) * Self.second).packets, discontinuitySequence: 0)
        }
        #expect(many.droppedFrames == (200 - 64) * 25)
    }
}
