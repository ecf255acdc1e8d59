/// Predicts how much media the next update of a playlist adds.
///
/// An upstream may list two segments at once, or alternate between two durations. An update is predicted from the last
/// ones if they repeat; otherwise it is one segment with the duration of the last one.
struct UpdateRhythm: Equatable, Sendable {
    /// Durations that differ by less than this part of a target duration are equal.
    private static let tolerance = 50

    /// Media added by each of the last updates, newest last.
    private var updates: [Duration] = []
    private var lastSegment = Duration.zero

    mutating func join(lastSegment: Duration) { self.lastSegment = lastSegment }

    /// - Parameter continuesLast: whether the last update came so shortly before that both are parts of one.
    mutating func append(_ segments: [Duration], continuesLast: Bool) {
        lastSegment = segments.last ?? lastSegment
        let last = continuesLast ? updates.popLast() ?? .zero : .zero
        updates.append(segments.reduce(last, +))
        if updates.count > 5 { updates.removeFirst() }
    }

    /// The media that the next update is expected to add.
    func nextUpdate(targetDuration: Duration) -> Duration {
        for period in 1...2 where repeats(every: period, within: targetDuration / Self.tolerance) {
            return updates[updates.count - period]
        }
        return lastSegment
    }

    /// Whether the last updates equal those `period` before them: three updates, or five for a period of two.
    private func repeats(every period: Int, within tolerance: Duration) -> Bool {
        guard updates.count > 2 * period else { return false }
        let last = updates.suffix(2 * period + 1)
        return zip(last, last.dropFirst(period)).allSatisfy { abs($0 - $1) <= tolerance }
    }
}

private func abs(_ duration: Duration) -> Duration { max(duration, .zero - duration) }
