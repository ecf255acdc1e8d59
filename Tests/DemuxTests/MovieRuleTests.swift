import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Transcode

/// Times, positions and damage of movie fragments.
@Suite("Fragmented MP4 demuxing")
struct MovieRuleTests {
    typealias Sample = MovieBuilder.Sample
    typealias Traf = MovieBuilder.Traf

    /// An IDR slice and a non-IDR slice, each with a four-byte length.
    static let idr: [UInt8] = [0, 0, 0, 3, 0x65, 0x88, 0x84]
    static let plain: [UInt8] = [0, 0, 0, 4, 0x41, 0x9A, 0x02, 0x05]
    /// Flags of a track run with data offset, durations and sizes.
    static let usual: UInt32 = 0x301

    private static func videoTraf(_ count: Int, from time: UInt64? = 0, duration: UInt32 = 3600) -> Traf {
        let samples = (0..<count).map { Sample(duration: duration, payload: $0 == 0 ? idr : plain) }
        return Traf(decodeTime: time, runs: [(usual, samples)])
    }

    private static let initialization = MovieBuilder.initialization([MovieBuilder.Track()])

    private func demux(
        _ segments: [[UInt8]], _ tracks: [MovieBuilder.Track] = [MovieBuilder.Track()]
    ) throws(MediaError) -> DemuxedSegment {
        try FragmentedMP4Demuxer.all(segments, initialization: MovieBuilder.initialization(tracks))
    }

    // MARK: - Sample positions and times

    struct TimeRow: CustomTestStringConvertible, Sendable {
        let when: String
        var track = { MovieBuilder.Track() } as @Sendable () -> MovieBuilder.Track
        let segments: @Sendable () -> [[UInt8]]
        /// Decoding times in 90 kHz ticks.
        let dts: [Int64]
        var pts: [Int64]?

        var testDescription: String { when }
    }

