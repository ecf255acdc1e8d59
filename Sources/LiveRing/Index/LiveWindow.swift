import Playlist

/// The beginning of the live playlist among the listed entries. It moves forward with each publish.
struct LiveWindow: Equatable, Sendable {
    /// The index of the first entry in the live playlist.
    private(set) var start = 0
    /// The duration of the entries from `start` on.
    private var ticks: Int64 = 0
    /// The date ranges of the entries before `start` that may reach into the live playlist.
    private(set) var passedDateRanges = OpenDateRanges()

    /// Records that an entry of `duration` was listed.
    mutating func append(lasting duration: Int64) { ticks += duration }

    /// Moves the beginning forward as far as `window` stays filled.
    ///
    /// Some players cannot begin at a gap. Therefore the media before a gap stays listed until the gap can leave with
    /// it, unless the playlist would have twice its length. Gaps without media before them leave one by one.
    /// - Parameter limit: the media sequence number at which the playlist may begin at the latest; nil: at any.
    mutating func slide(in listed: RingEntries, to window: PlaylistWindow, notAfter limit: UInt64?) {
        let before = start
        while start < listed.endIndex, limit.map({ listed[start].mediaSequence < $0 }) ?? true {
            let passesGaps = limit == nil && ticks <= 2 * window.ticks && !listed.isGap(at: start)
            let (end, removed) = passesGaps ? endOfGaps(in: listed) : (start + 1, listed.duration(at: start))
            guard ticks - removed >= window.ticks, listed.endIndex - end >= RetentionPolicy.minimumSegments else {
                break
            }
            while start < end { pass(in: listed) }
        }
        if start > before { removeEndedDateRanges(in: listed) }
    }

    /// The most consecutive gaps that leave together with the media before them. If there are more, the media leaves
    /// alone, however short the gaps are.
    private static let mostGaps = 256

    /// Returns the index after the gaps that follow the first entry, and the duration of all of them. If the gaps are
    /// too many, or nothing follows them, returns the index after the first entry.
    private func endOfGaps(in listed: RingEntries) -> (end: Int, removed: Int64) {
        var (end, removed) = (start + 1, listed.duration(at: start))
        let first = (end, removed)
        while end < listed.endIndex, listed.isGap(at: end) {
            guard end - start <= Self.mostGaps else { return first }
            removed += listed.duration(at: end)
            end += 1
        }
        return end < listed.endIndex ? (end, removed) : first
    }

    /// Moves the beginning to `index` or after it, because earlier entries leave `listed`.
    mutating func skip(to index: Int, in listed: RingEntries) {
        guard start < index else { return }
        while start < index { pass(in: listed) }
        removeEndedDateRanges(in: listed)
    }

    /// Moves the beginning at once to `index` or after it, because entries were listed that were never in a live
    /// playlist.
    /// - Parameter dateRanged: the indices of the listed entries that have date ranges, in ascending order.
    mutating func jump(to index: Int, in listed: RingEntries, dateRanged: some Sequence<Int>) {
        guard start < index else { return }
        for passed in dateRanged where (start..<index).contains(passed) {
            passedDateRanges.merge(dateRangesOf: CollectionOfOne(listed[passed]))
        }
        start = index
        ticks = listed[index...].reduce(0) { $0 + $1.duration }
        removeEndedDateRanges(in: listed)
    }

    private mutating func pass(in listed: RingEntries) {
        ticks -= listed.duration(at: start)
        if listed.mayHaveDateRanges(at: start) {
            passedDateRanges.merge(dateRangesOf: CollectionOfOne(listed[start]))
        }
        start += 1
    }

    private mutating func removeEndedDateRanges(in listed: RingEntries) {
        guard start < listed.endIndex else { return }
        passedDateRanges.removeAll(endingBefore: listed[start].programDateTime)
    }
}

/// The length of a playlist that lists only a part of the entries.
struct PlaylistWindow: Equatable, Sendable {
    /// The minimum duration in 90 kHz ticks.
    let ticks: Int64

    /// The longer of `wanted` and the duration that RFC 8216 §6.2.2 requires of a playlist from which a segment was removed.
    init(wanted: Duration, targetDuration: Int) {
        let minimum = RetentionPolicy.minimumTargetDurations * Int64(targetDuration) * PlaylistTicks.ticksPerSecond
        ticks = max(PlaylistTicks.ticks(wanted), minimum)
    }

    /// The index of the first entry in the window at the end of `entries`.
    ///
    /// The window is the shortest suffix with enough time and enough segments, or all entries. As `entries` grow, an
    /// entry before the window never comes back into it (§6.2.1).
    func start(in entries: RingEntries) -> Int {
        entries.startOfSuffix(lasting: ticks, count: RetentionPolicy.minimumSegments)
    }

    /// The index of the first entry in the window if gaps count neither as time nor as segments.
    func startWithoutGaps(in entries: RingEntries) -> Int {
        var (duration, count) = (Int64(0), 0)
        var index = entries.endIndex
        while index > entries.startIndex, duration < ticks || count < RetentionPolicy.minimumSegments {
            index -= 1
            let entry = entries[index]
            guard !entry.isGap else { continue }
            duration += entry.duration
            count += 1
        }
        return index
    }

    /// The index after the last entry in the window at the beginning of `entries`.
    func prefixEnd(in entries: RingEntries) -> Int {
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

/// The duration of the longest playlist in which any listed entry ever stood, or a little more, in 90 kHz ticks.
///
/// Playlists are counted in two generations. When every entry of the older generation has left the playlist, the younger
/// generation becomes the older one.
struct LongestPlaylist: Equatable, Sendable {
    private var older: Int64 = 0
    private var younger: Int64
    /// The newest media sequence number of the older generation.
    private var boundary: UInt64

    init(ticks: Int64, newest: UInt64) {
        younger = ticks
        boundary = newest
    }

    var ticks: Int64 { max(older, younger) }

    /// Records a playlist of `listed` ticks with the media sequence numbers `oldest` to `newest`.
    mutating func record(_ listed: Int64, newest: UInt64, oldest: UInt64) {
        if oldest > boundary {
            older = younger
            younger = 0
            boundary = newest
        }
        younger = max(younger, listed)
    }
}
