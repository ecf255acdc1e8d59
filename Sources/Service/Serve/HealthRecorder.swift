import Support
import Synchronization

/// Records the health of all channels while the process runs.
package final class HealthRecorder: Sendable {
    /// `/web/health.json`
    struct Document: Encodable, Sendable {
        let cellSeconds: Int
        /// The age of the process, before which nothing is known.
        let uptime: Double
        /// As in `HealthHistory.texts`.
        let channels: [String: String]
    }

    /// A shorter fault may stay unnoticed.
    private static let pause = Duration.seconds(5)

    private let history = Mutex(HealthHistory())
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now

    package init() {}

    /// Records until the task is canceled.
    package func run(of host: ChannelHost) async {
        repeat {
            let healths = host.healths
            history.withLock { $0.record(healths, at: start.duration(to: clock.now)) }
        } while (try? await clock.sleep(for: Self.pause)) != nil
    }

    func document(of isListed: (String) -> Bool) -> Document {
        let time = start.duration(to: clock.now)
        return Document(
            cellSeconds: Int(HealthHistory.cell.components.seconds), uptime: time.inSeconds,
            channels: history.withLock { $0.texts(at: time, of: isListed) })
    }
}
