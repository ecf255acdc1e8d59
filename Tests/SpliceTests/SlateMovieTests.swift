import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Ordinary files as segments, and as a loop; libavformat reads the same files by itself.
@Suite struct SlateMovieTests {
    struct Row: Sendable {
        let when: String
        var video = SlateMedia.h264
        var audio: [String]? = SlateMedia.aac
        var rate = "25"
        /// Seconds by which pictures and sound begin later.
        var late = (pictures: "0", sound: "0")
        var output: [String] = []
        var codec = VideoConfiguration.Codec.h264
        /// What replaces what in the file.
        var patch: (old: String, new: String)?
        var audioTrackUse = SlateMovie.AudioTrackUse.copied
        /// By which libavformat makes decode times earlier, so that no picture is shown before it is decoded.
        var shift: Int64 = 0
        /// Microseconds by which the first frame of a run may be early; in front of it a hole of less than a frame is closed.
        var tolerance: Int64 = 25_000
    }

    static let rows = [
        Row(when: "H.264 with B-frames, AAC, moov at the end"),
        Row(when: "moov in front", output: ["-movflags", "+faststart"]),
        Row(when: "44.1 kHz mono", audio: ["-c:a", "aac", "-ar", "44100", "-ac", "1"]),
        Row(
            when: "HE-AAC that says so", audio: ["-c:a", "aac", "-ar", "24000", "-ac", "2"],
            patch: ("131056e500", "131056e598")),
        Row(when: "AC-3", audio: ["-c:a", "ac3", "-ar", "48000", "-ac", "2"], tolerance: 32_000),
        Row(when: "no sound", audio: nil, audioTrackUse: .absent),
        Row(
            when: "sound that nobody carries", audio: ["-c:a", "libvorbis"],
            audioTrackUse: .unusable(sampleEntries: ["mp4a"])),
        Row(when: "HEVC", video: SlateMedia.hevc, codec: .hevc),
        Row(when: "negative composition offsets", output: ["-movflags", "+negative_cts_offsets"], shift: 3600),
        Row(when: "30000/1001 frames a second", rate: "30000/1001"),
        Row(when: "pictures that begin later", late: ("0.4", "0")),
        Row(when: "sound that begins later", late: ("0", "0.4")),
        Row(
            when: "a picture that stands still, with silence",
            video: ["-vf", "loop=-1:1,trim=duration=3"] + SlateMedia.h264, audio: ["-af", "volume=0"] + SlateMedia.aac),
    ]

    private static let files: [Result<[UInt8], any Error>] = rows.map { row in
        Result {
            let file = try SlateMedia.make(
                video: row.video, audio: row.audio, rate: row.rate, late: row.late, output: row.output)
            return row.patch.map { file.replacing($0.old, with: $0.new) } ?? file
        }
    }

