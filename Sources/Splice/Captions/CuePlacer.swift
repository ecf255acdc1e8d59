import Demux
import Media
import Mux
import Transcode

/// One subtitle rendition: cues are placed on the channel's timeline by the clock of the picture they belong to, and
/// given segment by segment once nothing can be added to a segment any more.
///
/// What is given depends on what was said, not on which of picture and subtitles came first; only a rendition that stays
/// behind for longer than it is waited for gives what it has.
struct CuePlacer: Sendable {
    /// A published segment that has no subtitles yet.
    struct PublishedSegment: Equatable, Sendable {
        var mediaSequence: UInt64
        var period: Int
        /// Presentation time on the channel's timeline.
        var start: Ticks
        var end: Ticks
    }

    /// An upstream segment of which something is still needed.
    struct ReceivedSegment: Sendable {
        let input: SubtitleInput
        let file: WebVTT
        /// Cues that were not placed yet.
        var unplacedCues: [WebVTT.Cue]
        /// Presentation times on the channel's timeline; nil as long as nobody knows.
        var outputRange: Range<Ticks>?
        var hasPlacedCues = false
        /// Where the picture ended when the segment was taken.
        var outputEndAtReceipt: Ticks?
    }

    struct PlacedCue: Equatable, Sendable {
        var cue: WebVTT.Cue
        var definitions: [String]
        /// Index in the shown runs' numbers.
        var period: Int
        /// Presentation times on the channel's timeline; `end` may lie behind the end of the run.
        var start: Ticks
        var end: Ticks
        var isPublished = false

        /// Shows all that `other` does.
        func covers(_ other: PlacedCue) -> Bool {
            cue == other.cue && period == other.period && start <= other.start && end >= other.end
        }
    }

    /// Lists announce durations with little precision.
    static let tolerance = Ticks.milliseconds(100)
    /// A cue that no picture came for in so much time has none.
    static let placementTimeout = Ticks.seconds(60)
    static let maxReceived = 1024

    private(set) var counts = SubtitleCounts()
    private(set) var pending: [PublishedSegment] = []
    private var received: [ReceivedSegment] = []
    private var placedCues: [PlacedCue] = []
    private var cueTimeMapping = CueTimeMapping.map(isProven: false)
    private var previous: ReceivedSegment?
    /// Numbers of this playlist are not those of the picture's.
    private var hasOwnNumbering = false
    /// Presentation time up to which all cues have come, as far as that is known.
    private var coveredUntil: Ticks?
    private(set) var hasEnded = false

    mutating func append(_ input: SubtitleInput, published: PublishedSpans) {
        counts.segments += 1
        var file = WebVTT()
        do throws(MediaError) { file = try WebVTTParser.parse(input.bytes) } catch { counts.unreadable += 1 }
        counts.malformed += file.malformed
        received.append(
            ReceivedSegment(input: input, file: file, unplacedCues: file.cues, outputEndAtReceipt: published.end))
        if received.count > Self.maxReceived { countUnplaced(received.removeFirst()) }
    }

    mutating func end() { hasEnded = true }

    mutating func expect(_ segment: PublishedSegment) { pending.append(segment) }

    /// What can be given now.
    /// - Parameter lateness: how far behind the picture a rendition may be before it is not waited for; nil: any.
    mutating func dequeueCompleted(_ shown: PublishedSpans, lateness: Ticks?) -> [(
        segment: PublishedSegment, bytes: [UInt8]
    )] {
        placeCues(shown)
        var settled: [(PublishedSegment, [UInt8])] = []
        while let next = pending.first, isComplete(next, shown, lateness: lateness) {
            settled.append((next, render(next, shown)))
            pending.removeFirst()
        }
        if let last = settled.last?.0 { evict(until: last.end) }
        return settled
    }

