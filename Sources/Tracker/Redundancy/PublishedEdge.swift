import Playlist

/// Up to when the channel was published, by the upstream's own dates: where another source has to go on.
struct PublishedEdge: Equatable, Sendable {
    /// Nil while no date tells.
    private(set) var date: ProgramDateTime?

    init(date: ProgramDateTime? = nil) { self.date = date }

    /// - Parameter delivery: in the order in which the main rendition was handed downstream.
    mutating func note(_ delivery: Delivery) {
        guard delivery.rendition == .main else { return }
        switch delivery.content {
        case .segment(let tracked): date = Self.begin(of: tracked, after: date)?.advanced(by: tracked.segment.duration)
        case .lost: date = nil
        case .missing, .ended: break
        }
    }

    /// What a source on trial brought, without the segments at its beginning that were published meanwhile.
    func trimming(_ held: [UpstreamSession.Effect]) -> [UpstreamSession.Effect] {
        guard let date else { return held }
        var line = PublishedEdge()
        var isRepeating = true
        return held.filter { effect in
            guard isRepeating, case .deliver(let delivery) = effect, delivery.rendition == .main,
                case .segment(let tracked) = delivery.content
            else { return true }
            let begin = Self.begin(of: tracked, after: line.date)
            line.note(delivery)
            isRepeating = begin.map { tracked.segment.isPublished(until: date, from: $0) } ?? false
            return !isRepeating
        }
    }

    private static func begin(of tracked: TrackedSegment, after end: ProgramDateTime?) -> ProgramDateTime? {
        tracked.segment.programDateTime ?? (tracked.isAfterSeam ? nil : end)
    }
}

extension MediaSegment {
    /// Whether it precedes `date`, up to which the channel was published, on clocks that can be compared.
    fileprivate func isPublished(until date: ProgramDateTime, from begin: ProgramDateTime) -> Bool {
        precedes(date, from: begin) && begin.distance(to: date) <= DatedJoin.reach(duration)
    }
}

/// How a list is joined where a date says, and not at its edge.
enum DatedJoin {
    /// Farther from the edge, either the clocks differ, or going on there would be a burst of old news.
    static func reach(_ targetDuration: Duration) -> Duration { max(.seconds(60), targetDuration * 10) }
}

extension MediaPlaylist {
    /// The media sequence number of the first segment that lies behind `date`, which may be the next one to be listed;
    /// nil where the list has no dates, or none near `date`.
    func number(behind date: ProgramDateTime) -> UInt64? {
        guard let window, let last = segments.last, let begin = programDateTimes.last ?? nil else { return nil }
        let reach = DatedJoin.reach(targetDuration)
        guard begin.advanced(by: last.duration).distance(to: date) <= reach else { return nil }
        return firstSegment(from: date) ?? window.upperBound
    }
}
