import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Event messages of segments, one row each.
@Suite("Event messages of fragmented MP4")
struct EventMessageTests {
    typealias Traf = MovieBuilder.Traf
    typealias Sketch = EventMessageSketch

    /// Video frames of 40 ms on a clock of 12 800 from 10 s on, the first presented 80 ms later, and audio that begins
    /// 21 ms before that; both tracks in one movie.
    private static let tracks = [
        MovieBuilder.Track(timescale: 12_800),
        MovieBuilder.Track(
            id: 2, timescale: 48_000, handler: "soun", entries: [MovieBuilder.mp4a([0x11, 0x90])]),
    ]
    private static let video = Traf(
        decodeTime: 128_000,
        runs: [
            (
                0xB01,
                (0..<3).map { MovieBuilder.Sample(duration: 512, offset: 1024, payload: $0 == 0 ? idr : plain) }
            )
        ])
    private static let audio = Traf(
        id: 2, decodeTime: 482_816,
        runs: [(0x301, (0..<5).map { _ in MovieBuilder.Sample(duration: 1024, payload: [0x21, 0x10]) })])
    private static let idr = MovieRuleTests.idr
    private static let plain = MovieRuleTests.plain
    private static let media = MovieBuilder.fragment([video, audio])
    /// Start of video and audio in ticks.
    private static let (videoStart, audioStart): (Int64, Int64) = (907_200, 905_280)

    private static func sidx(_ trackID: UInt32) -> [UInt8] {
        MovieBuilder.box("sidx", [0, 0, 0, 0, 0, 0, 0, UInt8(trackID)] + [UInt8](repeating: 0, count: 16))
    }

    private static let (moof, mdat) = (
        Array(media[..<(media.count - mediaData)]), Array(media[(media.count - mediaData)...])
    )
    private static let mediaData = 8 + idr.count + 2 * plain.count + 10

    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        let segment: @Sendable () -> [UInt8]
        /// In ticks.
        var times: [Int64] = []
        var badBoxes = 0
        var excess = 0
        var badSections = 0