    private func isComplete(_ segment: PublishedSegment, _ shown: PublishedSpans, lateness: Ticks?) -> Bool {
        if let lateness, let newest = pending.last, newest.end - segment.end >= lateness { return true }
        guard hasEnded || coveredUntil.map({ $0 >= segment.end - Self.tolerance }) ?? false else { return false }
        let isUndecided = received.contains { taken in
            guard !taken.unplacedCues.isEmpty, !taken.hasPlacedCues, let place = taken.outputRange else { return false }
            return cueTimeMapping != .map(isProven: true) && place.lowerBound < segment.end
        }
        return !isUndecided && cues(of: segment, shown).allSatisfy { hasKnownEnd($0, shown) }
    }

    /// Whether it is known where the cue ends: in its run, or with it.
    private func hasKnownEnd(_ cue: PlacedCue, _ shown: PublishedSpans) -> Bool {
        guard let run = shown.clockSpan(ofPeriod: cue.period), !run.isComplete else { return true }
        return cue.end <= run.outputRange.upperBound
    }

    private func cues(of segment: PublishedSegment, _ shown: PublishedSpans) -> [PlacedCue] {
        placedCues.filter { isPresented($0, in: segment, shown) }
    }

    private func isPresented(_ cue: PlacedCue, in segment: PublishedSegment, _ shown: PublishedSpans) -> Bool {
        guard cue.start < segment.end, cue.end > segment.start || cue.start == segment.start else { return false }
        return shown.clockSpan(ofPeriod: segment.period)?.periods.contains(cue.period) ?? (segment.period == cue.period)
    }

    private mutating func render(_ segment: PublishedSegment, _ shown: PublishedSpans) -> [UInt8] {
        var definitions: [String] = []
        var cues: [WebVTT.Cue] = []
        for index in placedCues.indices where isPresented(placedCues[index], in: segment, shown) {
            if !placedCues[index].isPublished { counts.cues += 1 }
            placedCues[index].isPublished = true
            for block in placedCues[index].definitions where !definitions.contains(block) { definitions.append(block) }
            cues.append(outputCue(placedCues[index], shown))
        }
        return WebVTTWriter.write(definitions: definitions, cues: cues, from: segment.start)
    }

    /// The cue with the times it is published with. What is said when its run is over is not shown over the next one.
    private func outputCue(_ placed: PlacedCue, _ shown: PublishedSpans) -> WebVTT.Cue {
        var (cue, end) = (placed.cue, placed.end)
        if let run = shown.clockSpan(ofPeriod: placed.period), run.isComplete {
            end = min(end, run.outputRange.upperBound)
        }
        cue.start = max(0, placed.start.milliseconds)
        cue.end = max(cue.start, end.milliseconds)
        return cue
    }

    /// Forgets what no segment to come can show.
    private mutating func evict(until end: Ticks) {
        let isOver = { (cue: PlacedCue) in cue.end <= end && cue.start < end }
        counts.late += placedCues.count { isOver($0) && !$0.isPublished }
        placedCues.removeAll(where: isOver)
    }

    private mutating func countUnplaced(_ old: ReceivedSegment) { counts.unplaced += old.unplacedCues.count }
}

// MARK: - Placing

extension CuePlacer {
    private mutating func placeCues(_ shown: PublishedSpans) {
        for index in received.indices {
            locate(index, shown)
            match(index, shown)
        }
        // Nothing more can come of these.
        while let first = received.first, isPlaced(first) || isExpired(first, shown) {
            countUnplaced(received.removeFirst())
            previous = first
        }
    }

    private func isPlaced(_ segment: ReceivedSegment) -> Bool {
        segment.unplacedCues.isEmpty && segment.outputRange != nil
    }

    private func isExpired(_ segment: ReceivedSegment, _ shown: PublishedSpans) -> Bool {
        guard let end = shown.end else { return false }
        return end - (segment.outputRange?.upperBound ?? segment.outputEndAtReceipt ?? end) > Self.placementTimeout
    }

