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
        let index = ranges.indices.partitioningIndex { ranges[$0].number >= number }
        return index < ranges.count && ranges[index].number == number ? index : nil
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

    mutating func dequeueAllChanges() -> [DateRange] {
        defer { changedIDs = [] }
        return changedIDs.compactMap { id in ranges.last { $0.range.id == id }?.range }
    }

    private mutating func recordChange(_ id: String) {
        if !changedIDs.contains(id) { changedIDs.append(id) }
    }
}

/// A date range in its published state, with its origin.
struct PublishedDateRange: Equatable, Sendable {
    /// Milliseconds. Two dates nearer than this are equal: dates are truncated to milliseconds and moved by whole frames.
    static let tolerance: Int64 = 1000

    var range: DateRange
    let start: ProgramDateTime
    /// The latest state in the upstream's playlist; nil for generated ranges, and after a restart.
    var upstream: DateRange?
    /// The end of an ad break that ends without another command.
    var autoReturnDate: ProgramDateTime?
    /// The number of the upstream's listing in which the range was last.
    var listing = 0
    /// The number of the range among all that were ever appended.
    var number = 0

    func begins(near date: ProgramDateTime) -> Bool {
        start.milliseconds(since: date).magnitude < Self.tolerance.magnitude
    }

    /// The IDs that the range may have in the upstream's playlist.
    var upstreamIDs: [String] {
        StepCounter.add(1)
        let suffix = DateRangeID.reused("", at: start)
        return [range.id] + (range.id.hasSuffix(suffix) ? [String(range.id.dropLast(suffix.count))] : [])
    }

    var isOpen: Bool { range.end == nil }

    var isBreak: Bool { range[splice: .out] != nil || DateRangeID.isCue(range.id) }
}

extension PublishedDateRange {
    /// A range that an earlier process published; nil without START-DATE.
    /// - Parameter autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    init?(recovered range: DateRange, autoReturn: ([UInt8]) -> Bool) {
        guard let start = range.startDate else { return nil }
        self.init(range: range, start: start)
        guard isOpen, DateRangeID.isSplice(range.id), let section = range[splice: .out], autoReturn(section) else {
            return
        }
        autoReturnDate = range.plannedDuration.map { start.advanced(by: $0) }
    }
}

/// The IDs of published date ranges.
///
/// After a restart they say where a range came from. Each contains its date, because one ID means one range for the life
/// of the channel (RFC 8216 §4.3.2.7).
enum DateRangeID {
    /// The ID of an ad break that a cue tag began.
    static func cue(at date: ProgramDateTime) -> String { "cue-\(date.millisecondsSince1970)" }

    static func isCue(_ id: String) -> Bool { id.hasPrefix("cue-") }

    static func splice(_ eventID: UInt32?, at date: ProgramDateTime) -> String {
        "\(splicePrefix(eventID))\(date.millisecondsSince1970)"
    }

    static func isSplice(_ id: String, _ eventID: UInt32?) -> Bool { id.hasPrefix(splicePrefix(eventID)) }

    private static func splicePrefix(_ eventID: UInt32?) -> String {
        "scte35-\(eventID.map { String($0) } ?? "command")-"
    }

    static func isSplice(_ id: String) -> Bool { id.hasPrefix("scte35-") }

    /// Whether the ring generated `id`, from a cue tag or a splice command.
    static func isGenerated(_ id: String) -> Bool { isCue(id) || isSplice(id) }

    /// The ID of a range whose own ID was published with an earlier range.
    static func reused(_ id: String, at date: ProgramDateTime) -> String { "\(id)-\(date.millisecondsSince1970)" }
}
