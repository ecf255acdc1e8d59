@testable import Support
import Foundation
import Testing

@testable import Playlist

/// Playlists written by ffmpeg, and playlists written here and read by ffmpeg, describe the same media.
@Suite struct FFmpegAgreementTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("playlist-\(UUID())")

    @Test func byteRangesAndDatesOfFFmpegAreReadAndWrittenBack() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try run(
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=9", "-c:v", "mpeg4",
            "-g", "25", "-f", "hls", "-hls_time", "2", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
            "-hls_flags", "single_file+program_date_time", "ffmpeg.m3u8")
        let original = try MediaPlaylistParser.parse([UInt8](try Data(contentsOf: file("ffmpeg.m3u8"))))
        #expect(original.segments.reduce(.zero) { $0 + $1.duration } == .seconds(9))
        #expect(original.hasEndList && original.playlistType == .vod)
        try expectTiles(original)
        for (left, right) in zip(original.segments, original.segments.dropFirst()) {
            #expect(left.programDateTime?.advanced(by: left.duration) == right.programDateTime)
        }

        try Data(PlaylistWriter.write(original).utf8).write(to: file("rewritten.m3u8"))
        let packets = try run(
            "ffprobe", "-v", "error", "-show_entries", "packet=pts_time,size", "-of", "csv", "ffmpeg.m3u8")
        #expect(packets.split(separator: "\n").count == 225)
        #expect(
            try run("ffprobe", "-v", "error", "-show_entries", "packet=pts_time,size", "-of", "csv", "rewritten.m3u8")
                == packets)
    }

    /// The init section and the segments cover their file without missing bytes.
    private func expectTiles(_ playlist: MediaPlaylist) throws {
        let map = try #require(playlist.segments.first?.map)
        var end = try #require(map.byteRange).length
        for segment in playlist.segments {
            let range = try #require(segment.byteRange)
            #expect(range.offset == end)
            #expect(segment.uri == map.uri)
            end = range.offset + range.length
        }
        #expect(try Data(contentsOf: file(map.uri)).count == Int(end))
    }

    private func file(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// The output of a program. If the program fails, an issue is recorded.
    @discardableResult private func run(_ arguments: String...) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
        return String(decoding: printed, as: UTF8.self)
    }
}