    /// Finds out where the segment itself is: by its date, by its number, or behind the one before it.
    private mutating func locate(_ index: Int, _ shown: PublishedSpans) {
        let before = index == received.startIndex ? previous : received[index - 1]
        guard received[index].outputRange == nil,
            let start = start(of: received[index].input, after: before, shown)
        else { return }
        let end = start + max(.zero, received[index].input.duration)
        received[index].outputRange = start..<end
        coveredUntil = max(coveredUntil ?? end, end)
    }

    private func start(of input: SubtitleInput, after before: ReceivedSegment?, _ shown: PublishedSpans) -> Ticks? {
        if let date = input.programDateTime, let start = shown.time(of: date, near: input) { return start }
        if !hasOwnNumbering, let span = shown.span(numberedAs: input) { return span.outputStart }
        guard let before, !input.isAfterDiscontinuity, before.input.mediaSequence &+ 1 == input.mediaSequence else {
            return nil
        }
        if before.input.discontinuitySequence == input.discontinuitySequence { return before.outputRange?.upperBound }
        return shown.sourceSpans.first { $0.discontinuitySequence == input.discontinuitySequence }?.outputStart
    }

    private mutating func match(_ index: Int, _ shown: PublishedSpans) {
        guard !received[index].unplacedCues.isEmpty else { return }
        matchByClock(index, shown)
        guard !received[index].hasPlacedCues, cueTimeMapping != .map(isProven: true),
            let outputRange = received[index].outputRange,
            let end = shown.end, outputRange.upperBound <= end,
            let run = shown.clockSpans.last(where: { $0.outputRange.contains(outputRange.lowerBound) })
        else { return }
        // All the picture that it could belong to is there, and its map leads elsewhere.
        cueTimeMapping = CueTimeMapping(
            correcting: received[index].file,
            segment: outputRange.lowerBound - run.offset..<outputRange.upperBound - run.offset)
        matchByClock(index, shown)
    }

    private mutating func matchByClock(_ index: Int, _ shown: PublishedSpans) {
        let segment = received[index]
        var waiting: [WebVTT.Cue] = []
        for cue in segment.unplacedCues {
            guard let (run, times) = find(cue, of: segment, shown) else {
                waiting.append(cue)
                continue
            }
            received[index].hasPlacedCues = true
            insert(cue, of: segment, in: run, at: times)
        }
        received[index].unplacedCues = waiting
    }

    private mutating func insert(
        _ cue: WebVTT.Cue, of segment: ReceivedSegment, in run: PublishedSpans.ClockSpan, at times: Range<Ticks>
    ) {
        switch cueTimeMapping {
        case .map:
            cueTimeMapping = .map(isProven: true)
            if let outputRange = segment.outputRange, !isNear(times.lowerBound, outputRange) { hasOwnNumbering = true }
        case .shifted, .segment: counts.corrected += 1
        }
        coveredUntil = max(coveredUntil ?? times.lowerBound, times.lowerBound)
        var found = PlacedCue(
            cue: cue, definitions: segment.file.definitions, period: run.periods.lowerBound,
            start: max(times.lowerBound, run.outputRange.lowerBound), end: times.upperBound)
        (found.cue.start, found.cue.end) = (0, 0)
        // A cue stands in each upstream segment that it overlaps; some packagers cut off what was in the one before.
        if placedCues.contains(where: { $0.covers(found) }) { return }
        let behind = placedCues.lastIndex { $0.start <= found.start }.map { $0 + 1 } ?? 0
        placedCues.insert(found, at: behind)
    }

