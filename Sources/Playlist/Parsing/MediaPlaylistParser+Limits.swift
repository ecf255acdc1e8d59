// Drops what exceeds the limits: the oldest segments and date ranges, because viewers and the cursor need the newest.
extension MediaPlaylistParser {
    /// The URI of a segment with its variables substituted; nil if it is too long.
    mutating func uri(of line: PlaylistLine) throws(PlaylistError) -> String? {
        do throws(PlaylistError) {
            return try scope.substitute(line.text, tag: .extinf, line: line.number)
        } catch {
            guard case .exceeds = error.reason else { throw error }
            return nil
        }
    }

    /// Drops the oldest segments beyond the limit.
    mutating func dropOldestSegments() {
        let count = playlist.segments.count - meter.limits.segments
        meter.drop(.segments, count: count)
        meter.step(playlist.segments.count)
        playlist.segments.removeFirst(count)
        droppedSegments += count
    }

    /// Appends a date range to the head or to the next segment.
    mutating func append(_ range: DateRange) {
        if isInHead {
            playlist.dateRanges.append(range)
            dateRangeWindow.append(range, at: .head)
        } else {
            builder.dateRanges.append(range)
            dateRangeWindow.append(range, at: .segment(droppedSegments + playlist.segments.count))
        }
        if dateRangeWindow.exceeds(meter.limits) { dropOldestDateRanges() }
    }

    /// Drops the oldest date ranges beyond the limits.
    mutating func dropOldestDateRanges() {
        let (places, byCount, byBytes) = dateRangeWindow.removeExcess(meter.limits)
        if byCount > 0 { meter.drop(.dateRanges, count: byCount) }
        if byBytes > 0 { meter.drop(.dateRangeBytes, count: byBytes) }
        for (place, count) in places { drop(count, at: place) }
    }

    private mutating func drop(_ count: Int, at place: DateRangeWindow.Place) {
        switch place {
        case .head:
            meter.step(playlist.dateRanges.count)
            playlist.dateRanges.removeFirst(count)
        case .segment(let number):
            let index = number - droppedSegments
            if index == playlist.segments.count {
                meter.step(builder.dateRanges.count)
                builder.dateRanges.removeFirst(count)
            } else if index >= 0 {
                meter.step(playlist.segments[index].dateRanges.count)
                playlist.segments[index].dateRanges.removeFirst(count)
            }
        }
    }
}
