import Capture
import Foundation
import Synchronization
import Tracker

/// `liverelay replay --live`: a capture on the air, for any player or relay to pull from.
struct CaptureServer: Sendable {
    let capture: CaptureDirectory
    let address: ListenAddress
    /// At its end it begins again.
    let loops: Bool
    let console: Console

    /// Until the process is asked to end.
    func run() async throws(RelayError) {
        let clock = FirstRequestClock()
        let (entry, respond) = try responder()
        let server: HTTPServer
        do {
            server = try await HTTPServer.start(on: address, threads: 1) { respond($0, clock.elapsed()) }
        } catch { throw RelayError(error) }
        console.write(line: "On the air at http://\(address.host):\(server.port)\(entry)   Ctrl-C ends it")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await Signals.wait() }
            group.addTask { await report(clock) }
            await group.next()
            group.cancelAll()
        }
        console.clearStatusLine()
        await server.shutdown(within: RelayService.farewell)
    }

    private func responder() throws(RelayError) -> (
        entry: String, respond: @Sendable (RequestTarget, Duration) -> Response
    ) {
        do throws(CaptureError) {
            let origin = try RecordedOrigin(capture, loops: loops)
            return (origin.entryPath, { origin.response(to: $0, at: $1) })
        } catch { throw RelayError(error) }
    }

    private func report(_ clock: FirstRequestClock) async {
        let length = capture.index.duration.components.seconds
        while !Task.isCancelled {
            let second = clock.reading?.components.seconds
            let words =
                switch second {
                case nil: "It begins with the first request"
                case let second? where !loops && second > length: "It has ended; what it said last stays"
                case let second?: "\(loops ? second % max(1, length) : second) s of \(length) s"
                }
            console.setStatusLine(words)
            try? await Task.sleep(for: RelayService.statusInterval)
        }
    }
}

/// Runs from the first request on: whoever comes sees the capture from its beginning.
private final class FirstRequestClock: Sendable {
    private let began = Mutex<ContinuousClock.Instant?>(nil)

    /// nil before the first request.
    var reading: Duration? { began.withLock { $0?.duration(to: .now) } }

    func elapsed() -> Duration {
        began.withLock { began in
            let start = began ?? .now
            began = start
            return start.duration(to: .now)
        }
    }
}
