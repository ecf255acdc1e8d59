import Capture
import Fetch
import HTTP
import NIOCore
import Synchronization
import WebServer

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
    fileprivate init(_ captured: CapturedResponse) {
        let fields = captured.headers.map { HeaderField(name: $0.name, value: $0.value) }
        let transmission = HeaderField(
            name: CapturedResponse.Transmission.fieldName, value: captured.transmission.fieldValue)
        self.init(
            status: HTTPStatus(rawValue: captured.status), contentType: nil, cacheControl: .noStore,
            body: captured.body.isEmpty ? .empty : .bytes(captured.body, gzip: nil),
            extraHeaders: fields + [transmission])
    }
}

/// A clock that starts at its first reading, so that the first client sees a capture from the beginning.
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
