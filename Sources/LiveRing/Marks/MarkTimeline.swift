package import Playlist

/// Carries the upstream's marks to the segments published: cue lines to the segment that begins where they stood, and
/// EXT-X-DATERANGE, with dates on our timeline, as soon as they are known.
///
/// What is said once is never said otherwise: more about a range comes as another tag with all that was told of it.
package struct MarkTimeline: Equatable, Sendable {
    /// Segments whose pictures are waited for.
    private static let limit = 256

    /// What was listed and has no place yet, in order.
    private var waiting: [UpstreamMarks] = []
    /// Cue lines of an upstream segment that began inside one of ours: the next one begins with them.
    private var held: [CueMark] = []
    var dates = DateMap()
    var told: ToldRanges
    /// Of the first segment of the channel; nil before it.
    var began: ProgramDateTime?
    package internal(set) var counts = MarkCounts()

    /// - Parameters:
    ///   - index: what an earlier process published.
    ///   - returnsByItself: whether a splice_info_section begins a break that is over after the length it says, without
    ///     a word.
    package init(resuming index: RingIndex, returnsByItself: ([UInt8]) -> Bool = { _ in false }) {
        var ranges = index.openDateRanges
        for entry in index.listed {
            for tag in entry.marks.dateRanges { ranges.note(tag) }
        }
        told = ToldRanges(ranges.ranges, returnsByItself: returnsByItself)
        began = index.listed.first?.programDateTime
    }

    /// An upstream segment is on its way; its pictures will say where it begins.
    package mutating func note(_ marks: UpstreamMarks) {
        counts.otherTags += marks.otherTags
        waiting.append(marks)
        guard waiting.count > Self.limit else { return }
        let lost = waiting.removeFirst()
        if !lost.cues.isEmpty || !lost.dateRanges.isEmpty { counts.unplaced += 1 }
    }

    /// An upstream segment that was noted began in what was published before: its cue lines stand there. A range that was
    /// told of is known by its ID.
    package mutating func withdrawCues(of mediaSequence: UInt64) {
        for index in waiting.indices where waiting[index].mediaSequence == mediaSequence { waiting[index].cues = [] }
    }

    /// What stands before `segment`, the next one published.
    package mutating func marks(for segment: MarkedSegment) -> SegmentMarks {
        began = began ?? segment.date
        var cues = held
        held = []
        for placement in segment.placements {
            if let upstreamDate = placement.upstreamDate { dates.note(upstreamDate, is: placement.date) }
            for marks in takeWaiting(upTo: placement.mediaSequence) {
                for range in marks.dateRanges { list(range, at: placement.date) }
                read(marks.cues, at: placement.date)
                if placement.date <= segment.date { cues += marks.cues } else { held += marks.cues }
            }
        }
        for splice in segment.splices { read(splice) }
        endWhatReturnsByItself(by: segment.date)
        let marks = SegmentMarks(cues: cues, dateRanges: told.takeNews())
        counts.cues += marks.cues.count
        counts.dateRanges += marks.dateRanges.count
        return marks
    }

    /// Nothing more is published: what was listed and had no place yet.
    /// - Parameters: `ranges`: that came with the upstream's end; `date`: where what is published ends.
    package mutating func end(_ ranges: [DateRange], at date: ProgramDateTime) -> [DateRange] {
        if !held.isEmpty { counts.unplaced += 1 }
        for marks in waiting {
            if !marks.cues.isEmpty { counts.unplaced += 1 }
            for range in marks.dateRanges { list(range, at: date) }
        }
        for range in ranges { list(range, at: date) }
        (held, waiting) = ([], [])
        endWhatReturnsByItself(by: date)
        let news = told.takeNews()
        counts.dateRanges += news.count
        return news
    }

    /// A segment that never gave a picture leaves its marks to the next one that does.
    private mutating func takeWaiting(upTo mediaSequence: UInt64) -> ArraySlice<UpstreamMarks> {
        guard let index = waiting.firstIndex(where: { $0.mediaSequence == mediaSequence }) else { return [] }
        defer { waiting.removeFirst(index + 1) }
        return waiting[...index]
    }
}

/// EXT-X-DATERANGE of the upstream.
extension MarkTimeline {
    /// The upstream lists `range`, for the first time or again, with a segment that begins at `place`.
    private mutating func list(_ range: DateRange, at place: ProgramDateTime) {
        if let index = told.index(of: range, on: dates) { return listAgain(range, as: index) }
        guard let upstreamStart = range.startDate else {
            counts.unreadable += 1
            return
        }
        let start = dates.published(upstreamStart) ?? place
        var ours = moved(range, from: upstreamStart, to: start)
        guard reachesUs(ours, from: start) else {
            counts.past += 1
            return
        }
        if told.contains(ours.id) { ours.id = RangeName.again(ours.id, at: start) }
        guard !told.contains(ours.id) else { return }
        told.append(ToldRange(ours, start: start, upstream: range))
    }

    private mutating func listAgain(_ range: DateRange, as index: Int) {
        guard told[index].upstream != range else { return }
        told[index].upstream = range
        let start = told[index].start
        counts.attributesChanged += told.add(moved(range, from: range.startDate ?? start, to: start), to: index)
    }

    /// With our dates. Lengths stay what they are; an end without a length is a moment like any other.
    private func moved(
        _ range: DateRange, from upstreamStart: ProgramDateTime, to start: ProgramDateTime
    ) -> DateRange {
        var ours = range
        if range.startDate != start { ours.startDate = start }
        guard let end = range.endDate else { return ours }
        let sameLength = start.moved(by: end.milliseconds(since: upstreamStart))
        let ourEnd = range.duration.map { start.advanced(by: $0) } ?? dates.published(end) ?? sameLength
        if ourEnd != end { ours.endDate = max(start, ourEnd) }
        return ours
    }

    /// Whether any of it lies in what is published.
    private func reachesUs(_ range: DateRange, from start: ProgramDateTime) -> Bool {
        guard let began, start < began else { return true }
        if let end = range.end { return end > began }
        return range.plannedDuration != nil || range[splice: .out] != nil || range.isEndOnNext
    }
}

extension ToldRanges {
    /// The range that a tag of the upstream speaks of: the same ID and the same moment. The ID again at another moment
    /// is another range.
    func index(of range: DateRange, on dates: DateMap) -> Int? {
        ranges.lastIndex { told in
            guard told.range.id == range.id || told.range.id == RangeName.again(range.id, at: told.start) else {
                return false
            }
            guard let start = range.startDate else { return true }
            if let before = told.upstream?.startDate {
                return before.milliseconds(since: start).magnitude < ToldRange.tolerance.magnitude
            }
            return dates.published(start).map(told.begins) ?? true
        }
    }
}