    static let times: [TimeRow] = [
        TimeRow(
            when: "several moofs in a segment, the second without tfdt",
            segments: {
                [MovieBuilder.fragment([videoTraf(2, from: 90)]) + MovieBuilder.fragment([videoTraf(1, from: nil)])]
            }, dts: [90, 3690, 7290]),
        TimeRow(
            when: "no tfdt: a segment begins at the end of the preceding one",
            segments: { [1, 2].map { MovieBuilder.fragment([videoTraf($0, from: nil)]) } }, dts: [0, 3600, 7200]),
        TimeRow(
            when: "tfdt of version 0",
            segments: {
                var traf = videoTraf(1, from: 0xFFFF_FFFF)
                traf.decodeTimeVersion = 0
                return [MovieBuilder.fragment([traf])]
            }, dts: [0xFFFF_FFFF]),
        TimeRow(
            when: "a time of more than 33 bits",
            segments: { [MovieBuilder.fragment([videoTraf(2, from: 1 << 33 - 3600)])] }, dts: [1 << 33 - 3600, 0]),
        TimeRow(
            when: "the largest time", track: { MovieBuilder.Track(timescale: .max) },
            segments: { [MovieBuilder.fragment([videoTraf(2, from: .max, duration: .max)])] },
            // 2⁶⁴ / (2³² − 1) seconds are 2³² + 1; a frame lasts one second.
            dts: [(1 << 32 + 1) * 90_000 & (1 << 33 - 1), 90_000]),
        TimeRow(
            when: "30000/1001 frames per second, each time rounded from the start",
            track: { MovieBuilder.Track(timescale: 30_000) },
            segments: { [MovieBuilder.fragment([videoTraf(5, from: 1001 * 1_000_000, duration: 1001)])] },
            dts: (0..<5).map { ((1_000_000 + $0) * 3003) & (1 << 33 - 1) }),
        TimeRow(
            when: "a timescale that 90 kHz does not divide: no drift", track: { MovieBuilder.Track(timescale: 7) },
            segments: { [MovieBuilder.fragment([videoTraf(4, from: 0, duration: 1)])] },
            dts: [0, 12_857, 25_714, 38_571]),
        TimeRow(
            when: "signed composition offsets",
            segments: {
                let offsets: [Int32] = [0, 7200, -3600]
                let samples = offsets.map { Sample(offset: $0, payload: idr) }
                return [MovieBuilder.fragment([Traf(decodeTime: 9000, runs: [(usual | 0x800, samples)])])]
            }, dts: [9000, 12_600, 16_200], pts: [9000, 19_800, 12_600]),
        TimeRow(
            when: "an empty edit and a media time",
            track: { MovieBuilder.Track(edits: [(500, -1), (0, 7200)]) },
            segments: { [MovieBuilder.fragment([videoTraf(2, from: 0)])] }, dts: [37_800, 41_400]),
        TimeRow(
            when: "an edit list begins after the first sample: its time is before 0",
            track: { MovieBuilder.Track(edits: [(0, 3600)]) },
            segments: { [MovieBuilder.fragment([videoTraf(2, from: 0)])] }, dts: [1 << 33 - 3600, 0]),
        TimeRow(
            when: "durations and sizes of trex",
            track: { MovieBuilder.Track(defaults: (1800, 7, 0)) },
            segments: {
                let samples = [idr, idr].map { Sample(payload: $0) }
                return [MovieBuilder.fragment([Traf(runs: [(1, samples)])])]
            }, dts: [0, 1800]),
        TimeRow(
            when: "durations and sizes of tfhd override those of trex",
            track: { MovieBuilder.Track(defaults: (1, 1, 0)) },
            segments: {
                let samples = [idr, idr].map { Sample(payload: $0) }
                return [MovieBuilder.fragment([Traf(defaults: (900, 7, 0), runs: [(1, samples)])])]
            }, dts: [0, 900]),
        TimeRow(
            when: "several track runs, only the first with a data offset",
            segments: {
                let run = [Sample(payload: idr), Sample(payload: plain)]
                return [MovieBuilder.fragment([Traf(runs: [(usual, run), (usual & ~1, run)])])]
            }, dts: [0, 3600, 7200, 10_800]),
        TimeRow(
            when: "mdat before its moof",
            segments: { [MovieBuilder.fragment([videoTraf(2)], layout: .mediaBeforeHeader)] }, dts: [0, 3600]),
        TimeRow(
            when: "data offsets from the start of a file of which the segment is a part",
            segments: {
                var traf = videoTraf(2)
                (traf.headerFlags, traf.baseDataOffset) = (0, 81_234)
                return [MovieBuilder.fragment([traf])]
            }, dts: [0, 3600]),
        TimeRow(
            when: "data offsets from the start of the segment",
            segments: {
                var traf = videoTraf(2)
                (traf.headerFlags, traf.baseDataOffset) = (0, 0)
                let first = MovieBuilder.fragment([videoTraf(2)])
                let base = first.count + MovieBuilder.box("free", [UInt8](repeating: 0, count: 400)).count
                let second = MovieBuilder.fragment([traf], base: base)
                return [first + MovieBuilder.box("free", [UInt8](repeating: 0, count: 400)) + second]
            }, dts: [0, 3600, 0, 3600]),
    ]

    @Test(arguments: times)
    func time(row: TimeRow) throws {
        let found = try demux(row.segments(), [row.track()])
        #expect(found.video.map { $0.dts?.count } == row.dts)
        #expect(found.video.map { $0.pts?.count } == row.pts ?? row.dts)
        #expect(found.video.allSatisfy { !$0.isDamaged })
        #expect(found.counts == Counts<DemuxCount>())
    }

