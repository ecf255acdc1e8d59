import Capture
import Fetch
import NIOCore
import Observability
import Support
import Synchronization
import WebServer

/// The server of `liverelay replay --live`, from which players and relays pull a capture.
struct CaptureServer: Sendable {
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

extension HTTPServer {
    /// Serves a captured origin with its latencies and faults, on one thread.
    /// - Parameter elapsed: time since the origin started.
    static func start(
        _ origin: CapturedOrigin, on address: ListenAddress, limits: Limits = Limits(),
        elapsed: @escaping @Sendable () -> Duration
    ) async throws(HTTPServerError) -> HTTPServer {
        let responder = TargetResponder { target in
            .now(Response(origin.response(to: target.path, range: target.fields.range, at: elapsed())))
        }
        return try await start(
            on: address, limits: limits, threads: 1,
            configure: { try $0.pipeline.syncOperations.addHandler(FaultInjectionHandler()) }, responder: responder)
    }
}

extension Response {
    fileprivate init(_ recorded: CapturedResponse) {
        let fields = recorded.headers.map { HeaderField(name: $0.name, value: $0.value) }
        let transmission = HeaderField(
            name: CapturedResponse.Transmission.fieldName, value: recorded.transmission.fieldValue)
        self.init(
            status: HTTPStatus(rawValue: recorded.status), contentType: nil, cacheControl: .noStore,
            body: recorded.body.isEmpty ? .empty : .bytes(recorded.body, gzip: nil),
            extraHeaders: fields + [transmission])
    }
}

/// A clock that starts with its first reading, so that the first client sees a capture from its beginning.
final class FirstRequestClock: Sendable {
    private let start = Mutex<ContinuousClock.Instant?>(nil)

    /// Time since the first request; nil before it.
    var reading: Duration? { start.withLock { $0?.duration(to: .now) } }

    func elapsed() -> Duration {
        start.withLock { start in
            let first = start ?? .now
            start = first
            return first.duration(to: .now)
        }
    }
}
