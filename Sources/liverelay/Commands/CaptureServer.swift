import Capture
import Observability
import Support
import WebServer

/// The server of `liverelay replay --live`, from which players and relays pull a capture.
struct CaptureServer: Sendable {
    let capture: CaptureDirectory
    let address: ListenAddress
    /// Whether the capture restarts at its end.
    let loops: Bool
    let console: Console

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
