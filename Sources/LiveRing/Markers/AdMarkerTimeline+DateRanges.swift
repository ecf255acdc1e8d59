import Playlist
import Support

// EXT-X-DATERANGE of the upstream.
extension AdMarkerTimeline {
    /// Publishes the ranges that the upstream lists, new or again, with a segment that begins at `date`.
    ///
    /// If the upstream lists more than are known at once, the later ones are dropped, each time that they are listed.
    mutating func publish(_ ranges: [DateRange], at date: ProgramDateTime) {
        let ranges = ranges.prefix(AdMarkerLimits.listedDateRanges)
        guard !ranges.isEmpty else { return }
        published.beginListing()
        for range in ranges {
            if let index = published.index(of: range, on: upstreamDates) { published.recordListing(of: index) }
        }
        for range in ranges { publish(range, at: date) }
    }

    /// Publishes one range, new or again.
    private mutating func publish(_ range: DateRange, at date: ProgramDateTime) {
        if let index = published.index(of: range, on: upstreamDates) { return update(at: index, with: range) }
        guard let upstreamStart = range.startDate else {
            counts.unreadableRanges += 1
            return
        }
        let start = upstreamDates.published(upstreamStart) ?? date
        var redated = redated(range, from: upstreamStart, to: start)
        guard overlapsChannel(redated, from: start) else {
            counts.expiredRanges += 1
            return
        }
        if published.contains(redated.id) { redated.id = DateRangeID.reused(redated.id, at: start) }
        guard !published.contains(redated.id) else { return }
        if !published.appendIfPossible(PublishedDateRange(redated, start: start, upstream: range)) {
            counts.excessMarkers += published.recordRefusal(of: redated.id) ? 1 : 0
        }
    }

    private mutating func update(at index: Int, with range: DateRange) {
        guard published[index].upstream != range else { return }
        published[index].upstream = range
        let start = published[index].start
        counts.attributesChanged += published.add(redated(range, from: range.startDate ?? start, to: start), to: index)
    }

    /// `range` with published dates. Its duration stays; an end without a duration is mapped like any other date.
    private func redated(
        _ range: DateRange, from upstreamStart: ProgramDateTime, to start: ProgramDateTime
    ) -> DateRange {
        var redated = range
        if range.startDate != start { redated.startDate = start }
        guard let end = range.endDate else { return redated }
        let sameLength = start.advanced(byMilliseconds: end.milliseconds(since: upstreamStart))
        let newEnd = range.duration.map { start.advanced(by: $0) } ?? upstreamDates.published(end) ?? sameLength
        if newEnd != end { redated.endDate = max(start, newEnd) }
        return redated
    }

    /// Whether a part of `range` overlaps the published media.
    private func overlapsChannel(_ range: DateRange, from start: ProgramDateTime) -> Bool {
        guard let channelStart, start < channelStart else { return true }
        if let end = range.end { return end > channelStart }
        return range.plannedDuration != nil || range[splice: .out] != nil || range.isEndOnNext
    }
}

extension PublishedDateRanges {
    /// The index of the range that an upstream tag describes: the same ID with the same start. The same ID with another
    /// start is another range.
    fileprivate func index(of range: DateRange, on dates: UpstreamDateMap) -> Int? {
        indices(ofUpstreamID: range.id).last { index in
            let published = ranges[index]
            guard let start = range.startDate else { return true }
            if let before = published.upstream?.startDate {
                return before.milliseconds(since: start).magnitude < PublishedDateRange.tolerance.magnitude
            }
            return dates.published(start).map(published.begins) ?? true
        }
    }
}
