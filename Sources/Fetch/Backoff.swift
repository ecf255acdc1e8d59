/// Pauses that double after each failure up to a ceiling, and restart after a success.
package struct Backoff: Equatable, Sendable {
    package static let first = Duration.milliseconds(500)
    package static let ceiling = Duration.seconds(8)

    package private(set) var failures = 0

    package init() {}

    /// Records a failure and returns the pause that follows it.
    package mutating func next() -> Duration {
        let pause = failures < 5 ? Self.first * (1 << failures) : Self.ceiling
        failures += 1
        return min(pause, Self.ceiling)
    }

    package mutating func reset() { failures = 0 }
}
