/// Carries EXT-X-PROGRAM-DATE-TIME through the timeline: the upstream's date at the start of each run, counted on by media
/// time inside it, so that date and EXTINF never disagree; never back, whatever an upstream says.
struct DateClock: Equatable, Sendable {
    private struct Anchor: Equatable, Sendable {
        var date: Int64
        var time: Ticks
    }

    private var anchor: Anchor
    private var isNoted = false
    /// Date at which what was dated so far ends.
    private var end: Int64?

    /// - Parameter wallClock: milliseconds since 1970 at the channel's first picture, used when the upstream has no dates.
    /// - Parameter end: where the dates given by an earlier process end.
    init(wallClock: Int64, end: Int64? = nil) {
        anchor = Anchor(date: max(wallClock, end ?? wallClock), time: .zero)
        self.end = end
    }

    /// A run begins at `time` of the channel's timeline; until the upstream dates it, it follows what came before.
    mutating func beginRun(at time: Ticks) {
        isNoted = false
        anchor = Anchor(date: max(anchor.date, end ?? anchor.date), time: time)
    }

    /// The upstream says that the picture shown at `time` is of `date`. Only the first word on each run counts.
    mutating func note(_ date: Int64, at time: Ticks) {
        guard !isNoted else { return }
        isNoted = true
        anchor = Anchor(date: end.map { max($0, date) } ?? date, time: time)
    }

    mutating func date(at time: Ticks, lasting duration: Ticks) -> Int64 {
        let milliseconds = { (ticks: Ticks) in (ticks.count * 1000 + Ticks.perSecond / 2) / Ticks.perSecond }
        let date = anchor.date + milliseconds(time - anchor.time)
        end = anchor.date + milliseconds(time + duration - anchor.time)
        return date
    }
}
