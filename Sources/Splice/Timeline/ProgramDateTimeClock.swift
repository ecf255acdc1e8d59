import Media

/// Carries EXT-X-PROGRAM-DATE-TIME through the timeline.
///
/// The upstream's date applies at the start of each period. Inside a period media time advances it, so that date and
/// EXTINF agree. Dates never go back.
///
/// Inside a period only a clock that runs ahead of the media is followed, and by less than a second at once. A larger
/// step without a discontinuity would make dates ambiguous.
struct ProgramDateTimeClock: Sendable {
    /// Largest jitter of the upstream's dates, which are cut to milliseconds and derived from declared durations.
    private static let longestJitter: Int64 = 100
    static let longestStep: Int64 = 999

    private var anchor: (date: Int64, time: Ticks)
    private var isAnchored = false
    /// Counts of dates too far off to be followed.
    private(set) var counts = SpliceCounts()
    private var end: Int64?
    /// Date at which the media dated by this clock ends, without what other sources published since.
    private var ownEnd: Int64?
    /// Playing time lost before the current period, as of `SegmentInput`.
    private var lost = Ticks.zero

    /// - Parameters:
    ///   - wallClock: milliseconds since 1970 at the channel's first frame, for an upstream without dates.
    ///   - end: end of the dates that an earlier process published.
    init(wallClock: Int64, end: Int64? = nil) {
        anchor = (max(wallClock, end ?? wallClock), .zero)
        self.end = end
    }

    /// Begins a period at `time` of the channel's timeline. Until the upstream dates it, its dates continue from those
    /// before, and media lost in between advances them. What other sources or gaps filled meanwhile stands for that media.
    mutating func beginPeriod(at time: Ticks, lostBefore: Ticks = .zero) {
        isAnchored = false
        let resumed = ownEnd.map { $0 + Self.milliseconds(lostBefore - lost) }
        anchor = ([end, resumed].compactMap { $0 }.reduce(anchor.date, max), time)
        lost = lostBefore
    }

    /// Continues after media of other sources, dated up to `end`.
    mutating func resume(datedUntil end: Int64?) { self.end = end ?? self.end }

    /// Records the upstream's `date` of the frame presented at `time`.
    mutating func record(_ date: Int64, at time: Ticks) {
        guard isAnchored else {
            isAnchored = true
            anchor = (end.map { max($0, date) } ?? date, time)
            return
        }
        let (lead, overflows) = date.subtractingReportingOverflow(self.date(of: time))
        if !overflows, (Self.longestJitter...Self.longestStep).contains(lead) {
            anchor = (date, time)
        } else if overflows || lead.magnitude > Self.longestStep {
            counts[.ignoredProgramDateTimes] += 1
        }
    }

    func date(of time: Ticks) -> Int64 {
        anchor.date + Self.milliseconds(time - anchor.time)
    }

    private static func milliseconds(_ time: Ticks) -> Int64 {
        (time.count * 1000 + Ticks.perSecond / 2) / Ticks.perSecond
    }

    /// Returns the date of media from `time` on, and records that it is published.
    mutating func stamp(from time: Ticks, duration: Ticks) -> Int64 {
        isAnchored = true
        end = date(of: time + duration)
        ownEnd = end
        return date(of: time)
    }
}
