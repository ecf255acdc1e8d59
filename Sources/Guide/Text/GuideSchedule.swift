import Support

/// The positions of the programs of each channel in the served guide, with their starts and without their text.
struct GuideSchedule: Equatable, Sendable {
    /// A program in the file of the guide.
    struct Place: Equatable, Sendable {
        /// Seconds since 1970.
        let start: Int64
        /// The range of bytes in the file, which has at most 2 GiB: `GuideLimits.writtenBytes` and one more program.
        private let first: UInt32
        private let count: UInt32

        init(start: Int64, offset: Int, length: Int) {
            self.start = start
            (first, count) = (UInt32(clamping: offset), UInt32(clamping: length))
        }

        var bytes: Range<Int> { Int(first)..<Int(first) + Int(count) }
    }

    /// By the ids of the guide's channels.
    private var places: [String: [Place]] = [:]

    mutating func append(to channel: String, start: Int64, offset: Int, length: Int) {
        StepCounter.add(1)
        places[channel, default: []].append(Place(start: start, offset: offset, length: length))
    }

    /// The schedule with the programs of each channel in the order of their starts.
    consuming func sorted() -> GuideSchedule {
        for channel in places.keys {
            let isSorted = places[channel].map { zip($0, $0.dropFirst()).allSatisfy { $0.start <= $1.start } } ?? true
            if !isSorted { places[channel]?.sort { ($0.start, $0.bytes.lowerBound) < ($1.start, $1.bytes.lowerBound) } }
        }
        return self
    }

    /// The start of a channel's first program, in seconds since 1970. The programs need not be sorted.
    func firstStart(of channel: String) -> Int64? { places[channel]?.lazy.map(\.start).min() }

    /// The programs of a channel that begin at or after `start` and before `end`, in seconds since 1970.
    func programs(of channel: String, from start: Int64, to end: Int64) -> some Sequence<Place> {
        (places[channel] ?? []).lazy.filter { start <= $0.start && $0.start < end }
    }

    /// At most `limit` programs of a channel, from the last program that began at or before `time` on.
    /// - Parameter time: seconds since 1970; nil: all programs.
    func programs(of channel: String, from time: Int64?, limit: Int) -> ArraySlice<Place> {
        guard let all = places[channel] else { return [] }
        guard let time else { return all.prefix(limit) }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle].start <= time { low = middle + 1 } else { high = middle }
        }
        return all[max(0, low - 1)...].prefix(limit)
    }
}
