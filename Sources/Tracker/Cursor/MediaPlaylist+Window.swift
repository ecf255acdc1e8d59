package import Playlist
import Support

// The numbers and dates of the segments that a media playlist lists.

extension MediaPlaylist {
    /// Media sequence numbers of the listed segments; nil if there are none, or if counting them overflows.
    var window: Range<UInt64>? {
        guard let first = segments.first?.mediaSequence else { return nil }
        let (end, overflows) = first.addingReportingOverflow(UInt64(segments.count))
        return overflows ? nil : first..<end
    }

    var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    /// Whether nothing will be added to the playlist, so that it has no live edge.
    package var isComplete: Bool { hasEndList || playlistType == .vod }

    /// Returns the segment with a number that is in `window`.
    func segment(_ number: UInt64) -> MediaSegment { segments[Int(number - segments[0].mediaSequence)] }

    /// Returns the segment that begins nearest to the date of another one, by less than half of the shorter of both; nil if
    /// none does, or it is a gap.
    func segment(at date: ProgramDateTime, lasting duration: Duration) -> MediaSegment? {
        let distances = zip(segments, programDateTimes).compactMap { segment, begin in
            begin.map { (segment: segment, distance: $0.distance(to: date)) }
        }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }), !nearest.segment.isGap,
            nearest.distance < min(nearest.segment.duration, duration) / 2
        else { return nil }
        return nearest.segment
    }

    /// Returns all EXT-X-DATERANGEs except those that stand with the segments `numbers`.
    func dateRanges(notWith numbers: PartialRangeFrom<UInt64>) -> [DateRange] {
        let older = segments.lazy.filter { $0.mediaSequence < numbers.lowerBound }
        return dateRanges + older.flatMap(\.dateRanges) + trailingDateRanges
    }

    /// Splits `numbers`, a part of `window`, into ranges to fetch and ranges marked EXT-X-GAP.
    func fetchEffects(for numbers: Range<UInt64>) -> [SegmentCursor.Effect] {
        StepCounter.add(numbers.count)
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

    /// The date of each segment, extrapolated from the last date written.
    ///
    /// An element is nil before the first date and after a discontinuity without a date, because the clock may change
    /// there (RFC 8216 §4.3.2.6).
    var programDateTimes: [ProgramDateTime?] {
        StepCounter.add(segments.count)
        var next: ProgramDateTime?
        return segments.map { segment in
            let date = segment.programDateTime ?? (segment.isDiscontinuous ? nil : next)
            next = date?.advanced(by: segment.duration)
            return date
        }
    }

    /// Returns the first segment that begins at or after `date`, with a tolerance of half its duration.
    ///
    /// The number is one past the last listed if the playlist ends at `date`. The result is nil if the playlist has no
    /// dates, or if all of it is older than `date`: then the clock was set back too.
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
    /// Whether more than half of the segment, which begins at `begin`, lies before `date`.
    func precedes(_ date: ProgramDateTime, startingAt begin: ProgramDateTime) -> Bool {
        begin.advanced(by: duration / 2) < date
    }
}

extension ProgramDateTime {
    func distance(to other: ProgramDateTime) -> Duration {
        .milliseconds((other.millisecondsSince1970 &- millisecondsSince1970).magnitude)
    }
}
