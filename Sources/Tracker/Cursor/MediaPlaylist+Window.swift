package import Playlist

// What the cursor asks of a list: which numbers it shows, and when they were on air.

extension MediaPlaylist {
    /// Media sequence numbers of the segments listed; nil when there are none, or when counting them overflows.
    var window: Range<UInt64>? {
        guard let first = segments.first?.mediaSequence else { return nil }
        let (end, overflows) = first.addingReportingOverflow(UInt64(segments.count))
        return overflows ? nil : first..<end
    }

    /// Of all that is listed.
    var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// Nothing will be added: there is no edge to join at.
    package var isComplete: Bool { hasEndList || playlistType == .vod }

    /// `number` is in `window`.
    func segment(_ number: UInt64) -> MediaSegment { segments[Int(number - segments[0].mediaSequence)] }

    /// Every EXT-X-DATERANGE but those that stand with the segments of `numbers`, whose own they are.
    func dateRanges(notWith numbers: PartialRangeFrom<UInt64>) -> [DateRange] {
        let older = segments.lazy.filter { $0.mediaSequence < numbers.lowerBound }
        return dateRanges + older.flatMap(\.dateRanges) + trailingDateRanges
    }

    /// `numbers`, a part of `window`, as runs of segments that are there and of those marked EXT-X-GAP.
    func fetchEffects(for numbers: Range<UInt64>) -> [SegmentCursor.Effect] {
        var effects: [SegmentCursor.Effect] = []
        var start = numbers.lowerBound
        while start < numbers.upperBound {
            let isGap = segment(start).isGap
            let end = (start..<numbers.upperBound).first { segment($0).isGap != isGap } ?? numbers.upperBound
            effects.append(isGap ? .gap(start..<end) : .fetch(start..<end))
            start = end
        }
        return effects
    }

    /// The date of each segment, counted on from the last one written; nil before the first and after a
    /// discontinuity, whose clock says nothing about the one before (RFC 8216 §4.3.2.6).
    var programDateTimes: [ProgramDateTime?] {
        var next: ProgramDateTime?
        return segments.map { segment in
            let date = segment.programDateTime ?? (segment.isDiscontinuous ? nil : next)
            next = date?.advanced(by: segment.duration)
            return date
        }
    }

    /// The first segment that begins at or after `date`, give or take half its duration, or the number behind the last
    /// where that ends then; nil when the list has no dates, or when all of it is older than `date`: then the clock went
    /// back too, and says nothing.
    func firstSegment(from date: ProgramDateTime) -> UInt64? {
        for (segment, begin) in zip(segments, programDateTimes) {
            guard let begin, !segment.precedes(date, startingAt: begin) else { continue }
            return segment.mediaSequence
        }
        guard let last = segments.last, let begin = programDateTimes.last.flatMap({ $0 }),
            begin.advanced(by: last.duration + last.duration / 2) >= date
        else { return nil }
        return window?.upperBound
    }
}

extension MediaSegment {
    /// Whether more than half of it lies before `date`, where it begins at `begin`.
    func precedes(_ date: ProgramDateTime, startingAt begin: ProgramDateTime) -> Bool {
        begin.advanced(by: duration / 2) < date
    }
}

extension ProgramDateTime {
    /// Wraps around instead of trapping: a list may claim segments of any length.
    func advanced(by duration: Duration) -> ProgramDateTime {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000
        return ProgramDateTime(millisecondsSince1970: millisecondsSince1970 &+ milliseconds)
    }

    func distance(to other: ProgramDateTime) -> Duration {
        .milliseconds((other.millisecondsSince1970 &- millisecondsSince1970).magnitude)
    }
}
