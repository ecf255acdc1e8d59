/// Sums over the segments of one rendition: what was started, lost and fetched.
struct SegmentTotals: Equatable, Sendable {
    /// Playing time of all segments that were ever started or lost.
    private(set) var startedDuration = Duration.zero
    /// Playing time of the started segments that were neither delivered nor lost.
    private var openDuration = Duration.zero
    /// Playing time of all lost segments, as far as the playlists listed it.
    private(set) var lostDurations: [SegmentLoss.Cause: Duration] = [:]
    var heldBytes = 0
    /// The larger of the last two bodies, which is the expected size of the next ones.
    private(set) var recentSize = 0
    private var lastSize = 0

    /// The number of losses counted at once. With more, a rendition is ahead of any other in any case.
    private static let maxCountedLosses: UInt64 = 1000

    /// Adds to `startedDuration`, with limits that keep the sum far below the largest `Duration`.
    mutating func addStarted(_ duration: Duration, count: UInt64 = 1) {
        startedDuration += Self.sum(duration, count)
    }

    mutating func addOpen(_ duration: Duration) { openDuration += Self.bounded(duration) }

    mutating func removeOpen(_ duration: Duration) { openDuration -= Self.bounded(duration) }

    /// Playing time of all segments that were delivered or lost.
    var deliveredDuration: Duration { startedDuration - openDuration }

    mutating func addLost(_ duration: Duration, _ cause: SegmentLoss.Cause, count: UInt64 = 1) {
        lostDurations[cause, default: .zero] += Self.sum(duration, count)
    }

    mutating func hold(byteCount: Int) {
        heldBytes += byteCount
        recentSize = max(byteCount, lastSize)
        lastSize = byteCount
    }

    /// The duration of one segment, as far as it counts in a sum.
    static func bounded(_ duration: Duration) -> Duration { min(duration, .seconds(3600)) }

    private static func sum(_ duration: Duration, _ count: UInt64) -> Duration {
        bounded(duration) * Int(min(count, maxCountedLosses))
    }
}
