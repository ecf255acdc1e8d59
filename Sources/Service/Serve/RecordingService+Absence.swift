import Channel
import LiveRing
import Record
import Support

extension RecordingService {
    /// Media of a requested range that is not kept, as far as that is known when the recording is asked for.
    struct Absence: Equatable, Sendable {
        let seconds: Double
        let reason: String
    }

    /// A shorter past may come with the first segments of a channel that begins to run.
    private static let shortestPast: Int64 = 60_000

    /// - Returns: nil if all of the range up to now is kept, or if all of it is to come.
    func absence(from range: (start: ProgramDateTime, end: ProgramDateTime), of channel: String) -> Absence? {
        let past = range.start..<max(range.start, min(range.end, clock.now()))
        let length = { (range: Range<ProgramDateTime>) in range.upperBound.milliseconds(since: range.lowerBound) }
        guard let snapshot = host.running(channel)?.state.snapshot, let first = snapshot.dates?.first else {
            guard length(past) > Self.shortestPast else { return nil }
            return Absence(
                seconds: Double(length(past)) / 1000,
                reason: "The channel does not run, so that nothing of the time before now is kept.")
        }
        let before = past.clamped(to: past.lowerBound..<max(past.lowerBound, first))
        let gaps = snapshot.index.listed.filter(\.isGap).map {
            ($0.programDateTime..<max($0.programDateTime, $0.programDateTimeEnd)).clamped(to: past)
        }
        let missing = gaps.reduce(length(before)) { $0 + length($1) }
        guard missing > 0 else { return nil }
        let seconds = Double(missing) / 1000
        let place = before.isEmpty ? "the upstream did not deliver it" : "the rewind begins at \(first.text)"
        return Absence(seconds: seconds, reason: "\(Int(seconds.rounded(.up))) s of the range are not kept: \(place).")
    }
}