    /// The run that shows the cue, and when.
    private func find(
        _ cue: WebVTT.Cue, of segment: ReceivedSegment, _ shown: PublishedSpans
    ) -> (run: PublishedSpans.ClockSpan, times: Range<Ticks>)? {
        let candidates = shown.clockSpans.compactMap { run -> (run: PublishedSpans.ClockSpan, times: Range<Ticks>)? in
            let segmentStart = segment.outputRange.map { $0.lowerBound - run.offset }
            guard let media = cueTimeMapping.media(at: cue.start, in: segment.file, segmentStart: segmentStart) else {
                return nil
            }
            let start = Ticks(wire: media.wire, near: run.end)
            let end = start + .milliseconds(cue.end - cue.start)
            guard start < run.end, end > run.start || start == run.start else { return nil }
            return (run, start + run.offset..<end + run.offset)
        }
        let number = segment.input.discontinuitySequence
        let announced = candidates.filter { $0.run.discontinuities.contains(number) }
        guard announced.isEmpty, !shown.clockSpans.contains(where: { $0.discontinuities.contains(number) }) else {
            guard let outputRange = segment.outputRange else { return announced.first }
            let nearest = nearest(announced, to: outputRange)
            return nearest.flatMap {
                distance($0.times, to: outputRange) <= CueTimeMapping.longestTrustedDistance ? $0 : nil
            }
        }
        return matchUnsignaled(candidates, of: segment, shown)
    }

    /// The two playlists count discontinuities differently, or the picture with the segment's number is still to come: only
    /// what cannot be that is taken.
    private func matchUnsignaled(
        _ candidates: [(run: PublishedSpans.ClockSpan, times: Range<Ticks>)], of segment: ReceivedSegment,
        _ shown: PublishedSpans
    ) -> (run: PublishedSpans.ClockSpan, times: Range<Ticks>)? {
        guard let outputRange = segment.outputRange else {
            let newest = shown.sourceSpans.last?.discontinuitySequence ?? 0
            return newest > segment.input.discontinuitySequence ? candidates.first : nil
        }
        guard let end = shown.end, end >= outputRange.upperBound, let nearest = nearest(candidates, to: outputRange)
        else {
            return nil
        }
        return distance(nearest.times, to: outputRange) <= CueTimeMapping.segmentTolerance ? nearest : nil
    }

    private func nearest(
        _ candidates: [(run: PublishedSpans.ClockSpan, times: Range<Ticks>)], to place: Range<Ticks>
    ) -> (run: PublishedSpans.ClockSpan, times: Range<Ticks>)? {
        candidates.min { distance($0.times, to: place) < distance($1.times, to: place) }
    }

    private func distance(_ times: Range<Ticks>, to place: Range<Ticks>) -> Ticks {
        max(.zero, times.lowerBound - place.upperBound, place.lowerBound - times.upperBound)
    }

    private func isNear(_ time: Ticks, _ place: Range<Ticks>) -> Bool {
        time > place.lowerBound - CueTimeMapping.segmentTolerance
            && time < place.upperBound + CueTimeMapping.segmentTolerance
    }
}

extension PublishedSpans {
    /// How far from a dated picture its date still tells the time.
    private static let reach: Int64 = 120_000

    /// Presentation time of a date of the upstream's, by the newest picture dated before it.
    fileprivate func time(of date: Int64, near input: SubtitleInput) -> Ticks? {
        let dated = sourceSpans.filter { span in
            guard let begin = span.programDateTime else { return false }
            let (distance, overflows) = date.subtractingReportingOverflow(begin)
            return !overflows && (-500...Self.reach).contains(distance)
        }
        let announced = dated.last { $0.discontinuitySequence == input.discontinuitySequence }
        guard let span = announced ?? dated.last, let begin = span.programDateTime else { return nil }
        return span.outputStart + .milliseconds(date - begin)
    }

    fileprivate func span(numberedAs input: SubtitleInput) -> SourceSpan? {
        sourceSpans.last {
            $0.mediaSequence == input.mediaSequence && $0.discontinuitySequence == input.discontinuitySequence
        }
    }
}

extension Ticks {
    /// The nearest millisecond.
    fileprivate var milliseconds: Int64 { (count * 1000 + (count < 0 ? -1 : 1) * Self.perSecond / 2) / Self.perSecond }
}
