/// A duration counted in half target durations.
package struct TargetDurations: Equatable, Sendable {
    private let halves: Int

    package static func halves(_ halves: Int) -> TargetDurations { TargetDurations(halves: halves) }

    package static func * (targetDuration: Duration, count: TargetDurations) -> Duration {
        targetDuration * count.halves / 2
    }
}
