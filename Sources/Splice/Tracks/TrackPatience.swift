import Media

/// Decides whether the leading track waits for another one.
///
/// A track may be later than the leading track, which is then published behind it. A part that has waited as long as the
/// channel's patience goes on without the track; the parts after it are waited for again, so that a track misses what it
/// has not, and nothing else. A track that misses as much as the patience in a row is not awaited until it is near enough.
struct TrackPatience: Sendable {
    /// The longest time by which the leading track is published behind another one.
    let limit: Ticks
    private(set) var isAwaited: Bool
    /// Media time of the leading track, up to now, that went on without the track.
    private var missing = Ticks.zero

    init(_ limit: Ticks, isAwaited: Bool = true) {
        self.limit = limit
        self.isAwaited = isAwaited
    }

    /// Records that the leading track goes on with a part.
    /// - Parameters:
    ///   - isComplete: whether what the track has of the part is known.
    ///   - lag: by how much the track's newest media ends before the part; nil if that is not known.
    mutating func record(_ part: AudioVideoMatcher.VideoSpan, isComplete: Bool, lag: Ticks?) {
        guard !isComplete else {
            (isAwaited, missing) = (true, .zero)
            return
        }
        let duration = max(.zero, part.end - part.start)
        missing = min(missing + duration, limit + limit)
        if isAwaited {
            isAwaited = missing <= limit
        } else if let lag, lag >= .zero, lag + duration <= limit {
            (isAwaited, missing) = (true, .zero)
        }
    }
}
