import Foundation
import TestSupport
import Testing

@testable import HistoryHarness

/// The reader of published bytes is compared with another one: ffprobe lists the packets of each segment after its init
/// section.
@Suite(.enabled(if: FFprobe.path != nil, "ffprobe is not installed")) struct ReaderTests {
    /// Frames in decoding order, formats that change, and gaps.
    private static let histories = [
        "5 reordered@0+0=0 taggedBreak@16000+0=6 ended@30000+0=0",
        "7 unevenSegments@0+0=3 insideBreak@14000+0=1 goneSegment@26000+0=0 ended@34000+0=0",
        "8 multiplexedLanguage@0+0=0 startsLate@0+0=3 programChange@14000+0=9 ended@26000+0=0",
    ]

    @Test(arguments: histories.indices) func packetsAreThoseOfFFprobe(_ index: Int) async throws {
        let history = try #require(History(text: Self.histories[index]))
        let folder = HistoryRun.folder.appending(path: "liverelay-reader-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var run = HistoryRun(history: history)
        run.spool = folder.path
        let record = try await run.run().record
        var compared = 0
        for segment in record.segments + record.languages {
            guard let media = segment.media, let initialization = segment.initialization else { continue }
            let map = try #require(segment.text.map?.split(separator: "\"").dropFirst().first)
            let files = try [String(map), segment.text.uri].map { try Data(contentsOf: folder.appending(path: $0)) }
            let file = folder.appending(path: "probed.mp4")
            try (files[0] + files[1]).write(to: file)
            let packets = try FFprobe.packets(of: file.path)
            for track in initialization.tracks {
                var own = media.samples(of: track.number).map {
                    FFprobe.Packet($0, decodeShift: track.mediaStart, isVideo: track.isVideo)
                }
                var theirs = packets.filter { $0.isVideo == track.isVideo }
                // libavformat gives some audio packets none, or that of a frame. The time of the next packet tells it.
                if !track.isVideo {
                    for index in own.indices.dropLast() { own[index].duration = nil }
                    for index in theirs.indices.dropLast() { theirs[index].duration = nil }
                }
                #expect(own == theirs, "segment \(segment.number), track \(track.number)")
                compared += own.count
            }
        }
        #expect(compared > 1000)
    }
}

enum FFprobe {
    static let path = ["/usr/bin/ffprobe", "/usr/local/bin/ffprobe"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    struct Packet: Equatable, CustomStringConvertible {
        let isVideo: Bool
        /// In the track's timescale.
        let decode: Int
        let presentation: Int
        /// nil: it is not known.
        var duration: Int?
        let size: Int
        let isSync: Bool

        var description: String {
            let times = "\(decode) \(presentation) +\(duration.map { "\($0)" } ?? "-")"
            return "\(isVideo ? "video" : "audio") \(times), \(size) bytes\(isSync ? ", sync" : "")"
        }

        init(_ sample: PublishedMedia.Sample, decodeShift: Int, isVideo: Bool) {
            self.isVideo = isVideo
            (decode, presentation) = (sample.decode - decodeShift, sample.presentation)
            (duration, size, isSync) = (sample.duration, sample.size, sample.isSync)
        }

        /// Reads a line such as "packet|codec_type=video|pts=0|dts=0|duration=3600|size=12|flags=K__".
        init?(line: Substring) {
            let pairs = line.split(separator: "|").compactMap { field in
                let parts = field.split(separator: "=", maxSplits: 1)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }
            let fields = Dictionary(pairs) { first, _ in first }
            guard let kind = fields["codec_type"], let decode = fields["dts"].flatMap({ Int($0) }),
                let presentation = fields["pts"].flatMap({ Int($0) }),
                let size = fields["size"].flatMap({ Int($0) })
            else { return nil }
            isVideo = kind == "video"
            (self.decode, self.presentation, self.size) = (decode, presentation, size)
            duration = fields["duration"].flatMap { Int($0) }
            isSync = fields["flags"]?.hasPrefix("K") ?? false
        }
    }

    static func packets(of file: String) throws -> [Packet] {
        let process = Process()
        process.executableURL = URL(filePath: path ?? "")
        process.arguments = ["-v", "error", "-show_packets", "-of", "compact", file]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { Packet(line: $0) }
    }
}
