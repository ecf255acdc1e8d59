import Playlist
import Support

/// The published date ranges, newest last, and the changes that are not published yet.
struct PublishedDateRanges: Equatable, Sendable {
    private(set) var ranges: [PublishedDateRange] = []
    /// The IDs of the changed ranges, in the order of their changes.
    private var changedIDs: [String] = []
    /// The numbers of the ranges that may be an upstream's range, by its ID.
    private var numbersByID: [String: [Int]] = [:]
    private var nextNumber = 0
    /// The number of listings of the upstream so far. Each listing has the ranges of one of its playlists.
    private var listing = 0
    /// IDs that were refused, for their count.
    private var refused: Set<String> = []

    init(_ published: [DateRange], autoReturn: ([UInt8]) -> Bool) {
        for range in published.compactMap({ PublishedDateRange(recovered: $0, autoReturn: autoReturn) }) {
            insert(range)
        }
    }

    subscript(index: Int) -> PublishedDateRange {
        get { ranges[index] }
        set { ranges[index] = newValue }
    }

    /// Appends a range in the place of another one if there are too many.
    mutating func append(_ range: PublishedDateRange) {
        if ranges.count >= AdMarkerLimits.knownDateRanges {
            remove(at: ranges.firstIndex { $0.listing < listing } ?? 0)
        }
        insert(range)
        ranges[ranges.count - 1].listing = listing
        recordChange(range.range.id)
    }

    private mutating func insert(_ range: PublishedDateRange) {
        for id in range.upstreamIDs { numbersByID[id, default: []].append(nextNumber) }
        ranges.append(range)
        ranges[ranges.count - 1].number = nextNumber
        nextNumber += 1
    }

    /// Appends a range unless there are too many that the upstream still lists. A range that is forgotten and still listed
    /// would be published again with each segment.
    mutating func appendIfPossible(_ range: PublishedDateRange) -> Bool {
        guard ranges.count < AdMarkerLimits.knownDateRanges || ranges.contains(where: { $0.listing < listing }) else {
            return false
        }
        append(range)
        return true
    }

    /// - Returns: whether the range was not refused before, as far as it is known.
    mutating func recordRefusal(of id: String) -> Bool {
        refused.count < AdMarkerLimits.listedDateRanges ? refused.insert(id).inserted : true
    }

    mutating func beginListing() { listing += 1 }

    mutating func recordListing(of index: Int) { ranges[index].listing = listing }

    private mutating func remove(at index: Int) {
        let removed = ranges.remove(at: index)
        changedIDs.removeAll { $0 == removed.range.id }
        for id in removed.upstreamIDs {
            numbersByID[id]?.removeAll { $0 == removed.number }
            if numbersByID[id]?.isEmpty == true { numbersByID[id] = nil }
        }
    }

    /// The indices of the ranges that have an upstream's ID, or were published under another one because it was used.
    func indices(ofUpstreamID id: String) -> [Int] { (numbersByID[id] ?? []).compactMap { index(ofNumber: $0) } }

    /// The index of a range. Numbers rise from range to range.
    private func index(ofNumber number: Int) -> Int? {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].number == number ? low : nil
    }

    /// Adds the attributes of `additions` that the range at `index` does not have.
    /// - Returns: the number of attributes with a different value in `additions`.
    mutating func add(_ additions: DateRange, to index: Int) -> Int {
        let before = ranges[index].range
        var additions = additions
        let contradicts = removeContradictingEnd(from: &additions, of: ranges[index])
        let conflicts = ranges[index].range.add(additions)
        if ranges[index].range != before { recordChange(before.id) }
        return conflicts.count + (contradicts ? 1 : 0)
    }

    /// Removes an end or duration that contradicts the published end. DURATION and END-DATE state the same fact.
    private func removeContradictingEnd(from additions: inout DateRange, of published: PublishedDateRange) -> Bool {
        let end = additions.endDate ?? additions.duration.map { published.start.advanced(by: $0) }
        guard let publishedEnd = published.range.end, let end, end != publishedEnd else { return false }
        additions.endDate = nil
        additions.duration = nil
        return true
    }

    /// Ends the ad break at `index` at `date`. If `date` is before its start, its duration is 0.
    mutating func end(_ index: Int, at date: ProgramDateTime, section: [UInt8]? = nil) {
        var additions = DateRange(id: ranges[index].range.id)
        additions.duration = .milliseconds(max(0, date.milliseconds(since: ranges[index].start)))
        additions[splice: .in] = section
        _ = add(additions, to: index)
    }

    func contains(_ id: String) -> Bool { ranges.contains { $0.range.id == id } }

    /// Removes and returns the changed ranges as complete tags, as many as one segment may have.
    mutating func dequeueChanges() -> [DateRange] {
        var (count, bytes) = (0, 0)
        let changes = changedIDs.prefix(AdMarkerLimits.dateRanges).map { id in ranges.last { $0.range.id == id }?.range
        }
        for change in changes {
            bytes += change?.attributes.text.utf8.count ?? 0
            if bytes > AdMarkerLimits.dateRangeBytes, count > 0 { break }
            count += 1
        }
        changedIDs.removeFirst(count)
        return changes.prefix(count).compactMap { $0 }
    }

    /// Removes and returns all changed ranges.
    mutating func dequeueAllChanges() -> [DateRange] {
        defer { changedIDs = [] }
        return changedIDs.compactMap { id in ranges.last { $0.range.id == id }?.range }
    }

    private mutating func recordChange(_ id: String) {
        if !changedIDs.contains(id) { changedIDs.append(id) }
    }
}
