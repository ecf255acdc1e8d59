/// The length of a playlist that lists only a part of the entries.
struct PlaylistWindow: Equatable, Sendable {
    /// The minimum duration in 90 kHz ticks.
    let ticks: Int64

    /// The longer of `wanted` and the duration that RFC 8216 §6.2.2 requires after a removal.
    init(wanted: Duration, targetDuration: Int) {
        let minimum = RetentionPolicy.minimumTargetDurations * Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        ticks = max(PlaylistTicks.ticks(wanted), minimum)
    }

    /// The shortest window of a playlist from which a segment was removed.
    static func shortest(targetDuration: Int) -> PlaylistWindow {
        PlaylistWindow(wanted: .zero, targetDuration: targetDuration)
    }

    /// The index of the first entry in the window at the end of `entries`.
    ///
    /// The window is the shortest suffix with enough time and enough segments, or all entries. As `entries` grow, an
    /// entry before the window never comes back into it (§6.2.1).
    func start<Entries: BidirectionalCollection>(in entries: Entries) -> Int
    where Entries.Element == RingEntry, Entries.Index == Int {
        var duration: Int64 = 0
        var index = entries.endIndex
        while index > entries.startIndex,
            duration < ticks || entries.endIndex - index < RetentionPolicy.minimumSegments
        {
            index -= 1
            duration += entries[index].duration
        }
        return index
    }

    /// The index after the last entry in the window at the beginning of `entries`.
    func prefixEnd(in entries: PersistentVector<RingEntry>) -> Int {
        var duration: Int64 = 0
        var end = entries.startIndex
        while end < entries.endIndex,
            duration < ticks || end - entries.startIndex < RetentionPolicy.minimumSegments
        {
            duration += entries[end].duration
            end += 1
        }
        return end
    }
}
