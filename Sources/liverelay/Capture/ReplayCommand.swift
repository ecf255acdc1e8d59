import ArgumentParser
import Capture
import Foundation
import Logging
import Tracker

/// `liverelay replay DIR`
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run a capture through the whole line, as fast as it goes.",
        discussion: """
            Nothing waits and nothing depends on the hour: two replays of one capture give the same bytes. The result is a \
            directory that any player opens by its ring.m3u8.

            liverelay replay evening --out republished
            liverelay replay evening --live --port 8000
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"))
    var capture: String

    @Option(help: ArgumentHelp("Directory for what is published; kept.", valueName: "directory"))
    var out: String?

    @Option(help: ArgumentHelp("MP4 file that is shown while the capture says nothing.", valueName: "file"))
    var slate: String?

    @Flag(
        help: ArgumentHelp(
            "Serve it as an upstream instead, in real time, for any player or relay to pull from.",
            discussion: """
                Every answer comes when it came and takes as long as it took: refusals, slow and broken bodies, resets and \
                silence included. The time begins with the first request.
                """))
    var live = false

    @Flag(help: "With --live: at its end it begins again, and its numbers go on; a channel without an end.")
    var loop = false

    @Option(help: "With --live: address to listen at.")
    var listen = "127.0.0.1"

    @Option(help: "With --live: port to listen at; 0 lets the system choose.")
    var port: UInt16 = 0

    @OptionGroup(title: "Sound") var sound: AudioOptions

    @Option(help: "How much is logged.")
    var logLevel = LogLevel.warning

    func validate() throws {
        if live, out != nil || slate != nil {
            throw ValidationError("--live serves what was recorded; --out and --slate are for what is published.")
        }
        if loop, !live { throw ValidationError("--loop belongs to --live.") }
    }

    func run() async throws {
        let recorded: CaptureDirectory
        do {
            recorded = try CaptureDirectory(URL(filePath: capture, directoryHint: .isDirectory))
        } catch { throw RelayError(error) }
        if live {
            let address = ListenAddress(host: listen, port: Int(port))
            try await CaptureServer(capture: recorded, address: address, loops: loop, console: .standardError).run()
        } else {
            try await republish(recorded)
        }
    }

    private func republish(_ recorded: CaptureDirectory) async throws {
        let slate = try slate.map { path throws(RelayError) in try SlateSource(path) }
        let directory = try SpoolLocation(out)
        defer { directory.removeIfTemporary() }
        var logger = Logger(label: "liverelay") { _ in ConsoleLogHandler(console: .standardError) }
        logger.logLevel = logLevel.level
        let replay = Replay(recorded, spool: directory.path, sound: sound.configuration, slate: slate, logger: logger)
        let end = try await replay.run()
        if case .gaveUp(let error)? = end { throw RelayError(error) }
        if case .failed(let error)? = end { throw RelayError(error) }
        if recorded.isTruncated {
            logger.warning("\(capture) was cut off while it was recorded; what is there was replayed")
        }
        print(String(decoding: replay.state.status.json, as: UTF8.self), terminator: "")
        if out != nil { print("Published into \(directory.path): play its ring.m3u8") }
    }
}
