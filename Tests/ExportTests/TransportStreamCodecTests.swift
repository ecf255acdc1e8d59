import Foundation
import TestSupport
import Testing

@testable import Channel
@testable import Demux
@testable import Export
@testable import Media
@testable import Mux
@testable import Splice

/// Media of ffmpeg's encoders, published and then written as a transport stream, read by ffmpeg again.
@Suite("Transport streams read by ffmpeg") struct TransportStreamCodecTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var video: [String] = []
        var audio: [String] = []
        /// codec_name of ffprobe, video first.
        let codecs: [String]

        var arguments: [String] {
            var (inputs, codecs): ([String], [String]) = ([], [])
            if !video.isEmpty {
                inputs += ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=3"]
                codecs += video
            }
            if !audio.isEmpty {
                inputs += ["-f", "lavfi", "-i", "sine=f=440:r=48000:d=3"]
                codecs += audio
            }
            return inputs + codecs + ["-flags", "+bitexact", "-fflags", "+bitexact", "-video_track_timescale", "90000"]
                + ["-use_editlist", "0", "-f", "mp4", "-movflags", "frag_keyframe+delay_moov+default_base_moof"]
        }
    }

    private static let x264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "30", "-bf"]
    private static let x265 = ["-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params"]
    static let rows = [
        Row(
            testDescription: "H.264 with B-frames and AAC", video: x264 + ["3"], audio: ["-c:a", "aac", "-ac", "2"],
            codecs: ["h264", "aac"]),
        Row(
            testDescription: "H.264 of 24 frames a second", video: x264 + ["2", "-r", "24"], audio: ["-c:a", "aac"],
            codecs: ["h264", "aac"]),
        Row(testDescription: "H.264 without audio", video: x264 + ["0"], codecs: ["h264", "aac"]),
        Row(
            testDescription: "HEVC and AC-3", video: x265 + ["log-level=none:info=0:keyint=30"],
            audio: ["-c:a", "ac3", "-ac", "2"], codecs: ["hevc", "ac3"]),
        Row(
            testDescription: "HEVC Main 10 and E-AC-3 5.1",
            video: x265 + ["log-level=none:info=0:keyint=30", "-pix_fmt", "yuv420p10le"],
            audio: ["-c:a", "eac3", "-ac", "6"], codecs: ["hevc", "eac3"]),
        Row(
            testDescription: "H.264 and MP3", video: x264 + ["1"], audio: ["-c:a", "libmp3lame"],
            codecs: ["h264", "mp3"]),
        Row(
            testDescription: "H.264 and FLAC, which becomes AAC", video: x264 + ["1"],
            audio: ["-c:a", "flac", "-strict", "-2"], codecs: ["h264", "aac"]),
        Row(testDescription: "AAC alone", audio: ["-c:a", "aac", "-ar", "44100"], codecs: ["aac"]),
        Row(testDescription: "AAC 5.1 alone", audio: ["-c:a", "aac", "-ac", "6"], codecs: ["aac"]),
        Row(testDescription: "E-AC-3 alone", audio: ["-c:a", "eac3", "-ac", "2"], codecs: ["eac3"]),
    ]

    /// The published file, its samples, and the transport stream.
    private typealias Output = (file: [UInt8], media: [TransportMedia], bytes: [UInt8])

    private static func output(of row: Row) throws -> Output {
        let file = try GeneratedMedia.bytes(row.arguments) {
            try FFmpegTool.run("ffmpeg", ["-nostdin", "-v", "error"] + row.arguments + ["pipe:1"]).output
        }
        let moof = try BoxReader.boxes(in: file[...]).require("moof").start
        var engine = SpliceEngine(
            SpliceConfiguration(hasAudioRendition: false, longestSegment: .seconds(10), wallClock: 0))
        let segment = SegmentInput(
            rendition: .main, mediaSequence: 0, initialization: Array(file[..<moof]), bytes: Array(file[moof...]))
        let published = try engine.handle(.segment(segment)) + engine.handle(.ended(.main))
        var output: Output = (try #require(published.first).initSection.bytes, [], [])
        for segment in published {
            let bytes = segment.fragment.header + segment.fragment.payloads.joined()
            let audio = segment.description.audioCodec == nil ? nil : segment.position.audio
            let codec = segment.description.video.flatMap { VideoConfiguration.Codec(codecString: $0.codec) }
            let state = TransportStreamState(video: codec, audio: audio, initialization: "a")
            var media = try TransportMedia(fragment: bytes[...], audio: audio, lasting: segment.duration)
            output.file += bytes
            output.media.append(media)
            _ = media.replaceForeignMedia(state, videoCodec: codec, compositionDelay: Ticks(18_000), still: nil)
            var buffer: [UInt8] = []
            output.bytes += TransportStreamMuxer(state.program, audioChanges: 0).segment(media, in: &buffer).bytes
        }
        return output
    }

    @Test(arguments: rows) func packetsFollowTheRules(_ row: Row) throws {
        let output = try Self.output(of: row)
        let scan = try #require(TransportStreamScan(output.bytes))
        #expect(scan.faults(clockPID: row.video.isEmpty ? 0x101 : 0x100) == [])
        for pid in [0x100, 0x101] { #expect(scan.margins(of: pid).allSatisfy { $0 > 0 && $0 < 90_000 }) }
    }

    @Test(arguments: rows) func ffprobeNamesTheCodecs(_ row: Row) throws {
        let output = try Self.output(of: row)
        let arguments = ["-v", "error", "-show_entries", "stream=codec_name,id", "-of", "csv=p=0", "INPUT"]
        let lines = try FFmpegTool.run("ffprobe", arguments, input: output.bytes).text.split(separator: "\n")
        // ffprobe lists the streams of a program once more.
        let streams = Set(lines.map(String.init)).sorted { $0.suffix(5) < $1.suffix(5) }
        #expect(streams.map { String($0.split(separator: ",")[0]) } == row.codecs + ["timed_id3", "scte_35"])
    }

    @Test(arguments: rows) func timesAreThoseOfFragmentedMP4(_ row: Row) throws {
        let output = try Self.output(of: row)
        for (stream, expected) in [
            ("v", output.media.flatMap(\.video).map { "\($0.presentationTime.count),\($0.decodeTime.count)" }),
            ("a", output.media.flatMap(\.audio).map { "\($0.time.count)" }),
        ] where !expected.isEmpty {
            let entries = stream == "v" ? "packet=pts,dts" : "packet=pts"
            let arguments = [
                "-v", "error", "-select_streams", stream, "-show_entries", entries, "-of", "csv=p=0", "INPUT",
            ]
            let text = try FFmpegTool.run("ffprobe", arguments, input: output.bytes).text
            let times = text.split(separator: "\n").map { $0.hasSuffix(",") ? $0.dropLast() : $0 }
            #expect(times.count == expected.count)
            // ffprobe computes the times of audio frames after the first of a PES packet.
            let isNear = zip(times, expected).allSatisfy { found, wanted in
                stream == "v" ? found == wanted : abs((Int(found) ?? 0) - (Int(wanted) ?? 0)) <= 1
            }
            #expect(isNear, "\(times.prefix(5)) \(expected.prefix(5))")
        }
    }

    @Test(arguments: rows) func decodedMediaIsThatOfFragmentedMP4(_ row: Row) throws {
        let output = try Self.output(of: row)
        let decode = ["-nostdin", "-v", "error", "-i", "INPUT"]
        for stream in (row.video.isEmpty ? [] : ["v"]) + (row.audio.isEmpty ? [] : ["a"]) {
            let arguments = decode + ["-map", "0:\(stream)", "-f", "streamhash", "-hash", "md5", "pipe:1"]
            let theirs = try FFmpegTool.run("ffmpeg", arguments, input: output.file)
            let ours = try FFmpegTool.run("ffmpeg", arguments, input: output.bytes)
            #expect(!ours.text.isEmpty && ours.text == theirs.text)
            #expect(ours.errors.isEmpty, "\(ours.errors)")
        }
    }
}
