/// The durations of the last successful fetches of media, keys and maps, and the limits that follow from them.
struct TransferTimes: Equatable, Sendable {
    private static let capacity = 32
    /// With fewer fetches the longest one counts.
    private static let fewest = 8
    private static let shortestLimit = Duration.milliseconds(1200)
    /// The silence limit of libcurl's configuration, which ends any request.
    private static let longestSilence = Duration.seconds(8)
    /// Assumed before the first fetch has ended.
    private static let assumed = Duration.seconds(1)

    private var durations: [Duration] = []
    private var next = 0

    mutating func append(_ duration: Duration) {
        if durations.count < Self.capacity { return durations.append(duration) }
        durations[next] = duration
        next = (next + 1) % Self.capacity
    }

    /// The time after which a fetch is late: three times what 95 % of the last ones took.
    var lateAfter: Duration {
        let sorted = durations.sorted()
        let index = sorted.count < Self.fewest ? sorted.count - 1 : sorted.count * 95 / 100
        return max(Self.shortestLimit, (sorted.isEmpty ? Self.assumed : sorted[index]) * 3)
    }

    /// The time without a byte after which a request is made anew on another connection.
    ///
    /// It grows after the second timeout in a row, so that an origin that is always this slow is read in the end.
    ///
    /// - Parameter timeouts: requests for the resource that timed out in a row.
    func silenceLimit(after timeouts: Int) -> Duration {
        min(lateAfter * (1 << min(max(0, timeouts - 1), 4)), Self.longestSilence)
    }
}
