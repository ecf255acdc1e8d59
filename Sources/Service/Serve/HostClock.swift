/// The time of a process of many channels, and how it waits for a moment.
package struct HostClock: Sendable {
    /// The time since the process began.
    let now: @Sendable () -> Duration
    /// Returns at that time. Throws if the task is canceled before.
    let sleep: @Sendable (_ until: Duration) async throws -> Void

    /// Real time.
    static func continuous() -> HostClock {
        let clock = ContinuousClock()
        let start = clock.now
        return HostClock(
            now: { start.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) })
    }
}
