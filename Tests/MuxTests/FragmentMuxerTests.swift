import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// Compares our fragments and init sections with libavformat's.
@Suite("Fragments and init sections compared with ffmpeg")
struct FragmentMuxerTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let video: [String]
        let audio: [String]
        var testDescription: String { name }

        init(_ name: String, video: [String] = [], audio: [String] = []) {
            (self.name, self.video, self.audio) = (name, video, audio)
        }

        var arguments: [String] {
            var (arguments, codecs): ([String], [String]) = ([], [])
            if !video.isEmpty {
                arguments += ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=2"]
                codecs += video
            }
            if !audio.isEmpty {
                arguments += ["-f", "lavfi", "-i", "sine=f=440:r=48000:d=2"]
                codecs += audio
            }
            return arguments + codecs + ["-video_track_timescale", "90000", "-use_editlist", "0", "-f", "mp4"]
                + ["-movflags", "frag_keyframe+delay_moov+default_base_moof"]
        }
    }

    private static let x264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "25", "-bf"]
    private static let x265 = ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params"]
    static let rows: [Row] = [
        Row("H.264 with B-frames and AAC", video: x264 + ["3"], audio: ["-c:a", "aac", "-ac", "2"]),
        Row("H.264 Main, no B-frames", video: x264 + ["0", "-profile:v", "main"]),
        Row("H.264 Baseline", video: x264 + ["0", "-profile:v", "baseline"]),
        Row("H.264 High 10", video: x264 + ["2", "-pix_fmt", "yuv420p10le"]),
        Row(
            "H.264 High 4:2:2, sample aspect ratio 16:11",
            video: x264 + ["2", "-pix_fmt", "yuv422p", "-vf", "setsar=16/11"]),
        Row("HEVC Main", video: x265 + ["log-level=none:info=0:keyint=25"], audio: ["-c:a", "aac", "-ac", "1"]),
        Row("HEVC Main 10", video: x265 + ["log-level=none:info=0:keyint=25", "-pix_fmt", "yuv420p10le"]),
        Row("AAC 5.1", audio: ["-c:a", "aac", "-ac", "6"]),
        Row("AAC at 44.1 kHz", audio: ["-c:a", "aac", "-ar", "44100"]),
        Row("MP3", audio: ["-c:a", "libmp3lame"]),
        Row("MP3 at half the sample rate", audio: ["-c:a", "libmp3lame", "-ar", "24000"]),
        Row("AC-3", audio: ["-c:a", "ac3", "-ac", "2"]),
        Row("E-AC-3", audio: ["-c:a", "eac3", "-ac", "6"]),
    ]

    @Test("the decoder configuration equals ffmpeg's byte for byte", arguments: rows)
    func decoderConfigurationEqualsFFmpegs(_ row: Row) throws {
        let source = try FragmentSource(FragmentTool.make(row.arguments))
        let tracks = try MovieTrack.tracks(of: source.initSection.bytes)
        #expect(tracks.count == source.tracks.count)
        for (ours, theirs) in zip(tracks, source.tracks) {
            #expect(ours.sampleEntries[0].type == theirs.sampleEntries[0].type)
            let (ourRecord, theirRecord) = (
                try #require(ours.sampleEntries[0].configuration.first),
                try #require(theirs.sampleEntries[0].configuration.first)
            )
            #expect(ourRecord.type == theirRecord.type)
            #expect(masked(ourRecord) == masked(theirRecord))
        }
    }

    /// Clears the fields of esds in which ffmpeg writes the track ID, bit rates and buffer size, and we write 0.
    private func masked(_ record: Box) -> [UInt8] {
        var payload = Array(record.body)
        guard record.type == "esds" else { return payload }
        for index in [9, 10] + (19..<30) { payload[index] = 0 }
        return payload
    }

    @Test("ffprobe reads the same samples from our file and the source", arguments: rows)
    func samplesEqualSource(_ row: Row) throws {
        let file = try FragmentTool.make(row.arguments)
        let source = try FragmentSource(file)
        let ours = source.rewritten()
        for track in source.tracks {
            let kind = track.handler == "vide" ? "v" : "a"
            let scale = track.handler == "vide" ? 1 : Int(TrackTimescale.audio) / Int(track.timescale.unitsPerSecond)
            let (theirPackets, ourPackets) = (try packets(kind, of: file), try packets(kind, of: ours))
            #expect(theirPackets.count > 20)
            #expect(ourPackets == theirPackets.map { $0.scaled(by: scale) })
        }
    }

    @Test("ffmpeg decodes our file to the same frames and samples", arguments: rows)
    func decodedMediaEqualsSource(_ row: Row) throws {
        let file = try FragmentTool.make(row.arguments)
        let ours = try FragmentSource(file).rewritten()
        let decode = ["-nostdin", "-v", "warning", "-i", "INPUT", "-f", "streamhash", "-hash", "md5", "pipe:1"]
        let (theirAnswer, ourAnswer) = (
            try FragmentTool.run("ffmpeg", decode, input: file), try FragmentTool.run("ffmpeg", decode, input: ours)
        )
        #expect(!ourAnswer.text.isEmpty && ourAnswer.text == theirAnswer.text)
        #expect(ourAnswer.errors.isEmpty, "\(ourAnswer.errors)")
    }

    /// One packet line of ffprobe, with times in the track's timescale.
    struct Packet: Equatable {
        var pts: Int
        var dts: Int
        var size: Int
        var isKey: Bool
        var hash: Substring

        func scaled(by factor: Int) -> Packet {
            var copy = self
            copy.pts *= factor
            copy.dts *= factor
            return copy
        }
    }

    private func packets(_ kind: String, of file: [UInt8]) throws -> [Packet] {
        let arguments = [
            "-v", "error", "-select_streams", kind, "-show_packets", "-show_data_hash", "md5", "-of", "csv=p=0",
            "-show_entries", "packet=pts,dts,size,flags,data_hash", "INPUT",
        ]
        return try FragmentTool.run("ffprobe", arguments, input: file).text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ",")
            guard fields.count >= 5, let pts = Int(fields[0]), let dts = Int(fields[1]), let size = Int(fields[2])
            else {
                return nil
            }
            return Packet(pts: pts, dts: dts, size: size, isKey: fields[3].hasPrefix("K"), hash: fields[4])
        }
    }
}
