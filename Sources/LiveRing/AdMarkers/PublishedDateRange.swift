import Playlist

/// A date range as it was told so far, and where it comes from.
struct PublishedDateRange: Equatable, Sendable {
    /// Two moments nearer than this are one: dates are cut to milliseconds and moved by whole frames on the way.
    static let tolerance: Int64 = 1000

    var range: DateRange
    let start: ProgramDateTime
    /// As the upstream listed it last; nil for ranges of ours, and after a restart.
    var upstream: DateRange?
    /// A break that ends without a word, and when.
    var autoReturnDate: ProgramDateTime?

    init(_ range: DateRange, start: ProgramDateTime, upstream: DateRange? = nil) {
        self.range = range
        self.start = start
        self.upstream = upstream
    }

    /// nil when it says not where it begins.
    /// - Parameter returnsByItself: whether the break that a section begins is over without a word.
    init?(recovered range: DateRange, returnsByItself: ([UInt8]) -> Bool) {
        guard let start = range.startDate else { return nil }
        self.init(range, start: start)
        guard isOpen, DateRangeID.isSplice(range.id), let section = range[splice: .out], returnsByItself(section) else {
            return
        }
        autoReturnDate = range.plannedDuration.map { start.advanced(by: $0) }
    }

    func begins(near date: ProgramDateTime) -> Bool {
        start.milliseconds(since: date).magnitude < Self.tolerance.magnitude
    }

    var isOpen: Bool { range.end == nil }

    var isBreak: Bool { range[splice: .out] != nil || DateRangeID.isCue(range.id) }
}

/// Where the IDs of ranges come from. They tell after a restart what a range was made of; each has its moment in it,
/// because an ID is for one range for ever (RFC 8216 §4.3.2.7).
enum DateRangeID {
    /// Of a break that cue tags tell of.
    static func cue(at date: ProgramDateTime) -> String { "cue-\(date.millisecondsSince1970)" }

    static func isCue(_ id: String) -> Bool { id.hasPrefix("cue-") }

    /// Of a splice event.
    static func splice(_ eventID: UInt32?, at date: ProgramDateTime) -> String {
        "\(splicePrefix(eventID))\(date.millisecondsSince1970)"
    }

    static func isSplice(_ id: String, _ eventID: UInt32?) -> Bool { id.hasPrefix(splicePrefix(eventID)) }

    private static func splicePrefix(_ eventID: UInt32?) -> String {
        "scte35-\(eventID.map { String($0) } ?? "command")-"
    }

    static func isSplice(_ id: String) -> Bool { id.hasPrefix("scte35-") }

    static func isGenerated(_ id: String) -> Bool { isCue(id) || isSplice(id) }

    /// Of a range whose own ID is taken by one that the upstream told of before.
    static func reused(_ id: String, at date: ProgramDateTime) -> String { "\(id)-\(date.millisecondsSince1970)" }
}

/// The ranges told so far, newest last, and those of them that have something to tell.
struct PublishedDateRanges: Equatable, Sendable {
    private static let limit = 512

    private(set) var ranges: [PublishedDateRange] = []
    /// IDs in the order in which they changed.
    private var changedIDs: [String] = []

    init(_ told: [DateRange], returnsByItself: ([UInt8]) -> Bool) {
        ranges = told.compactMap { PublishedDateRange(recovered: $0, returnsByItself: returnsByItself) }
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

    /// Adds to the range at `index` what it lacks of `more`.
    /// - Returns: how many attributes it has with another value.
    mutating func add(_ more: DateRange, to index: Int) -> Int {
        let before = ranges[index].range
        var more = more
        let contradicts = dropContradictingEnd(from: &more, of: ranges[index])
        let refused = ranges[index].range.add(more)
        if ranges[index].range != before { recordChange(before.id) }
        return refused.count + (contradicts ? 1 : 0)
    }

    /// A length and an end are two attributes and one fact.
    private func dropContradictingEnd(from more: inout DateRange, of told: PublishedDateRange) -> Bool {
        let end = more.endDate ?? more.duration.map { told.start.advanced(by: $0) }
        guard let known = told.range.end, let end, end != known else { return false }
        more.endDate = nil
        more.duration = nil
        return true
    }

    /// The break at `index` is over at `date`, or never was when that is before it.
    mutating func end(_ index: Int, at date: ProgramDateTime, section: [UInt8]? = nil) {
        var more = DateRange(id: ranges[index].range.id)
        more.duration = .milliseconds(max(0, date.milliseconds(since: ranges[index].start)))
        more[splice: .in] = section
        _ = add(more, to: index)
    }

    func contains(_ id: String) -> Bool { ranges.contains { $0.range.id == id } }

    /// Whole tags of what is new.
    mutating func dequeueChanges() -> [DateRange] {
        defer { changedIDs = [] }
        return changedIDs.compactMap { id in ranges.last { $0.range.id == id }?.range }
    }

    private mutating func recordChange(_ id: String) {
        if !changedIDs.contains(id) { changedIDs.append(id) }
    }
}
