package import Playlist

/// Carries the upstream's marks to the segments published: cue lines to the segment that begins where they stood, and
/// EXT-X-DATERANGE, with dates on our timeline, as soon as they are known.
///
/// What is said once is never said otherwise: more about a range comes as another tag with all that was told of it.
package struct AdMarkerTimeline: Equatable, Sendable {
    /// Segments whose pictures are waited for.
    private static let limit = 256

    /// What was listed and has no place yet, in order.
    private var pendingMarkers: [UpstreamAdMarkers] = []
    /// Cue lines of an upstream segment that began inside one of ours: the next one begins with them.
    private var deferredCueTags: [CueTag] = []
    var upstreamDates = UpstreamDateMap()
    var published: PublishedDateRanges
    /// Of the first segment of the channel; nil before it.
    var channelStart: ProgramDateTime?
    package internal(set) var counts = AdMarkerCounts()

    /// - Parameters:
    ///   - index: what an earlier process published.
    ///   - returnsByItself: whether a splice_info_section begins a break that is over after the length it says, without
    ///     a word.
    package init(resuming index: RingIndex, returnsByItself: ([UInt8]) -> Bool = { _ in false }) {
        var ranges = index.openDateRanges
        for entry in index.listed {
            for tag in entry.adMarkers.dateRanges { ranges.merge(tag) }
        }
        published = PublishedDateRanges(ranges.ranges, returnsByItself: returnsByItself)
        channelStart = index.listed.first?.programDateTime
    }

    /// An upstream segment is on its way; its pictures will say where it begins.
    package mutating func append(_ marks: UpstreamAdMarkers) {
        counts.otherTags += marks.otherTags
        pendingMarkers.append(marks)
        guard pendingMarkers.count > Self.limit else { return }
        let lost = pendingMarkers.removeFirst()
        if !lost.cueTags.isEmpty || !lost.dateRanges.isEmpty { counts.unplacedMarkers += 1 }
    }

    /// An upstream segment that was noted began in what was published before: its cue lines stand there. A range that was
    /// told of is known by its ID.
    package mutating func withdrawCueTags(of mediaSequence: UInt64) {
        for index in pendingMarkers.indices where pendingMarkers[index].mediaSequence == mediaSequence {
            pendingMarkers[index].cueTags = []
        }
    }

    /// What stands before `segment`, the next one published.
    package mutating func dequeueMarkers(for segment: AdMarkerTarget) -> SegmentAdMarkers {
        channelStart = channelStart ?? segment.date
        var cues = deferredCueTags
        deferredCueTags = []
        for placement in segment.placements {
            if let upstreamDate = placement.upstreamDate { upstreamDates.record(upstreamDate, as: placement.date) }
            for marks in dequeuePending(upTo: placement.mediaSequence) {
                for range in marks.dateRanges { publish(range, at: placement.date) }
                apply(marks.cueTags, at: placement.date)
                if placement.date <= segment.date { cues += marks.cueTags } else { deferredCueTags += marks.cueTags }
            }
        }
        for splice in segment.splices { apply(splice) }
        endAutoReturnBreaks(by: segment.date)
        let marks = SegmentAdMarkers(cues: cues, dateRanges: published.dequeueChanges())
        counts.cueTags += marks.cueTags.count
        counts.dateRanges += marks.dateRanges.count
        return marks
    }

    /// Nothing more is published: what was listed and had no place yet.
    /// - Parameters: `ranges`: that came with the upstream's end; `date`: where what is published ends.
    package mutating func finish(_ ranges: [DateRange], at date: ProgramDateTime) -> [DateRange] {
        if !deferredCueTags.isEmpty { counts.unplacedMarkers += 1 }
        for marks in pendingMarkers {
            if !marks.cueTags.isEmpty { counts.unplacedMarkers += 1 }
            for range in marks.dateRanges { publish(range, at: date) }
        }
        for range in ranges { publish(range, at: date) }
        (deferredCueTags, pendingMarkers) = ([], [])
        endAutoReturnBreaks(by: date)
        let news = published.dequeueChanges()
        counts.dateRanges += news.count
        return news
    }

    /// A segment that never gave a picture leaves its marks to the next one that does.
    private mutating func dequeuePending(upTo mediaSequence: UInt64) -> ArraySlice<UpstreamAdMarkers> {
        guard let index = pendingMarkers.firstIndex(where: { $0.mediaSequence == mediaSequence }) else { return [] }
        defer { pendingMarkers.removeFirst(index + 1) }
        return pendingMarkers[...index]
    }
}

/// EXT-X-DATERANGE of the upstream.
extension AdMarkerTimeline {
    /// The upstream lists `range`, for the first time or again, with a segment that begins at `place`.
    private mutating func publish(_ range: DateRange, at place: ProgramDateTime) {
        if let index = published.index(of: range, on: upstreamDates) { return update(at: range, with: index) }
        guard let upstreamStart = range.startDate else {
            counts.unreadableRanges += 1
            return
        }
        let start = upstreamDates.published(upstreamStart) ?? place
        var ours = redated(range, from: upstreamStart, to: start)
        guard overlapsChannel(ours, from: start) else {
            counts.expiredRanges += 1
            return
        }
        if published.contains(ours.id) { ours.id = DateRangeID.reused(ours.id, at: start) }
        guard !published.contains(ours.id) else { return }
        published.append(PublishedDateRange(ours, start: start, upstream: range))
    }

    private mutating func update(at range: DateRange, with index: Int) {
        guard published[index].upstream != range else { return }
        published[index].upstream = range
        let start = published[index].start
        counts.attributesChanged += published.add(redated(range, from: range.startDate ?? start, to: start), to: index)
    }

    /// With our dates. Lengths stay what they are; an end without a length is a moment like any other.
    private func redated(
        _ range: DateRange, from upstreamStart: ProgramDateTime, to start: ProgramDateTime
    ) -> DateRange {
        var ours = range
        if range.startDate != start { ours.startDate = start }
        guard let end = range.endDate else { return ours }
        let sameLength = start.advanced(byMilliseconds: end.milliseconds(since: upstreamStart))
        let ourEnd = range.duration.map { start.advanced(by: $0) } ?? upstreamDates.published(end) ?? sameLength
        if ourEnd != end { ours.endDate = max(start, ourEnd) }
        return ours
    }

    /// Whether any of it lies in what is published.
    private func overlapsChannel(_ range: DateRange, from start: ProgramDateTime) -> Bool {
        guard let channelStart, start < channelStart else { return true }
        if let end = range.end { return end > channelStart }
        return range.plannedDuration != nil || range[splice: .out] != nil || range.isEndOnNext
    }
}

extension PublishedDateRanges {
    /// The range that a tag of the upstream speaks of: the same ID and the same moment. The ID again at another moment
    /// is another range.
    func index(of range: DateRange, on dates: UpstreamDateMap) -> Int? {
        ranges.lastIndex { told in
            guard told.range.id == range.id || told.range.id == DateRangeID.reused(range.id, at: told.start) else {
                return false
            }
            guard let start = range.startDate else { return true }
            if let before = told.upstream?.startDate {
                return before.milliseconds(since: start).magnitude < PublishedDateRange.tolerance.magnitude
            }
            return dates.published(start).map(told.begins) ?? true
        }
    }
}