    /// Every combination of trun flags, read back as written.
    @Test(arguments: 0..<64)
    func runFlags(combination: UInt32) throws {
        let flags = 1 | (combination & 1) << 2 | (combination >> 1 & 15) << 8
        var random = SeededGenerator(seed: UInt64(combination))
        let isVersionOne = combination >> 5 == 1
        let samples = (0..<5).map { index in
            Sample(
                duration: .random(in: 1...9999, using: &random), offset: .random(in: -99...9999, using: &random),
                flags: .random(in: 0 ... .max, using: &random),
                payload: flags & 0x200 != 0
                    ? (0..<Int.random(in: 1...9, using: &random)).map { UInt8($0) } : [1, 2, UInt8(index)])
        }
        let traf = Traf(
            defaults: (77, 3, 55), runs: [(flags, samples)], runVersion: isVersionOne ? 1 : 0)
        let segment = MovieBuilder.fragment([traf])
        let read = try #require(MovieFragment.fragments(of: segment).first?.tracks.first?.samples)
        for (index, (found, written)) in zip(read, samples).enumerated() {
            #expect(Array(found.payload) == written.payload)
            #expect(found.duration == (flags & 0x100 != 0 ? written.duration : 77))
            let ownFlags = flags & 0x400 != 0 || index == 0 && flags & 4 != 0
            #expect(found.flags == (ownFlags ? written.flags : 55))
            #expect(found.compositionOffset == (flags & 0x800 != 0 ? written.offset : 0))
        }
        #expect(read.count == samples.count)
    }

    // MARK: - Damage

    @Test("a truncated segment yields its complete samples")
    func cutMedia() throws {
        let whole = MovieBuilder.fragment([Self.videoTraf(4)])
        for (cut, frames, incomplete) in [(0, 4, 0), (2, 4, 1), (8, 3, 1), (10, 3, 2), (23, 1, 3), (24, 1, 3)] {
            let found = try demux([Array(whole.dropLast(cut))])
            #expect(found.video.count == frames, "\(cut)")
            #expect(found.counts[.incompleteSamples] == incomplete, "\(cut)")
            #expect(found.video.filter(\.isDamaged).count == (cut == 2 || cut == 10 ? 1 : 0), "\(cut)")
        }
    }

    @Test("a truncated box costs its fragment")
    func cutFragment() throws {
        let first = MovieBuilder.fragment([Self.videoTraf(2)])
        let cut = try demux([first + MovieBuilder.fragment([Self.videoTraf(2)]).prefix(40)])
        #expect(cut.video.count == 2)
        #expect(cut.counts[.badBoxes] == 1)
        #expect(throws: MediaError.self) { try demux([Array(first.prefix(40))]) }
    }

    @Test("repeated references to the same bytes are refused")
    func overlap() {
        let traf = Traf(
            runs: (0..<64).map { _ in (Self.usual, [Sample(payload: [UInt8](repeating: 0, count: 200))]) })
        var segment = MovieBuilder.fragment([traf])
        let first = segment.firstRange(of: "trun".utf8)?.lowerBound ?? 0
        let offset = segment[first + 12..<first + 16]
        for start in segment.ranges(of: Array("trun".utf8)).map(\.lowerBound) {
            segment.replaceSubrange(start + 12..<start + 16, with: offset)
            segment.replaceSubrange(start + 20..<start + 24, with: [0, 0, 0x30, 0])
        }
        #expect(throws: MediaError.self) { try demux([segment]) }
    }

    @Test("truncated and damaged input never traps", arguments: 0..<8)
    func damage(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let audio = MovieBuilder.Track(
            id: 2, timescale: 48_000, handler: "soun", entries: [MovieBuilder.mp4a([0x11, 0x90])],
            edits: [(3, -1), (0, 1024)])
        let initialization = MovieBuilder.initialization([MovieBuilder.Track(), audio])
        let frames = Traf(id: 2, runs: [(Self.usual, [Sample(duration: 1024, payload: [0x21, 1, 2])])])
        let segment = MovieBuilder.fragment([Self.videoTraf(3), frames])
        for _ in 0..<100 {
            var (damagedInit, damaged) = (initialization, segment)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                damagedInit[Int.random(in: 0..<damagedInit.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let value: UInt8 = Bool.random(using: &random) ? 0xFF : .random(in: 0...255, using: &random)
                damaged[Int.random(in: 0..<damaged.count, using: &random)] = value
            }
            damaged.removeLast(Int.random(in: 0...4, using: &random) == 0 ? Int.random(in: 0...99, using: &random) : 0)
            let found = try? FragmentedMP4Demuxer.all([damaged], initialization: damagedInit)
            #expect((found?.video.count ?? 0) <= damaged.count)
        }
    }
}