        var testDescription: String { when }
    }

    static let rows: [Row] = [
        Row(when: "none", segment: { media }),
        Row(when: "version 1 before moof", segment: { Sketch(time: 10_100).bytes + media }, times: [909_000]),
        Row(
            when: "before styp",
            segment: { Sketch(time: 10_100).bytes + MovieBuilder.box("styp", [0, 0, 0, 0]) + media }, times: [909_000]),
        Row(
            when: "between moof and mdat, included in data offsets",
            segment: {
                let message = Sketch(time: 10_100).bytes
                return MovieBuilder.fragment([video, audio], base: message.count).prefix(moof.count) + message + mdat
            }, times: [909_000]),
        Row(when: "at the end", segment: { media + Sketch(time: 10_100).bytes }, times: [909_000]),
        Row(
            when: "several, not in order of time",
            segment: { [10_200, 10_100, 20_000].flatMap { Sketch(time: $0).bytes } + media },
            times: [918_000, 909_000, 1_800_000]),
        Row(
            when: "a timescale that 90 kHz does not divide: the nearest tick",
            segment: { Sketch(timescale: 7, time: 71).bytes + media }, times: [912_857]),
        Row(
            when: "a time of more than 33 bits",
            segment: { Sketch(timescale: 90_000, time: 1 << 33 + 5).bytes + media }, times: [5]),
        Row(
            when: "the largest time", segment: { Sketch(timescale: 1, time: .max).bytes + media },
            times: [(1 << 33) - 90_000]),
        Row(
            when: "version 0: relative to the earliest audio or video",
            segment: { Sketch(version: 0, time: 100).bytes + media }, times: [audioStart + 9000]),
        Row(
            when: "version 0 in a segment indexed by video",
            segment: { sidx(1) + Sketch(version: 0, time: 100).bytes + media }, times: [videoStart + 9000]),
        Row(
            when: "version 0 in a segment indexed by audio",
            segment: { sidx(2) + Sketch(version: 0, time: 100).bytes + media }, times: [audioStart + 9000]),
        Row(
            when: "version 0 in a segment indexed by a track that is not followed",
            segment: { sidx(9) + Sketch(version: 0, time: 100).bytes + media }, times: [audioStart + 9000]),
        Row(when: "an unknown version", segment: { Sketch(version: 2).bytes + media }, badBoxes: 1),
        Row(when: "no timescale", segment: { Sketch(timescale: 0).bytes + media }, badBoxes: 1),
        Row(
            when: "unterminated strings",
            segment: { MovieBuilder.box("emsg", [1, 0, 0, 0] + [UInt8](repeating: 9, count: 40)) + media },
            badBoxes: 1),
        Row(when: "too short", segment: { MovieBuilder.box("emsg", [0, 0]) + media }, badBoxes: 1),
        Row(when: "a string that is not UTF-8", segment: { Sketch(scheme: [0xFF]).bytes + media }, badBoxes: 1),
        Row(
            when: "a damaged message costs no other",
            segment: { Sketch(timescale: 0).bytes + Sketch(time: 10_100).bytes + media }, times: [909_000],
            badBoxes: 1),
        Row(
            when: "more than the limit",
            segment: { (0..<1030).flatMap { _ in Sketch(time: 10_100, data: []).bytes } + media },
            times: [Int64](repeating: 909_000, count: 1024), excess: 6),
        Row(
            when: "a message over the size limit",
            segment: { Sketch(data: [UInt8](repeating: 0, count: 1 << 20)).bytes + media }, excess: 1),
        Row(
            when: "a damaged splice command is kept as a message",
            segment: { Sketch(time: 10_100, scheme: Array(EventMessage.spliceScheme.utf8)).bytes + media },
            times: [909_000], badSections: 1),
    ]

    private func demux(_ segment: [UInt8], _ tracks: [MovieBuilder.Track] = tracks) throws -> DemuxedSegment {
        try FragmentedMP4Demuxer.all([segment], initialization: MovieBuilder.initialization(tracks))
    }

    @Test(arguments: rows)
    func messagesOfSegment(_ row: Row) throws {
        let segment = try demux(row.segment())
        #expect(segment.metadata.map { $0.time?.count } == row.times)
        var counts = Counts<DemuxCount>()
        (counts[.badBoxes], counts[.excessEventMessages], counts[.badSections]) = (
            row.badBoxes, row.excess, row.badSections
        )
        #expect(segment.counts == counts)
    }

    @Test func truncatedLastBoxYieldsNoMessage() throws {
        let segment = try demux(Self.media + Sketch(time: 10_100).bytes.dropLast(4))
        #expect(segment.metadata.isEmpty && segment.counts[.badBoxes] == 1 && segment.video.count == 3)
    }

    /// An edit list shifts the video; a message of version 1 is on the movie's timeline, after the edit list.
    @Test func editListsAreApplied() throws {
        var tracks = Self.tracks
        tracks[0].edits = [(duration: 5000, mediaTime: -1), (duration: 0, mediaTime: 1024)]
        let segment = try demux(
            Self.sidx(1) + Sketch(time: 15_000).bytes + Sketch(version: 0, time: 0).bytes + Self.media, tracks)
        #expect(segment.video.first?.pts == Ticks(1_350_000))
        #expect(segment.metadata.map { $0.time?.count } == [1_350_000, 1_350_000])
    }

    @Test func onlyTimesAreConverted() throws {
        let sketches = [
            Sketch(duration: 2500, id: 77, scheme: Array("https://é.example/a".utf8), value: [], data: [0, 0, 7]),
            Sketch(version: 0, timescale: 44_100, duration: 44_101, id: .max, data: []),
            Sketch(duration: .max, id: 0),
        ]
        let read = try demux(sketches.flatMap(\.bytes) + Self.media).metadata.map(\.content)
        let (a, v) = ("urn:a", "v")
        #expect(
            read == [
                .message(
                    EventMessage(
                        scheme: "https://é.example/a", duration: Ticks(225_000), number: 77, data: [0, 0, 7]), nil),
                .message(
                    EventMessage(scheme: a, value: v, duration: Ticks(90_002), number: .max, data: []), nil),
                .message(EventMessage(scheme: a, value: v, number: 0, data: [1, 2, 3]), nil),
            ])
    }

    @Test func spliceCommandOfMessageIsParsed() throws {
        let section = SectionSketch.out(event: 7, at: 1_000_000).bytes
        let sketch = Sketch(time: 12_000, scheme: Array(EventMessage.spliceScheme.utf8), data: section)
        let item = try #require(try demux(sketch.bytes + Self.media).metadata.first)
        guard case .message(let message, let splice) = item.content else {
            Issue.record("\(item)")
            return
        }
        #expect(message.data == section && splice?.bytes == section && item.time == Ticks(1_080_000))
    }

    /// Random bytes are read or counted, and never trap.
    @Test func damage() throws {
        var random = SeededGenerator(seed: 7)
        let whole = Sketch(time: 10_100).bytes + Sketch(version: 0, time: 9).bytes
        for _ in 0..<500 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            guard let segment = try? demux(damaged + Self.media) else { continue }
            let boxes = try BoxReader.wholeBoxes(in: damaged[...]).boxes.count { $0.type == "emsg" }
            #expect(segment.metadata.count + segment.counts[.badBoxes] >= boxes)
        }
    }
}