    @Test("is the same as libavformat finds in the file", arguments: rows.indices)
    func agreesWithLibavformat(_ index: Int) throws {
        let (row, file) = (Self.rows[index], try Self.files[index].get())
        let (movie, bytesRead) = try SlateMovie.of(file)
        #expect(movie.audioTrackUse == row.audioTrackUse, "\(row.when)")
        #expect(bytesRead < file.count / 4, "\(row.when)")
        let segments = try movie.segments(of: file, longest: .seconds(1))
        let ours = try FragmentedMP4Demuxer.all(segments, initialization: movie.initialization)
        let truth = try OracleDemuxer.packets(file, container: "mp4")
        let pictures = truth.filter(\.isVideo).map {
            var frame = ComparableFrame(movie: $0, codec: row.codec)
            frame.dts = frame.dts.map { Ticks($0 + row.shift).wire.count }
            return frame
        }
        #expect(ours.video.map(ComparableFrame.init) == pictures, "\(row.when)")
        let heard = row.audioTrackUse == .copied ? Self.presentedAudio(truth) : []
        #expect(ours.audio.map(ComparableFrame.init) == heard.map { ComparableFrame(movie: $0) }, "\(row.when)")
        #expect(ours.counts == DemuxCounts(), "\(row.when)")
        // What was written is read by libavformat as it is by us.
        let again = try OracleDemuxer.packets(movie.initialization + segments.joined(), container: "mp4")
        #expect(
            again.filter(\.isVideo).map { ComparableFrame(movie: $0, codec: row.codec) }.map(\.parts)
                == pictures.map(\.parts))
        #expect(again.filter { !$0.isVideo }.map(\.bytes) == heard.map(\.bytes), "\(row.when)")
    }

    /// Those that are heard beside a picture.
    private static func presentedAudio(_ packets: [OraclePacket]) -> [OraclePacket] {
        func times(_ packets: [OraclePacket]) -> (start: Double, end: Double, step: Double) {
            let times = packets.map { Double($0.pts ?? 0) / Double($0.timescale) }.sorted()
            let step = times.count > 1 ? times[1] - times[0] : 0
            return (times.first ?? 0, (times.last ?? 0) + step, step)
        }
        let (pictures, sound) = (times(packets.filter(\.isVideo)), packets.filter { !$0.isVideo })
        let frame = times(sound).step
        return sound.filter {
            let time = Double($0.pts ?? 0) / Double($0.timescale)
            return time + frame > pictures.start + 1e-6 && time < pictures.end - 1e-6
        }
    }

    @Test("three rounds are one continuous programme, with sound where it was", arguments: rows.indices)
    func loops(_ index: Int) throws {
        let (row, file) = (Self.rows[index], try Self.files[index].get())
        let movie = try SlateMovie.of(file).movie
        let show = try SlateShow(movie, of: file, rounds: 3, longest: .seconds(1))
        let source = try FragmentedMP4Demuxer.all(
            movie.segments(of: file, longest: .seconds(1)), initialization: movie.initialization)
        #expect(show.refusal == nil)
        let pieces = try movie.segments(longest: .seconds(1)).count
        #expect(show.published.count == 3 * pieces, "\(row.when)")
        #expect(show.published.map(\.isDiscontinuous) == (0..<3 * pieces).map { $0 % pieces == 0 }, "\(row.when)")
        #expect(show.published.allSatisfy { $0.isIndependent && $0.duration <= .seconds(1) }, "\(row.when)")
        #expect(show.pictures.map(\.count).reduce(0, +) == 3 * source.video.count, "\(row.when)")
        #expect(show.isContinuous, "\(row.when)")
        #expect(show.counts.timestampsSanitized == 0 && show.counts.audioDriftCorrections == 0, "\(row.when)")
        #expect(show.audio.allSatisfy { !$0.isEmpty }, "\(row.when): a fragment never lacks a track")
        let departures = show.departures(from: source)
        #expect(departures.allSatisfy { abs($0) <= row.tolerance }, "\(row.when): \(departures.max() ?? 0) µs")
        // Of each round at most the frames at its two ends.
        let distinct = Dictionary(grouping: source.audio, by: \.payload).values.count { $0.count == 1 }
        #expect(departures.count >= 3 * (distinct - 2), "\(row.when)")
    }

    @Test("a group longer than a segment is one piece, and the splice cuts it")
    func longGroup() throws {
        let file = try SlateMedia.make(video: ["-c:v", "libx264", "-preset", "veryfast", "-g", "250"])
        let movie = try SlateMovie.of(file).movie
        #expect(try movie.segments(longest: .seconds(1)).map(\.duration) == [.seconds(3)])
        let show = try SlateShow(movie, of: file, rounds: 2, longest: .seconds(1))
        #expect(show.published.allSatisfy { $0.duration <= .seconds(1) } && show.isContinuous)
        #expect(show.pictures.map(\.count).reduce(0, +) == 150)
    }

    /// What x265 makes unless it is told otherwise: nobody can join at such a group, and nothing of it is lost.
    @Test("open groups of HEVC go on in every round")
    func openGroups() throws {
        let file = try SlateMedia.make(
            video: [
                "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                "log-level=none:keyint=25:bframes=2:open-gop=1",
            ]
        )
        let movie = try SlateMovie.of(file).movie
        let show = try SlateShow(movie, of: file, rounds: 3, longest: .seconds(1))
        #expect(show.isContinuous && show.counts.timestampsSanitized == 0)
        #expect(show.pictures.map(\.count).reduce(0, +) == 225)
        #expect(show.published.allSatisfy { $0.duration <= .seconds(1) })
    }

    @Test("pieces are about equal, none longer than allowed", arguments: [1, 2, 3, 60])
    func pieces(longest: Int64) throws {
        let file = try Self.files[0].get()
        let movie = try SlateMovie.of(file).movie
        let pieces = try movie.segments(longest: .seconds(longest))
        #expect(pieces.map(\.duration).reduce(.zero, +) == .seconds(3))
        #expect(pieces.allSatisfy { $0.duration <= .seconds(longest) })
        #expect(pieces.count == Int((3 + longest - 1) / longest))
        for piece in pieces {
            #expect(zip(piece.ranges, piece.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test("with --audio uniform the slate's sound is the channel's")
    func uniform() throws {
        let file = try Self.files[2].get()
        let movie = try SlateMovie.of(file).movie
        let show = try SlateShow(movie, of: file, rounds: 2, longest: .seconds(1), policy: .uniform)
        #expect(show.published.allSatisfy { $0.position.audio == SlateShow.start.audio } && show.isContinuous)
    }

    static let refusals: [(when: String, video: [String], rate: String, seconds: String, fault: SlateFault)] = [
        ("fragmented", SlateMedia.h264 + MovieMedia.fragments, "25", "2", .fragmented),
        ("a picture a second", SlateMedia.h264, "1", "5", .frameRateTooLow(longest: .seconds(1))),
        ("half a second", SlateMedia.h264, "25", "0.48", .tooShort(.milliseconds(480))),
    ]

    @Test("says why it cannot be shown", arguments: refusals.indices)
    func refused(_ index: Int) throws {
        let row = Self.refusals[index]
        let file = try SlateMedia.make(video: row.video, audio: nil, seconds: row.seconds, rate: row.rate)
        #expect(throws: MediaError.slate(row.fault), "\(row.when)") { try SlateMovie.of(file) }
    }

    @Test("a file that was cut short is refused, wherever its moov is")
    func cutShort() throws {
        let (behind, inFront) = (try Self.files[0].get(), try Self.files[1].get())
        #expect(throws: MediaError.slate(.noMovie)) { try SlateMovie.of(behind.dropLast(1)) }
        #expect(throws: MediaError.slate(.samplesPastEnd)) { try SlateMovie.of(inFront.dropLast(1)) }
    }
}
