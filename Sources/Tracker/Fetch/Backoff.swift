/// Pauses that double after each failure up to a ceiling, and restart after a success.
struct Backoff: Equatable, Sendable {
    static let first = Duration.milliseconds(500)
    static let ceiling = Duration.seconds(8)

    private(set) var failures = 0

    /// Records a failure and returns the pause that follows it.
    mutating func next() -> Duration {
        let pause = failures < 5 ? Self.first * (1 << failures) : Self.ceiling
        failures += 1
        return min(pause, Self.ceiling)
    }

    mutating func reset() { failures = 0 }
}
