import Playlist
import Support

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

    init(_ range: DateRange, start: ProgramDateTime, upstream: DateRange? = nil) {
        self.range = range
        self.start = start
        self.upstream = upstream
    }

    /// A range that an earlier process published; nil without START-DATE.
    /// - Parameter autoReturn: whether the ad break of a splice_info_section ends by itself after its duration.
    init?(recovered range: DateRange, autoReturn: ([UInt8]) -> Bool) {
        guard let start = range.startDate else { return nil }
        self.init(range, start: start)
        guard isOpen, DateRangeID.isSplice(range.id), let section = range[splice: .out], autoReturn(section) else {
            return
        }
        autoReturnDate = range.plannedDuration.map { start.advanced(by: $0) }
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

    var isBreak: Bool { range[splice: .out] != nil || DateRangeID.isCue(range.id) }
}
