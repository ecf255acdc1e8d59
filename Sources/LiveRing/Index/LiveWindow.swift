import Playlist

/// The beginning of the live playlist among the listed entries. It moves forward with each publish.
struct LiveWindow: Equatable, Sendable {
    /// The index of the first entry in the live playlist.
    private(set) var start = 0
    /// The duration of the entries from `start` on.
    private var ticks: Int64 = 0
    /// The date ranges of the entries before `start` that may reach into the live playlist.
    private(set) var passedDateRanges = OpenDateRanges()

    /// Records that `entry` was listed.
    mutating func append(_ entry: RingEntry) { ticks += entry.duration }

    /// Moves the beginning forward as far as `window` stays filled.
    /// - Parameter limit: the media sequence number at which the playlist may begin at the latest; nil: at any.
    mutating func slide(in listed: PersistentVector<RingEntry>, to window: PlaylistWindow, notAfter limit: UInt64?) {
        let before = start
        while start < listed.endIndex {
            let first = listed[start]
            guard ticks - first.duration >= window.ticks,
                listed.endIndex - start > RetentionPolicy.minimumSegments, first.mediaSequence < limit ?? .max
            else { break }
            pass(first)
        }
        if start > before { removeEndedDateRanges(in: listed) }
    }

    /// Moves the beginning to `index` or after it, because earlier entries leave `listed`.
    mutating func skip(to index: Int, in listed: PersistentVector<RingEntry>) {
        guard start < index else { return }
        while start < index { pass(listed[start]) }
        removeEndedDateRanges(in: listed)
    }

    private mutating func pass(_ entry: RingEntry) {
        ticks -= entry.duration
        start += 1
        passedDateRanges.merge(dateRangesOf: CollectionOfOne(entry))
    }

    private mutating func removeEndedDateRanges(in listed: PersistentVector<RingEntry>) {
        guard start < listed.endIndex else { return }
        passedDateRanges.removeAll(endingBefore: listed[start].programDateTime)
    }
}
