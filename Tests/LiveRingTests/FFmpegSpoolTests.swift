import Foundation
import Testing

@testable import LiveRing

/// Playback of a spool directory by ffmpeg.
struct FFmpegSpoolTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    /// Six segments of one second, made by ffmpeg's own fMP4 muxer.
    private static func segments() throws -> (initialization: [UInt8], segments: [[UInt8]]) {
        let made = try ScratchDirectory()
        _ = try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=25", "-t", "6", "-c:v", "libx264",
            "-preset", "ultrafast", "-bf", "0", "-g", "25", "-f", "hls", "-hls_time", "1", "-hls_segment_type", "fmp4",
            "-hls_list_size", "0", "-hls_segment_filename", "\(made.path)/%d.m4s", "\(made.path)/list.m3u8")
        return (try made.read("init.mp4"), try (0..<6).map { try made.read("\($0).m4s") })
    }

    private static func run(_ command: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(command)")
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func frames(in path: String) throws -> Int {
        let packets = try run(
            "ffprobe", "-v", "error", "-select_streams", "v",
            "-show_entries", "packet=pts", "-of", "csv=p=0", path)
        return packets.split(separator: "\n").count
    }

    @Test func spoolIsPlayable() async throws {
        let media = try Self.segments()
        let ring = try DVRRing.open(directory, targetDuration: 1)
        for (n, bytes) in media.segments.enumerated() {
            var segment = NewSegment.numbered(n, duration: 90_000, at: at(Int64(n)))
            segment.initialization = InitializationFile(name: "init-0.mp4", bytes: media.initialization)
            segment.header = Array(bytes.prefix(100))
            segment.payload = [bytes.dropFirst(100)]
            try await ring.publish(segment)
        }
        await ring.end()
        #expect(try Self.frames(in: "\(directory.path)/ring.m3u8") == 150)
        let range = RewindRange.between(start: at(2), end: at(4))
        for (name, frames, list) in [
            ("live.m3u8", 150, ring.snapshot.livePlaylist()), ("master.m3u8", 150, ring.snapshot.masterPlaylist()),
            ("range.m3u8", 50, ring.snapshot.dvrPlaylist(range)),
        ] {
            try directory.write(name, try #require(list))
            #expect(try Self.frames(in: "\(directory.path)/\(name)") == frames, "\(name)")
        }
    }
}
