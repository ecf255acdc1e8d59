import ArgumentParser
import Capture
import Channel
import Export
import HTTP
import Logging
import Observability
import Service
import Support
import Tracker
import Transcode
import WebServer

/// `liverelay replay DIR`
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Republish a capture, as fast as possible.",
        discussion: """
            The replay does not wait and does not depend on the date: two replays of one capture give the same bytes. The \
            result is a directory that any player opens by its ring.m3u8.

            liverelay replay evening --out republished
            liverelay replay evening --live --port 8000
            """)

    @Argument(help: ArgumentHelp("Directory of a capture.", valueName: "capture"), completion: .directory)
    var capture: String

    @Option(
        help: ArgumentHelp("Directory for the published files, which are kept.", valueName: "directory"),
        completion: .directory)
    var out: String?

    @Option(
        help: ArgumentHelp("MP4 file to publish during outages in the capture.", valueName: "file"), completion: .file()
    )
    var slate: String?

    @Flag(
        help: ArgumentHelp(
            "Serve the capture as an upstream instead, in real time, for any player or relay.",
            discussion: """
                Every answer has its captured time and latency, including refusals, slow and cut bodies, resets and \
                silence. The time starts with the first request.
                """))
    var live = false

    @Flag(help: "With --live: restart at the end, with media sequence numbers that continue.")
    var loop = false

    @Option(help: "With --live: address to listen on.")
    var listen = "127.0.0.1"

    @Option(help: "With --live: port to listen on; 0 lets the system choose.")
    var port: UInt16 = 0

    @OptionGroup(title: "Audio") var audio: KeyOptions<AudioSection>

    @Option(help: "Form of the result on standard output: text, or json for the whole status.")
    var format = ReplayFormat.text

    @Option(help: "Lowest level of log lines.")
    var logLevel = LogLevel.warning

    func validate() throws {
        if live, out != nil || slate != nil {
            throw ValidationError("--live serves the captured answers; --out and --slate need the republished channel.")
        }
        if loop, !live { throw ValidationError("--loop needs --live.") }
    }

    func run() async throws {
        let captured = try CaptureDirectory(argument: capture)
        if live {
            let address = ListenAddress(host: listen, port: Int(port))
            try await CaptureServer(capture: captured, address: address, loops: loop).run()
        } else {
            try await republish(captured)
        }
    }

    private func republish(_ captured: CaptureDirectory) async throws {
        let slate = try SlateSource.open(slate)
        let directory = try SpoolLocation(out)
        defer { directory.removeIfTemporary() }
        let logger = Logger(console: .standardError, level: logLevel)
        let log = RelayLog(logger)
        var audio = AudioSettings()
        audio.apply(self.audio.options)
        let replay = Replay(
            captured, spool: directory.path, audio: audio, slate: slate, observe: { log.log($0) })
        let end: SessionEnd?
        do { end = try await replay.run() } catch { throw RelayError(unexpected: error) }
        if case .gaveUp(let error)? = end { throw RelayError(error) }
        if case .failed(let error)? = end { throw RelayError(error) }
        if captured.isTruncated {
            logger.warning("\(capture) was cut off during the capture; its complete part was replayed")
        }
        let status = replay.state.status
        switch format {
        case .text: print(StatusLine.summary(of: status))
        case .json:
            print(String(decoding: StatusDocument.json(of: status, for: .operators), as: UTF8.self), terminator: "")
        }
        if out != nil { print("Published in \(directory.path): play its ring.m3u8") }
    }
}

enum ReplayFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

/// The server of `liverelay replay --live`, from which players and relays pull a capture.
private struct CaptureServer: Sendable {
    let capture: CaptureDirectory
    let address: ListenAddress
    /// Whether the capture restarts at its end.
    let loops: Bool

    private var console: Console { .standardError }

    /// Runs until the process is asked to end.
    func run() async throws(RelayError) {
        let clock = FirstRequestClock()
        let origin: CapturedOrigin
        do { origin = try CapturedOrigin(capture, loops: loops) } catch { throw RelayError(error) }
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(origin, on: address) { clock.elapsed() }
        } catch { throw RelayError(error) }
        let url = address.baseURL(port: server.port) + origin.entryPath
        console.write(line: "Serving the capture at \(url)   Ctrl-C ends it")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await Signals.wait() }
            group.addTask { await console.displayStatus { status(clock) } }
            await group.next()
            group.cancelAll()
        }
        console.clearStatusLine()
        await server.shutdown(within: HTTPServer.shutdownLimit)
    }

    private func status(_ clock: FirstRequestClock) -> String {
        let length = capture.index.duration.components.seconds
        return switch clock.reading?.components.seconds {
        case nil: "waiting for the first request"
        case let second? where !loops && second > length: "ended; the last playlists stay"
        case let second?: "\(loops ? second % max(1, length) : second) s of \(length) s"
        }
    }
}
