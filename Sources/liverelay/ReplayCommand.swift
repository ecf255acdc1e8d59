import ArgumentParser
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
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"))
    var capture: String

    @Option(help: ArgumentHelp("Directory for what is published; kept.", valueName: "directory"))
    var out: String?

    @OptionGroup(title: "Sound") var sound: SoundOptions

    @Option(help: "How much is logged.")
    var logLevel = LogLevel.warning

    func run() async throws {
        let directory = try SpoolLocation(out)
        defer { directory.removeIfTemporary() }
        var logger = Logger(label: "liverelay") { _ in ConsoleLogHandler(console: Console(isTerminal: false)) }
        logger.logLevel = logLevel.level
        let recorded: CaptureDirectory
        do {
            recorded = try CaptureDirectory(URL(filePath: capture, directoryHint: .isDirectory))
        } catch { throw RelayError(error) }
        let replay = Replay(recorded, spool: directory.path, sound: sound.configuration, logger: logger)
        let end = try await replay.run()
        if case .gaveUp(let error)? = end { throw RelayError(error) }
        if case .failed(let error)? = end { throw RelayError(error) }
        if recorded.isCutOff {
            logger.warning("\(capture) was cut off while it was recorded; what is there was replayed")
        }
        print(String(decoding: replay.site.status.json, as: UTF8.self), terminator: "")
        if out != nil { print("Published into \(directory.path): play its ring.m3u8") }
    }
}
