/// Notices that something does not come as often as it has to. Times are ticks of a program's clock.
struct IntervalWatch: Sendable {
    let limit: Int64
    private var last: Int64?
    /// Whether the current gap was returned already.
    private(set) var isOverdue = false

    init(limit: Int64) { self.limit = limit }

    /// Begins anew, as with another clock.
    mutating func reset() { (last, isOverdue) = (nil, false) }

    /// - Returns: The time since the last one, if it is too long and was not returned before.
    mutating func record(at time: Int64) -> Int64? {
        let gap = poll(at: time)
        (last, isOverdue) = (time, false)
        return gap
    }

    /// - Returns: The time since the last one, once it is too long; once for each gap.
    mutating func poll(at time: Int64) -> Int64? {
        guard let last else {
            self.last = time
            return nil
        }
        guard !isOverdue, time - last > limit else { return nil }
        isOverdue = true
        return time - last
    }
}
