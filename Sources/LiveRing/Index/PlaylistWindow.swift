/// How much of the end of a list a playlist shows.
struct PlaylistWindow: Equatable, Sendable {
    /// 90 kHz ticks that are shown at least.
    let ticks: Int64

    /// The longer of `wanted` and what RFC 8216 §6.2.2 asks of a playlist after a removal.
    init(wanted: Duration, targetDuration: Int) {
        let least = RetentionPolicy.minimumTargetDurations * Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        ticks = max(PlaylistTicks.ticks(wanted), least)
    }

    /// The shortest that a list may be once something was removed from it.
    static func shortest(targetDuration: Int) -> PlaylistWindow {
        PlaylistWindow(wanted: .zero, targetDuration: targetDuration)
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

    /// Index behind the last entry shown when the window stands at the beginning of `entries` instead.
    func prefixEnd(in entries: ArraySlice<RingEntry>) -> Int {
        var shown: Int64 = 0
        var end = entries.startIndex
        while end < entries.endIndex,
            shown < ticks || end - entries.startIndex < RetentionPolicy.minimumSegments
        {
            shown += entries[end].duration
            end += 1
        }
        return end
    }
}
