import Foundation
import TestSupport
import Testing

@testable import Conformance

/// Streams of ffmpeg's multiplexer, which ffprobe and tsreport read without a complaint, have the faults that they say.
@Suite struct FFmpegStreamTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let options: [String]
        var indicators: Set<TransportIndicator> = []
    }

    private static let video = [
        "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=4", "-c:v", "libx264", "-preset", "ultrafast",
        "-g", "50",
    ]
    private static let audio = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=4"]

    private static let rows = [
        Row(
            testDescription: "a constant bit rate, as for a modulator",
            options: audio + video
                + [
                    "-c:a", "aac", "-b:v", "500k", "-maxrate", "500k", "-bufsize", "250k", "-muxrate", "1500k",
                    "-pcr_period", "20", "-pat_period", "0.1",
                ]),
        Row(
            testDescription: "a variable bit rate",
            options: audio + video + ["-c:a", "aac", "-pcr_period", "20", "-pat_period", "0.1"]),
        Row(
            testDescription: "B-frames and AC-3, with ffmpeg's defaults",
            options: audio + video + ["-bf", "2", "-c:a", "ac3"]),
        Row(
            testDescription: "PAT and PMT once in 2 s",
            options: audio + video + ["-c:a", "aac", "-pat_period", "2"], indicators: [.association, .map]),
        Row(
            testDescription: "no lead: every frame is decoded when it begins to arrive",
            options: video + ["-muxdelay", "0", "-muxpreload", "0"], indicators: [.bufferUnderflow]),
        Row(
            testDescription: "a lead of 1.5 s", options: video + ["-muxdelay", "1.5", "-muxpreload", "1.5"],
            indicators: [.dataDelay]),
    ]

    @Test(arguments: rows) func situation(_ row: Row) throws {
        let (faults, report) = try faults(in: Self.make(row.options))
        #expect(Set(report.counts.keys) == row.indicators, "\(faults.prefix(5).map { "\($0.packet): \($0.message)" })")
        #expect(report.duration > .milliseconds(3900) && report.duration < .seconds(5))
    }

    private static func make(_ options: [String]) throws -> [UInt8] {
        let arguments =
            ["-nostdin", "-hide_banner", "-loglevel", "error"] + options
            + ["-flags", "+bitexact", "-fflags", "+bitexact", "-f", "mpegts", "pipe:1"]
        return try GeneratedMedia.bytes(arguments) {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["ffmpeg"] + arguments
            process.standardOutput = output
            try process.run()
            let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
            process.waitUntilExit()
            return process.terminationStatus == 0 ? bytes : []
        }
    }
}
