/// When a node renews its record: at regular intervals, and at once if something waits for that, but not too often.
struct RenewalSchedule: Sendable {
    private let timing: FleetTiming
    private var last: Duration?
    private var isUnderWay = false
    /// Whether something waits for the next renewal.
    var isUrgent = false
    /// The time that bounds the average rate of urgent renewals.
    private var allowance = Duration.zero

    init(_ timing: FleetTiming) { self.timing = timing }

    /// When the next renewal is due; nil while one is under way.
    var next: Duration? {
        if isUnderWay { return nil }
        guard let last else { return .zero }
        let regular = last + timing.beat
        return isUrgent ? min(regular, allowance - timing.spacing * timing.burst) : regular
    }

    /// Whether no renewal is under way, and nothing waits for one.
    var isIdle: Bool { !isUrgent && !isUnderWay }

    /// - Returns: whether a renewal is due, which then is under way.
    mutating func begin(at now: Duration) -> Bool {
        guard let next, next <= now else { return false }
        (isUnderWay, isUrgent, last) = (true, false, now)
        allowance = max(now, allowance) + timing.spacing
        return true
    }

    mutating func finish() { isUnderWay = false }
}
