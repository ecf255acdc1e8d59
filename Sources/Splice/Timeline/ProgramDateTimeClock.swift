import Demux
import Media
import Mux
import Transcode

/// Carries EXT-X-PROGRAM-DATE-TIME through the timeline: the upstream's date at the start of each run, counted on by media
/// time inside it, so that date and EXTINF agree; never back, whatever an upstream says.
///
/// Inside a run only a clock that the media falls behind of is followed, and never by a second at once: a step that
/// viewers are not told of by a discontinuity would make dates ambiguous.
struct ProgramDateTimeClock: Equatable, Sendable {
    private struct Anchor: Equatable, Sendable {
        var date: Int64
        var time: Ticks
    }

    /// An upstream's dates, cut to milliseconds and counted by announced durations, waver by less.
    static let longestJitter: Int64 = 100
    static let longestStep: Int64 = 999

    private var anchor: Anchor
    /// Something of this run was dated.
    private var isAnchored = false
    /// Dates that were too far off to be followed.
    private(set) var rejectedDates = 0
    /// Date at which what was dated so far ends.
    private var end: Int64?

    /// - Parameter wallClock: milliseconds since 1970 at the channel's first picture, used when the upstream has no dates.
    /// - Parameter end: where the dates given by an earlier process end.
    init(wallClock: Int64, end: Int64? = nil) {
        anchor = Anchor(date: max(wallClock, end ?? wallClock), time: .zero)
        self.end = end
    }

    /// A run begins at `time` of the channel's timeline; until the upstream dates it, it follows what came before.
    mutating func beginPeriod(at time: Ticks) {
        isAnchored = false
        anchor = Anchor(date: max(anchor.date, end ?? anchor.date), time: time)
    }

    /// Others published what is dated up to `end`.
    mutating func resume(datedUntil end: Int64?) { self.end = end ?? self.end }

    /// The upstream says that the picture shown at `time` is of `date`.
    mutating func record(_ date: Int64, at time: Ticks) {
        guard isAnchored else {
            isAnchored = true
            anchor = Anchor(date: end.map { max($0, date) } ?? date, time: time)
            return
        }
        let (ahead, overflows) = date.subtractingReportingOverflow(self.date(of: time))
        if !overflows, (Self.longestJitter...Self.longestStep).contains(ahead) {
            anchor = Anchor(date: date, time: time)
        } else if overflows || ahead.magnitude > Self.longestStep {
            rejectedDates += 1
        }
    }

    /// Of a moment of the run that began last.
    func date(of time: Ticks) -> Int64 {
        anchor.date + ((time - anchor.time).count * 1000 + Ticks.perSecond / 2) / Ticks.perSecond
    }

    /// Dates what is published from `time` on.
    mutating func stamp(from time: Ticks, duration: Ticks) -> Int64 {
        isAnchored = true
        end = date(of: time + duration)
        return date(of: time)
    }
}
