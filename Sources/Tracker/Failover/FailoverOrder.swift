/// Which of a channel's sources is tried next, and when: one after the other, and ever less often until something is
/// published.
struct FailoverOrder: Equatable, Sendable {
    /// The source that was published or tried last.
    private(set) var last = 0
    /// None is tried before.
    private(set) var nextAt = Duration.zero
    private var backoff = Backoff()

    /// The next one's turn has come.
    /// - Parameters:
    ///   - count: of the sources; more than one.
    ///   - published: that needs no trial.
    mutating func next(of count: Int, excluding published: Int?) -> Int {
        last = (last + 1) % count
        if last == published { last = (last + 1) % count }
        return last
    }

    /// `source` is published, or was until now: the one behind it comes next.
    mutating func resume(after source: Int) { last = source }

    /// A trial was in vain.
    mutating func backOff(from now: Duration) { nextAt = now + backoff.next() }

    /// Something was published: the next trouble is another one.
    mutating func resetBackoff() { backoff.reset() }
}
