import Foundation
import TestSupport
import Testing

@testable import Channel
@testable import Media
@testable import Mux

/// Audio in foreign codecs, encoded segment by segment.
@Suite struct AudioBridgeTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let encoder: [String]
    }

    static let rows = [
        Row(testDescription: "FLAC", encoder: ["-c:a", "flac", "-strict", "-2"]),
        Row(testDescription: "Opus", encoder: ["-c:a", "libopus"]),
        Row(testDescription: "MP3", encoder: ["-c:a", "libmp3lame"]),
        Row(testDescription: "AC-3", encoder: ["-c:a", "ac3"]),
        Row(testDescription: "E-AC-3", encoder: ["-c:a", "eac3"]),
    ]

    private static let target = AudioConfiguration(
        codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024, decoderSpecificInfo: [0x11, 0x90])

    /// A tone of 440 Hz in segments of two seconds.
    private static func segments(of row: Row) throws -> [TransportMedia.Audio] {
        let arguments =
            ["-f", "lavfi", "-i", "sine=f=440:r=48000:d=8", "-ac", "2"] + row.encoder
            + ["-flags", "+bitexact", "-fflags", "+bitexact", "-use_editlist", "0", "-f", "mp4"]
            + ["-movflags", "delay_moov+default_base_moof", "-frag_duration", "1000000"]
        let file = try GeneratedMedia.bytes(arguments) {
            try FFmpegTool.run("ffmpeg", ["-nostdin", "-v", "error"] + arguments + ["pipe:1"]).output
        }
        let audio = try #require(try StoredMedia(initialization: file, segment: file).audio)
        return (0..<4).map { number in
            // The last frame of the file is shorter.
            let frames = audio.frames.dropLast().filter { $0.time.count / 180_000 == number }
            return TransportMedia.Audio(configuration: audio.configuration, frames: frames)
        }
    }

    /// What is stored of a segment for the next one.
    private static func leadIn(of audio: TransportMedia.Audio) -> TransportMedia.Audio {
        TransportMedia.Audio(
            configuration: audio.configuration, frames: Array(audio.frames[AudioBridge.leadInStart(of: audio)...]))
    }

    @Test(arguments: rows) func segmentsContinueOneAnother(_ row: Row) throws {
        let segments = try Self.segments(of: row)
        var frames: [TransportMedia.AudioFrame] = []
        for (index, segment) in segments.enumerated() {
            let leadIn = index > 0 ? Self.leadIn(of: segments[index - 1]) : nil
            #expect(leadIn.map { $0.frames.count < 30 && AudioBridge.isContinuous($0, segment) } ?? true)
            frames += try #require(AudioBridge(to: Self.target).frames(of: segment, after: leadIn))
        }
        let last = segments[3]
        let end = last.frames.last.map {
            $0.time + Ticks(samples: Int64(last.configuration.samplesPerFrame), sampleRate: 48_000)
        }
        let ending = AudioBridge(to: Self.target).ending(of: Self.leadIn(of: last), before: nil)
        frames += ending
        #expect(ending.count == 2 || ending.count == 3)
        // The last frame ends after the last sample, by less than its length.
        let rest = try #require(end) - (try #require(frames.last).time)
        #expect((1...1920).contains(rest.count), "\(rest)")
        // A frame of the first segment may be missing where the grid of the others begins.
        let steps = zip(frames, frames.dropFirst()).map { ($1.time - $0.time).count }
        #expect(steps.count { abs($0 - 1920) > 1 } <= 1, "\(steps.filter { abs($0 - 1920) > 1 })")
        let header = try #require(ADTSHeader(Self.target))
        let stream = frames.flatMap { header.bytes(forFrameOf: $0.payload.count) + $0.payload }
        let arguments = ["-nostdin", "-v", "error", "-f", "aac", "-i", "INPUT", "-ac", "1", "-f", "s16le", "pipe:1"]
        let decoded = try FFmpegTool.run("ffmpeg", arguments, input: stream)
        #expect(decoded.errors.isEmpty)
        let samples = stride(from: 0, to: decoded.output.count - 1, by: 2).map { index in
            Int(Int16(truncatingIfNeeded: Int(decoded.output[index]) | Int(decoded.output[index + 1]) << 8))
        }
        // The tone has no step: neither silence nor a jump of its phase is between the segments.
        let inner = samples[(3 * 48_000)..<(7 * 48_000 + 40_000)]
        let (loudest, longestStep) = (
            inner.map(abs).max() ?? 0, zip(inner, inner.dropFirst()).map { abs($1 - $0) }.max() ?? 0
        )
        #expect(loudest > 1000 && longestStep * 10 < loudest, "\(longestStep) of \(loudest)")
    }
}
