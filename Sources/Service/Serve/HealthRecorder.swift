import Support
import Synchronization

/// Records the health of all channels while the process runs.
package final class HealthRecorder: Sendable {
    /// `/web/health.json`
    struct Document: Encodable, Sendable {
        let cellSeconds: Int
        /// The age of the history.
        let uptime: Double
        /// As in `HealthHistory.texts`.
        let channels: [String: String]
    }

    /// A shorter fault may stay unnoticed.
    private static let pause = Duration.seconds(5)

    private let history: Mutex<HealthHistory>
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// - Parameter earlier: the history of the process that this one continues.
    package init(continuing earlier: HealthHandover = HealthHandover()) {
        history = Mutex(earlier.history)
        start = .now - .seconds(earlier.age)
    }

    /// The history for the next process.
    package var handover: HealthHandover {
        HealthHandover(age: start.duration(to: clock.now).inSeconds, history: history.withLock { $0 })
    }

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

/// The health of the channels, as a process hands it to its successor.
package struct HealthHandover: Codable, Equatable, Sendable {
    /// Seconds since the history began.
    let age: Double
    let history: HealthHistory

    package init() { self.init(age: 0, history: HealthHistory()) }

    init(age: Double, history: HealthHistory) { (self.age, self.history) = (age, history) }
}
