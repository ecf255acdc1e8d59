/// How much of the end of a list a playlist shows.
struct PlaylistWindow: Equatable, Sendable {
    /// 90 kHz ticks that are shown at least.
    let ticks: Int64

    /// The longest of `wanted` and what RFC 8216 §6.2.2 asks of a playlist after a removal.
    init(wanted: Duration, targetDuration: Int) {
        ticks = max(MediaTime.ticks(wanted), Self.floor(targetDuration: targetDuration))
    }

    static func floor(targetDuration: Int) -> Int64 {
        RetentionPolicy.minimumTargetDurations * Int64(targetDuration) * MediaTime.ticksPerSecond
    }

    /// Index of the first entry shown: the shortest end of `entries` that is long enough and has enough segments,
    /// or all of them. What was once left out never comes back as `entries` grow (§6.2.1).
    func start(in entries: ArraySlice<RingEntry>) -> Int {
        var shown: Int64 = 0
        var index = entries.endIndex
        while index > entries.startIndex,
            shown < ticks || entries.endIndex - index < RetentionPolicy.minimumSegments
        {
            index -= 1
            shown += entries[index].duration
        }
        return index
    }
}
