import Support
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// Reads slate files as segments and as a loop, and compares them with libavformat.
@Suite struct SlateMovieTests {
    struct Row: Sendable {
        let when: String
        var video = FileMedia.h264
        var audio: [String]? = FileMedia.aac
        var rate = "25"
        /// Seconds by which video and audio begin later.
        var delay = (video: "0", audio: "0")
        var output: [String] = []
        var codec = VideoConfiguration.Codec.h264
        /// Hexadecimal bytes to replace in the file.
        var patch: (old: String, new: String)?
        var audioTrackUse = SlateMovie.AudioTrackUse.copied
        /// Ticks by which libavformat shifts decode times so that no frame is presented before it is decoded.
        var shift: Int64 = 0
        /// Microseconds by which the first audio frame of a period may be early: a gap of less than a frame before it is closed.
        var tolerance: Int64 = 25_000
    }

    static let rows = [
        Row(when: "H.264 with B-frames, AAC, moov at the end"),
        Row(when: "moov before mdat", output: ["-movflags", "+faststart"]),
        Row(when: "44.1 kHz mono", audio: ["-c:a", "aac", "-ar", "44100", "-ac", "1"]),
        Row(
            when: "HE-AAC with explicit signaling", audio: ["-c:a", "aac", "-ar", "24000", "-ac", "2"],
            patch: ("131056e500", "131056e598")),
        Row(when: "AC-3", audio: ["-c:a", "ac3", "-ar", "48000", "-ac", "2"], tolerance: 32_000),
        Row(when: "no audio", audio: nil, audioTrackUse: .absent),
        Row(
            when: "unsupported audio codec", audio: ["-c:a", "libvorbis"],
            audioTrackUse: .unusable(sampleEntries: ["mp4a"])),
        Row(when: "HEVC", video: FileMedia.hevc, codec: .hevc),
        Row(when: "negative composition offsets", output: ["-movflags", "+negative_cts_offsets"], shift: 3600),
        Row(when: "30000/1001 frames per second", rate: "30000/1001"),
        Row(when: "video that begins later", delay: ("0.4", "0")),
        Row(when: "audio that begins later", delay: ("0", "0.4")),
        Row(
            when: "a still image with silence",
            video: ["-vf", "loop=-1:1,trim=duration=3"] + FileMedia.h264, audio: ["-af", "volume=0"] + FileMedia.aac),
    ]

    private static let files: [Result<[UInt8], any Error>] = rows.map { row in
        Result {
            let file = try FileMedia.make(
                video: row.video, audio: row.audio, rate: row.rate, delay: row.delay, output: row.output)
            return row.patch.map { file.replacing($0.old, with: $0.new) } ?? file
        }
    }

    @Test("segments contain the packets that libavformat reads from the file", arguments: rows.indices)
    func agreesWithLibavformat(_ index: Int) throws {
        let (row, file) = (Self.rows[index], try Self.files[index].get())
        let (movie, bytesRead) = try SlateMovie.of(file)
        #expect(movie.audioTrackUse == row.audioTrackUse, "\(row.when)")
        #expect(bytesRead < file.count / 4, "\(row.when)")
        let ours = try movie.demux(file, longest: .seconds(1))
        let truth = try OracleDemuxer.packets(file, container: "mp4")
        let video = truth.filter(\.isVideo).map {
            var frame = ComparableFrame(movie: $0, codec: row.codec)
            frame.dts = frame.dts.map { Ticks($0 + row.shift).wire.count }
            return frame
        }
        #expect(ours.video.map(ComparableFrame.init) == video, "\(row.when)")
        let audio = row.audioTrackUse == .copied ? Self.presentedAudio(truth) : []
        #expect(ours.audio.map(ComparableFrame.init) == audio.map { ComparableFrame(movie: $0) }, "\(row.when)")
        #expect(ours.counts == Counts<DemuxCount>(), "\(row.when)")
    }

    /// Returns the audio packets that overlap the video.
    private static func presentedAudio(_ packets: [OraclePacket]) -> [OraclePacket] {
        func times(_ packets: [OraclePacket]) -> (start: Double, end: Double, step: Double) {
            let times = packets.map { Double($0.pts ?? 0) / Double($0.timescale) }.sorted()
            let step = times.count > 1 ? times[1] - times[0] : 0
            return (times.first ?? 0, (times.last ?? 0) + step, step)
        }
        let (videoTimes, audio) = (times(packets.filter(\.isVideo)), packets.filter { !$0.isVideo })
        let frame = times(audio).step
        return audio.filter {
            let time = Double($0.pts ?? 0) / Double($0.timescale)
            return time + frame > videoTimes.start + 1e-6 && time < videoTimes.end - 1e-6
        }
    }

