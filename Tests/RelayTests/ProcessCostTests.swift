import Foundation
import Glibc
import TestSupport
import Testing

/// What the program asks of the kernel for a fixed VOD over HTTP: counted, never timed.
@Suite struct ProcessCostTests {
    /// Segments of 4 s of 8 Mbit/s.
    private static let segments = 6
    /// Two fifths are those of the start. The buffers of a segment are used again: new ones for each would add 18,000.
    private static let minorFaults = 14_500
    /// A read takes what has arrived, up to 256 KiB: 101 were counted, and 135 polls. With small socket buffers there may
    /// be twice as many; with reads of 16 KiB, 1,500.
    private static let (reads, polls) = (200, 270)

    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "liverelay")
    /// A sanitizer has a heap of its own.
    private static let isPlainBuild = program.path.contains("/.build/")

    @Test(.enabled(if: isPlainBuild)) func pageFaultsAreFew() throws {
        let origin = try Self.origin()
        let before = Self.childFaults
        try Self.relay(origin, [Self.program.path])
        let faults = Self.childFaults - before
        #expect(faults * 10 <= Self.minorFaults * 11, "\(faults) minor faults")
    }

    @Test(.enabled(if: isPlainBuild && FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")))
    func systemCallsAreFew() throws {
        let origin = try Self.origin()
        let summary = FileManager.default.temporaryDirectory.appending(path: "calls-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: summary) }
        try Self.relay(
            origin, ["/usr/bin/strace", "-f", "-c", "-e", "trace=recvfrom,poll", "-o", summary.path, Self.program.path])
        let text = try String(contentsOf: summary, encoding: .utf8)
        let counts = Dictionary(
            text.split(separator: "\n").map { $0.split(separator: " ") }.compactMap { fields in
                fields.count > 4 ? fields.last.flatMap { name in Int(fields[3]).map { (name, $0) } } : nil
            }, uniquingKeysWith: +)
        let (reads, polls) = (try #require(counts["recvfrom"]), try #require(counts["poll"]))
        #expect(reads * 10 <= Self.reads * 11 && polls * 10 <= Self.polls * 11, "\(reads) reads, \(polls) polls")
    }

    /// Minor faults of all children that have ended.
    private static var childFaults: Int {
        var usage = rusage()
        _ = unsafe getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return usage.ru_minflt
    }

    private static func relay(_ origin: LoopbackServer, _ command: [String]) throws {
        let spool = FileManager.default.temporaryDirectory.appending(path: "cost-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: spool) }
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments =
            command.dropFirst() + [
                "relay", origin.url + "/vod.m3u8", "--port", "0", "--spool", spool.path, "--exit-at-end",
                "--log-level", "error",
            ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let published = try FileManager.default.contentsOfDirectory(atPath: spool.path).filter { $0.hasSuffix(".m4s") }
        #expect(published.count >= segments)
    }

    private static func origin() throws -> LoopbackServer {
        let arguments =
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:r=25:d=\(4 * segments),noise=alls=40:allf=t"]
            + ["-f", "lavfi", "-i", "sine=r=48000:d=\(4 * segments)", "-c:v", "libx264", "-preset", "ultrafast"]
            + ["-threads", "1", "-b:v", "8M", "-maxrate", "8M", "-bufsize", "2M", "-g", "25", "-c:a", "aac"]
            + ["-bitexact", "-f", "mpegts", "-"]
        let stream = try GeneratedMedia.bytes(arguments) { try FFmpegTool.run("ffmpeg", arguments).output }
        let packets = stream.count / 188 / segments
        let parts = (0..<segments).map { Array(stream[$0 * packets * 188..<($0 + 1) * packets * 188]) }
        let list =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            + (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
        return try LoopbackServer { request in
            let number = Int(request.target.dropFirst().prefix { $0 != "." })
            let body = number.map { parts[$0] } ?? Array(list.utf8)
            return [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)]
        }
    }
}
