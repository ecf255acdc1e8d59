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

    /// - Returns: nil if all of the range up to now is kept, or if all of it is to come.
    func absence(from range: (start: ProgramDateTime, end: ProgramDateTime), of channel: String) -> Absence? {
        let past = range.start..<max(range.start, min(range.end, clock.now()))
        let snapshot = host.running(channel)?.state.snapshot
        return Self.absence(from: past, snapshot.map { $0.dates.map { ($0.first, $0.end) } } ?? nil, snapshot)
    }

    private static func absence(
        from past: Range<ProgramDateTime>, _ kept: (first: ProgramDateTime, end: ProgramDateTime)?,
        _ snapshot: RingSnapshot?
    ) -> Absence? {
        let length = { (range: Range<ProgramDateTime>) in range.upperBound.milliseconds(since: range.lowerBound) }
        guard let kept, let snapshot else {
            // A few seconds of what the upstream lists come with its first segments.
            guard length(past) > 60_000 else { return nil }
            return Absence(
                seconds: Double(length(past)) / 1000,
                reason: "The channel does not run, so that nothing of the time before now is kept.")
        }
        var missing = past.lowerBound < kept.first ? length(past.lowerBound..<min(kept.first, past.upperBound)) : 0
        let isBefore = missing > 0
        for entry in snapshot.index.listed where entry.isGap {
            let range = entry.programDateTime..<max(entry.programDateTime, entry.programDateTimeEnd)
            missing += length(range.clamped(to: past))
        }
        guard missing > 0 else { return nil }
        let seconds = Double(missing) / 1000
        let place = isBefore ? "the rewind begins at \(kept.first.text)" : "the upstream did not deliver it"
        return Absence(seconds: seconds, reason: "\(Int(seconds.rounded(.up))) s of the range are not kept: \(place).")
    }
}
