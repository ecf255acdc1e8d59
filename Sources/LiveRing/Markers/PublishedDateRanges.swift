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
    /// The number of listings of the upstream so far. A listing consists of the ranges in one of its playlists.
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

    /// Appends a range. If there are too many, it replaces another one.
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

    /// Appends a range, unless the upstream still lists too many. If a range that is still listed were forgotten, it
    /// would be published again with each segment.
    mutating func appendIfPossible(_ range: PublishedDateRange) -> Bool {
        guard ranges.count < AdMarkerLimits.knownDateRanges || ranges.contains(where: { $0.listing < listing }) else {
            return false
        }
        append(range)
        return true
    }

    /// - Returns: whether this is the first refusal of `id`, as far as it is known.
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

    /// The indices of the ranges with an upstream's ID, or that were published under another ID because it was taken.
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
    mutating func end(
        _ index: Int, at date: ProgramDateTime, section: [UInt8]? = nil, as attribute: DateRange.SpliceAttribute = .in
    ) {
        var additions = DateRange(id: ranges[index].range.id)
        additions.duration = .milliseconds(max(0, date.milliseconds(since: ranges[index].start)))
        additions[splice: attribute] = section
        _ = add(additions, to: index)
    }

    func contains(_ id: String) -> Bool { ranges.contains { $0.range.id == id } }

    /// Removes and returns the changed ranges as complete tags, as many as one segment may carry, with the splice
    /// commands that are new in them.
    /// - Parameter date: the start of the segment.
    mutating func dequeueChanges(at date: ProgramDateTime) -> SegmentAdMarkers {
        var markers = SegmentAdMarkers()
        var (count, bytes) = (0, 0)
        for id in changedIDs.prefix(AdMarkerLimits.dateRanges) {
            let index = ranges.lastIndex { $0.range.id == id }
            bytes += index.map { ranges[$0].range.attributes.text.utf8.count } ?? 0
            if bytes > AdMarkerLimits.dateRangeBytes, count > 0 { break }
            count += 1
            guard let index else { continue }
            markers.splices += ranges[index].announce(at: date).map {
                AnnouncedSplice($0, ofRange: markers.dateRanges.count)
            }
            markers.dateRanges.append(ranges[index].range)
        }
        changedIDs.removeFirst(count)
        return markers
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
    /// The number of the newest listing of the upstream that contains the range.
    var listing = 0
    /// The number of the range among all that were ever appended.
    var number = 0
    /// The splice commands that were sent.
    private(set) var announced: Set<AnnouncedSplice.Command> = []

    init(range: DateRange, start: ProgramDateTime, upstream: DateRange? = nil) {
        (self.range, self.start, self.upstream) = (range, start, upstream)
    }

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

    /// Whether a splice command canceled the break, which an earlier command announced.
    var isCanceledBreak: Bool { range[splice: .out] != nil && range[splice: .command] != nil }

    var isBreak: Bool { range[splice: .out] != nil || DateRangeID.isCue(range.id) }
}

// MARK: - Splice commands of transport streams

extension PublishedDateRange {
    /// Records the splice commands that are sent with a tag of the range.
    /// - Parameter date: the start of the segment with the tag.
    /// - Returns: the commands that were not sent before.
    mutating func announce(at date: ProgramDateTime) -> [AnnouncedSplice.Command] {
        let new = commands.filter { !announced.contains($0) && isDue($0, at: date) }
        announced.formUnion(commands)
        return new
    }

    /// All commands of the range in its present state, in order.
    private var commands: [AnnouncedSplice.Command] {
        let isMade = DateRangeID.isCue(range.id) && (announced.contains(.begin) || range[splice: .out] == nil)
        let begin: AnnouncedSplice.Command? = isMade ? .begin : range[splice: .out].map { _ in .out }
        let end: AnnouncedSplice.Command? = isMade ? range.end.map { _ in .end } : range[splice: .in].map { _ in .in }
        return [begin, range[splice: .command].map { _ in .command }, end].compactMap(\.self)
    }

    /// Whether a command should be sent. A range that becomes known late may be over; its end is sent all the same.
    private func isDue(_ command: AnnouncedSplice.Command, at date: ProgramDateTime) -> Bool {
        let isOver = { (time: ProgramDateTime) in time.milliseconds(since: date) < -Self.tolerance }
        switch command {
        case .command where isCanceledBreak: return true
        case .out, .command, .begin: return isOpen && range[splice: .in] == nil || !isOver(start)
        // A made beginning has the duration.
        case .end: return announced.contains(.begin) || isOver(start) && !(range.end.map(isOver) ?? true)
        case .in: return true
        }
    }
}

extension PublishedDateRange {
    /// A range that an earlier process published; nil without START-DATE.
    /// - Parameter autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    init?(recovered range: DateRange, autoReturn: ([UInt8]) -> Bool) {
        guard let start = range.startDate else { return nil }
        self.init(range: range, start: start)
        announced = Set(commands)
        guard isOpen, DateRangeID.isSplice(range.id), let section = range[splice: .out], autoReturn(section) else {
            return
        }
        autoReturnDate = range.plannedDuration.map { start.advanced(by: $0) }
    }
}

/// The IDs of published date ranges.
/// After a restart the IDs show where a range came from. Each ID contains its date, because one ID means one range for
/// the life of the channel (RFC 8216 §4.3.2.7).
enum DateRangeID {
    /// The ID of an ad break that a cue tag began.
    static func cue(at date: ProgramDateTime) -> String { "cue-\(date.millisecondsSince1970)" }

    static func isCue(_ id: String) -> Bool { id.hasPrefix("cue-") }

    static func splice(_ eventID: UInt32?, at date: ProgramDateTime) -> String {
        "\(splicePrefix(eventID))\(date.millisecondsSince1970)"
    }

    static func isSplice(_ id: String, _ eventID: UInt32?) -> Bool { id.hasPrefix(splicePrefix(eventID)) }

    /// The ID of a range that cancels a splice event.
    static func cancellation(of eventID: UInt32?, at date: ProgramDateTime) -> String {
        "\(cancellationPrefix(eventID))\(date.millisecondsSince1970)"
    }

    static func isCancellation(_ id: String, of eventID: UInt32?) -> Bool { id.hasPrefix(cancellationPrefix(eventID)) }

    private static func cancellationPrefix(_ eventID: UInt32?) -> String {
        "scte35-cancel-\(eventID.map { String($0) } ?? "")-"
    }

    private static func splicePrefix(_ eventID: UInt32?) -> String {
        "scte35-\(eventID.map { String($0) } ?? "command")-"
    }

    static func isSplice(_ id: String) -> Bool { id.hasPrefix("scte35-") }

    /// Whether the ring generated `id`, from a cue tag or a splice command.
    static func isGenerated(_ id: String) -> Bool { isCue(id) || isSplice(id) }

    /// The ID of a range whose own ID was published with an earlier range.
    static func reused(_ id: String, at date: ProgramDateTime) -> String { "\(id)-\(date.millisecondsSince1970)" }
}
