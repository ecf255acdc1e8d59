import Support
import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

extension MediaFileIndex {
    /// Reads the index of a file. Returns it with the number of bytes that were read for it.
    static func of(
        _ file: [UInt8], _ cutting: FileCutting = FileCutting(maxBytes: 32 << 20)
    ) throws(MediaError) -> (index: MediaFileIndex, bytesRead: Int, reads: Int) {
        let beginning = Array(file.prefix(Int(MediaFileIndex.windowBytes)))
        var index = try MediaFileIndex(beginning: beginning, byteCount: UInt64(file.count), cutting)
        var (bytesRead, reads) = (0, 0)
        while let range = index.neededRange {
            (bytesRead, reads) = (bytesRead + range.count, reads + 1)
            try index.append(Array(file[range]))
        }
        return (index, bytesRead, reads)
    }

    /// Demuxes the segments one after the other.
    func demux(_ file: [UInt8]) throws(MediaError) -> DemuxedSegment {
        var demuxer: any SegmentDemuxer =
            initialization == nil ? TransportDemuxer() : FragmentedMP4Demuxer()
        var whole = DemuxedSegment()
        for segment in segments {
            if let initialization { try demuxer.initialize(with: initialization.bytes) }
            whole.append(try demuxer.feed(Array(file[segment.range]), of: [segment.range]))
        }
        whole.append(try demuxer.finish())
        return whole
    }
}

