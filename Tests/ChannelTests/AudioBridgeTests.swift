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
        Row(testDescription: "ALAC", encoder: ["-c:a", "alac"]),
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
            let frames = audio.frames.filter { $0.time.count / 180_000 == number }
            return TransportMedia.Audio(configuration: audio.configuration, frames: frames)
        }
    }

    @Test(arguments: rows) func segmentsContinueOneAnother(_ row: Row) throws {
        let segments = try Self.segments(of: row)
        var frames: [TransportMedia.AudioFrame] = []
        for (index, segment) in segments.enumerated() {
            let encoded = AudioBridge(to: Self.target).frames(of: segment, after: index > 0 ? segments[index - 1] : nil)
            frames += try #require(encoded)
        }
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
        let inner = samples[(3 * 48_000)..<(7 * 48_000)]
        let (loudest, longestStep) = (
            inner.map(abs).max() ?? 0, zip(inner, inner.dropFirst()).map { abs($1 - $0) }.max() ?? 0
        )
        #expect(loudest > 1000 && longestStep * 10 < loudest, "\(longestStep) of \(loudest)")
    }
}