    @Test("three passes are one continuous timeline with unchanged audio delay", arguments: rows.indices)
    func loopIsContinuous(_ index: Int) throws {
        let (row, file) = (Self.rows[index], try Self.files[index].get())
        let movie = try SlateMovie.of(file).movie
        let output = try SlateOutput(movie, of: file, passes: 3, longest: .seconds(1))
        let source = try movie.demux(file, longest: .seconds(1))
        #expect(output.refusal == nil)
        let count = try movie.segments(longest: .seconds(1)).count
        #expect(output.published.count == 3 * count, "\(row.when)")
        #expect(output.published.map(\.isDiscontinuous) == (0..<3 * count).map { $0 % count == 0 }, "\(row.when)")
        #expect(output.published.allSatisfy { $0.isIndependent && $0.duration <= .seconds(1) }, "\(row.when)")
        #expect(output.video.map(\.count).reduce(0, +) == 3 * source.video.count, "\(row.when)")
        #expect(output.isContinuous, "\(row.when)")
        #expect(output.counts[.adjustedTimestamps] == 0 && output.counts[.audioGapsAndOverlaps] == 0, "\(row.when)")
        #expect(output.audio.allSatisfy { !$0.isEmpty }, "\(row.when): a fragment has no audio")
        let errors = output.audioDelayErrors(from: source)
        #expect(errors.allSatisfy { abs($0) <= row.tolerance }, "\(row.when): \(errors.max() ?? 0) µs")
        // At most the two frames at the ends of each pass are missing.
        let distinct = Dictionary(grouping: source.audio, by: \.payload).values.count { $0.count == 1 }
        #expect(errors.count >= 3 * (distinct - 2), "\(row.when)")
    }

    @Test("a GOP longer than a segment is one slate segment, which the splice engine cuts")
    func longGOPIsOneSegment() throws {
        let file = try FileMedia.make(video: ["-c:v", "libx264", "-preset", "veryfast", "-g", "250"])
        let movie = try SlateMovie.of(file).movie
        #expect(try movie.segments(longest: .seconds(1)).map(\.duration) == [.seconds(3)])
        let output = try SlateOutput(movie, of: file, passes: 2, longest: .seconds(1))
        #expect(output.published.allSatisfy { $0.duration <= .seconds(1) } && output.isContinuous)
        #expect(output.video.map(\.count).reduce(0, +) == 150)
    }

    /// Open GOPs are the default of x265. Their leading pictures must not be lost.
    @Test("HEVC open GOPs are complete in every pass")
    func openGOPsAreComplete() throws {
        let file = try FileMedia.make(
            video: [
                "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                "log-level=none:keyint=25:bframes=2:open-gop=1",
            ]
        )
        let movie = try SlateMovie.of(file).movie
        let output = try SlateOutput(movie, of: file, passes: 3, longest: .seconds(1))
        #expect(output.isContinuous && output.counts[.adjustedTimestamps] == 0)
        #expect(output.video.map(\.count).reduce(0, +) == 225)
        #expect(output.published.allSatisfy { $0.duration <= .seconds(1) })
    }

    @Test("segments have similar durations within the limit", arguments: [1, 2, 3, 60])
    func segmentDurations(longest: Int64) throws {
        let file = try Self.files[0].get()
        let movie = try SlateMovie.of(file).movie
        let segments = try movie.segments(longest: .seconds(longest))
        #expect(segments.map(\.duration).reduce(.zero, +) == .seconds(3))
        #expect(segments.allSatisfy { $0.duration <= .seconds(longest) })
        #expect(segments.count == Int((3 + longest - 1) / longest))
        for segment in segments {
            #expect(zip(segment.ranges, segment.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test("with --audio uniform the slate has the channel's audio configuration")
    func uniformUsesChannelAudio() throws {
        let file = try Self.files[2].get()
        let movie = try SlateMovie.of(file).movie
        let output = try SlateOutput(movie, of: file, passes: 2, longest: .seconds(1), policy: .uniform)
        #expect(output.published.allSatisfy { $0.position.audio == SlateOutput.start.audio } && output.isContinuous)
    }

    static let rejectedRows: [(when: String, video: [String], rate: String, seconds: String, fault: MovieFault)] = [
        ("fragmented", FileMedia.h264 + MovieMedia.fragments, "25", "2", .fragmented),
        ("one frame per second", FileMedia.h264, "1", "5", .frameRateTooLow(longest: .seconds(1))),
        ("half a second", FileMedia.h264, "25", "0.48", .tooShort(.milliseconds(480))),
    ]

    @Test("an unusable file is rejected with its reason", arguments: rejectedRows.indices)
    func unusableFileIsRejected(_ index: Int) throws {
        let row = Self.rejectedRows[index]
        let file = try FileMedia.make(video: row.video, audio: nil, seconds: row.seconds, rate: row.rate)
        #expect(throws: MediaError.movie(row.fault), "\(row.when)") { try SlateMovie.of(file) }
    }

    @Test("a truncated file is rejected, wherever its moov is")
    func truncatedFileIsRejected() throws {
        let (moovLast, moovFirst) = (try Self.files[0].get(), try Self.files[1].get())
        #expect(throws: MediaError.movie(.noMovie)) { try SlateMovie.of(moovLast.dropLast(1)) }
        #expect(throws: MediaError.movie(.samplesPastEnd)) { try SlateMovie.of(moovFirst.dropLast(1)) }
    }
}
