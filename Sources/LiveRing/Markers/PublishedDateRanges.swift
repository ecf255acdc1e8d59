import Playlist

/// The published date ranges, newest last, and the changes that are not published yet.
struct PublishedDateRanges: Equatable, Sendable {
    private static let limit = 512

    private(set) var ranges: [PublishedDateRange] = []
    /// The IDs of the changed ranges, in the order of their changes.
    private var changedIDs: [String] = []

    init(_ published: [DateRange], autoReturn: ([UInt8]) -> Bool) {
        ranges = published.compactMap { PublishedDateRange(recovered: $0, autoReturn: autoReturn) }
    }

    subscript(index: Int) -> PublishedDateRange {
        get { ranges[index] }
        set { ranges[index] = newValue }
    }

    mutating func append(_ range: PublishedDateRange) {
        ranges.append(range)
        if ranges.count > Self.limit { ranges.removeFirst() }
        recordChange(range.range.id)
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

    /// Removes and returns the changed ranges as complete tags.
    mutating func dequeueChanges() -> [DateRange] {
        defer { changedIDs = [] }
        return changedIDs.compactMap { id in ranges.last { $0.range.id == id }?.range }
    }

    private mutating func recordChange(_ id: String) {
        if !changedIDs.contains(id) { changedIDs.append(id) }
    }
}