/// The parts into which files are cut have every packet that libavformat reads from the file, once.
@Suite struct MediaFileIndexTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let when: String
        var video: [String]? = FileMedia.h264
        var audio: [String]? = FileMedia.aac
        var codec = VideoConfiguration.Codec.h264
        var delay = (video: "0", audio: "0")
        var output: [String] = []
        var container = "mp4"
        var segments = 4
        /// From one transport packet to the next.
        var stride = 188
        var testDescription: String { when }
    }

    private static let noSlices = ["-movflags", "+frag_keyframe+empty_moov"]

    static let rows = [
        Row(when: "moov last"),
        Row(when: "moov first", output: ["-movflags", "+faststart"]),
        Row(
            when: "moov first, audio in chunks of a second",
            output: ["-movflags", "+faststart", "-chunk_duration", "1M"]),
        Row(when: "HEVC", video: FileMedia.hevc, codec: .hevc),
        Row(when: "video without audio", audio: nil),
        Row(when: "audio without video", video: nil, segments: 4),
        Row(when: "an edit list that delays the video", delay: ("0.4", "0"), segments: 5),
        Row(when: "an edit list that delays the audio", delay: ("0", "0.4")),
        Row(
            when: "fragments with an index of the file",
            output: ["-movflags", "+frag_keyframe+empty_moov+default_base_moof+global_sidx"]),
        Row(when: "fragments with an index each", output: ["-movflags", "+frag_keyframe+empty_moov+dash"]),
        Row(when: "fragments without an index", output: noSlices + ["-movflags", "+skip_trailer"]),
        Row(
            when: "fragments of each track", output: noSlices + ["-movflags", "+separate_moof+skip_trailer"]),
        Row(when: "fragments of half a second", output: noSlices + ["-frag_duration", "500000"], segments: 5),
        Row(
            when: "one GOP, cut at any frame", video: ["-c:v", "libx264", "-preset", "veryfast", "-g", "999"],
            segments: 2),
        Row(when: "transport stream", output: ["-f", "mpegts"], container: "mpegts", segments: 3),
        Row(
            when: "transport stream, 192 bytes a packet", output: ["-f", "mpegts"], container: "mpegts", segments: 3,
            stride: 192),
        Row(
            when: "transport stream, 204 bytes a packet", output: ["-f", "mpegts"], container: "mpegts", segments: 3,
            stride: 204),
    ]

    @Test(arguments: rows) func hasEveryPacketOnce(_ row: Row) throws {
        let made = try FileMedia.make(
            video: row.video, audio: row.audio, seconds: "12", delay: row.delay, output: row.output)
        let file = row.stride == 188 ? made : EndlessMultiplex.packets(made, size: row.stride)
        let (index, bytesRead, reads) = try MediaFileIndex.of(file)
        let truth = try OracleDemuxer.packets(file, container: row.container)
        let ours = try index.demux(file)
        if row.container == "mpegts" {
            #expect(ours.video.map(ComparableFrame.init).count == truth.count { $0.isVideo })
            #expect(ours.audio.count == truth.count { !$0.isVideo })
        } else {
            #expect(
                ours.video.map(ComparableFrame.init)
                    == truth.filter(\.isVideo).map { ComparableFrame(movie: $0, codec: row.codec) })
            #expect(
                ours.audio.map(ComparableFrame.init) == truth.filter { !$0.isVideo }.map { ComparableFrame(movie: $0) })
        }
        #expect(ours.counts == Counts<DemuxCount>())
        #expect(index.segments.count == row.segments)
        #expect(
            zip(index.segments, index.segments.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound })
        let total = index.segments.map(\.duration).reduce(.zero, +)
        #expect(abs((total - .seconds(12)).count) < Ticks.seconds(1).count, "\(total)")
        #expect(reads <= 30 && bytesRead <= file.count)
    }

    static let faults: [(when: String, file: @Sendable () throws -> [UInt8], fault: MovieFault)] = [
        ("text", { Array("#EXTM3U".utf8) }, .notMP4),
        ("no bytes", { [] }, .notMP4),
        ("cut in its moov", { Array(try FileMedia.make(seconds: "2").dropLast(9)) }, .noMovie),
        ("fragments without media", { MovieBuilder.initialization([.init()]) }, .noMovie),
        (
            "all audio after all video",
            { try FileMedia.make(seconds: "40", output: ["-movflags", "+faststart", "-chunk_duration", "90M"]) },
            .notInterleaved
        ),
    ]

    @Test(arguments: faults.indices) func unusableFileIsRefused(_ index: Int) throws {
        let row = Self.faults[index]
        let file = try row.file()
        #expect(throws: MediaError.movie(row.fault), "\(row.when)") { try MediaFileIndex.of(file) }
    }

    @Test func segmentLargerThanItMayBeIsCutOrRefused() throws {
        let file = try FileMedia.make(seconds: "6")
        let cut = try MediaFileIndex.of(file, FileCutting(maxBytes: file.count / 6)).index
        #expect(cut.segments.count > 5 && cut.segments.allSatisfy { $0.range.count <= file.count / 6 })
        #expect(throws: MediaError.self) { try MediaFileIndex.of(file, FileCutting(maxBytes: 500)) }
        let movie = UInt64(cut.initialization?.bytes.count ?? 0)
        _ = try MediaFileIndex.of(file, FileCutting(maxBytes: 32 << 20, maxMovieBytes: movie))
        #expect(throws: MediaError.movie(.movieTooLarge(bytes: movie))) {
            try MediaFileIndex.of(file, FileCutting(maxBytes: 32 << 20, maxMovieBytes: movie - 1))
        }
    }

    /// Audio that comes after its video, in a fragment of its own, is in the segment of that video.
    @Test(arguments: ["1M", "4M"]) func segmentsOfFragmentsPerTrackHaveBothTracks(length: String) throws {
        let file = try FileMedia.make(
            seconds: "12", output: ["-movflags", "+empty_moov+separate_moof+skip_trailer", "-frag_duration", length])
        let index = try MediaFileIndex.of(file).index
        #expect(index.segments.count >= 3)
        var demuxer = FragmentedMP4Demuxer()
        // The last one may have audio alone: what ends after the video.
        for segment in index.segments.dropLast() {
            try demuxer.initialize(with: try #require(index.initialization).bytes)
            let media = try demuxer.feed(Array(file[segment.range]), of: [segment.range])
            let (video, audio) = (media.video.compactMap(\.dts).max(), media.audio.compactMap(\.pts).max())
            #expect(abs(try #require(video).count - (try #require(audio).count)) < 18_000)
            #expect(abs(segment.duration.count - Int64(media.video.count) * 3600) <= 3600)
        }
    }

    /// Packagers that know no EXT-X-MAP list the init section first, or whole files.
    @Test func initSectionAndWholeFileAreReadAsSegments() throws {
        let fragmented = try FileMedia.make(seconds: "4", output: Self.noSlices)
        let index = try MediaFileIndex.of(fragmented).index
        var demuxer = FragmentedMP4Demuxer()
        #expect(try demuxer.feed(try #require(index.initialization).bytes).video.isEmpty)
        let segment = try #require(index.segments.first)
        #expect(try !demuxer.feed(Array(fragmented[segment.range])).video.isEmpty)

        let plain = try FileMedia.make(seconds: "4")
        var another = FragmentedMP4Demuxer()
        let whole = try another.feed(plain)
        let expected = try MediaFileIndex.of(plain).index.demux(plain)
        #expect(whole.video.map(\.payload) == expected.video.map(\.payload) && !whole.video.isEmpty)
        #expect(whole.audio.map(\.pts) == expected.audio.map(\.pts) && !whole.audio.isEmpty)
    }

    /// Cut off anywhere, a fragmented file has what is before that.
    @Test func fragmentedFileEndsWhereItIsCutOff() throws {
        let file = try FileMedia.make(seconds: "12", output: Self.noSlices)
        let whole = try MediaFileIndex.of(file).index.segments
        for part in 1...8 {
            let cut = Array(file.prefix(file.count * part / 9))
            let segments = (try? MediaFileIndex.of(cut).index.segments) ?? []
            #expect(segments.count <= whole.count && segments.allSatisfy { $0.range.upperBound <= UInt64(cut.count) })
        }
    }

    /// A damaged file gives an error or another file.
    @Test("damaged files never trap", arguments: [["-movflags", "+faststart"], noSlices], 0..<2)
    func damagedFilesNeverTrap(output: [String], seed: Int) throws {
        let file = try FileMedia.make(seconds: "2", output: output)
        var random = SeededGenerator(seed: UInt64(seed))
        var accepted = 0
        for _ in 0..<50 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 8..<2400, using: &random)
                damaged[index] = [0, 0xFF, 0x80, damaged[index] ^ 1].randomElement(using: &random) ?? 0
            }
            do throws(MediaError) {
                _ = try MediaFileIndex.of(damaged).index.demux(damaged)
                accepted += 1
            } catch {}
        }
        #expect(accepted > 0)
    }
}
