/// The places of the newest date ranges of a playlist, in the order in which they were read.
///
/// A channel needs the newest ranges: older ones were read when they were new.
struct DateRangeWindow: Equatable, Sendable {
    /// Where a date range stands.
    enum Place: Equatable, Sendable {
        case head
        /// Before the segment with this index, counted from the first one that was ever read.
        case segment(Int)
    }

    private struct Entry: Equatable, Sendable {
        let place: Place
        let bytes: Int
    }

    private var entries: [Entry] = []
    private var bytes = 0

    mutating func append(_ range: DateRange, at place: Place) {
        let size = range.attributes.attributes.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        entries.append(Entry(place: place, bytes: size))
        bytes += size
    }

    /// Whether so much exceeds the limits that the oldest ranges are dropped now. Dropping a quarter of the limit at
    /// once moves each range a few times at most.
    func exceeds(_ limits: PlaylistLimits) -> Bool {
        entries.count > limits.dateRanges + limits.dateRanges / 4
            || bytes > limits.dateRangeBytes + limits.dateRangeBytes / 4
    }

    /// Removes the oldest ranges beyond the limits. Returns how many to drop at each place, oldest first, and the limits
    /// that they exceed.
    mutating func removeExcess(
        _ limits: PlaylistLimits
    ) -> (places: [(place: Place, count: Int)], byCount: Int, byBytes: Int) {
        let byCount = max(0, entries.count - limits.dateRanges)
        var end = byCount
        bytes -= entries[..<end].reduce(0) { $0 + $1.bytes }
        while end < entries.count, bytes > limits.dateRangeBytes {
            bytes -= entries[end].bytes
            end += 1
        }
        var places: [(place: Place, count: Int)] = []
        for entry in entries[..<end] {
            if places.last?.place == entry.place {
                places[places.count - 1].count += 1
            } else {
                places.append((entry.place, 1))
            }
        }
        entries.removeFirst(end)
        return (places, byCount, end - byCount)
    }
}
