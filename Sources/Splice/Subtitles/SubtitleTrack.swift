/// One subtitle rendition: cues are placed on the channel's timeline by the clock of the picture they belong to, and
/// given segment by segment once nothing can be added to a segment any more.
///
/// What is given depends on what was said, not on which of picture and subtitles came first; only a rendition that stays
/// behind for longer than it is waited for gives what it has.
struct SubtitleTrack: Sendable {
    /// A published segment that has no subtitles yet.
    struct Pending: Equatable, Sendable {
        var mediaSequence: UInt64
        var run: Int
        /// Presentation time on the channel's timeline.
        var start: Ticks
        var end: Ticks
    }

    /// An upstream segment of which something is still needed.
    struct Taken: Sendable {
        let input: SubtitleInput
        let file: WebVTT
        /// Cues that were not placed yet.
        var waiting: [WebVTT.Cue]
        /// Presentation times on the channel's timeline; nil as long as nobody knows.
        var place: Range<Ticks>?
        var hasPlaced = false
        /// Where the picture ended when the segment was taken.
        var takenAt: Ticks?
    }

    struct PlacedCue: Equatable, Sendable {
        var cue: WebVTT.Cue
        var definitions: [String]
        /// Index in the shown runs' numbers.
        var run: Int
        /// Presentation times on the channel's timeline; `end` may lie behind the end of the run.
        var start: Ticks
        var end: Ticks
        var isPublished = false

        /// Shows all that `other` does.
        func says(_ other: PlacedCue) -> Bool {
            cue == other.cue && run == other.run && start <= other.start && end >= other.end
        }
    }

    /// Lists announce durations with little precision.
    static let tolerance = Ticks.milliseconds(100)
    /// A cue that no picture came for in so much time has none.
    static let patience = Ticks.seconds(60)
    static let mostTaken = 1024

    private(set) var counts = SubtitleCounts()
    private(set) var pending: [Pending] = []
    private var taken: [Taken] = []
    private var placed: [PlacedCue] = []
    private var clock = CueClock.map(isProven: false)
    private var previous: Taken?
    /// Numbers of this playlist are not those of the picture's.
    private var countsItsOwn = false
    /// Presentation time up to which all cues have come, as far as that is known.
    private var covered: Ticks?
    private(set) var hasEnded = false

    mutating func take(_ input: SubtitleInput, shown: ShownRuns) {
        counts.segments += 1
        var file = WebVTT()
        do throws(SpliceError) { file = try WebVTTParser.parse(input.bytes) } catch { counts.unreadable += 1 }
        counts.malformed += file.malformed
        taken.append(Taken(input: input, file: file, waiting: file.cues, takenAt: shown.end))
        if taken.count > Self.mostTaken { forget(taken.removeFirst()) }
    }

    mutating func end() { hasEnded = true }

    mutating func expect(_ segment: Pending) { pending.append(segment) }

    /// What can be given now.
    /// - Parameter lateness: how far behind the picture a rendition may be before it is not waited for; nil: any.
    mutating func settle(_ shown: ShownRuns, lateness: Ticks?) -> [(segment: Pending, bytes: [UInt8])] {
        place(shown)
        var settled: [(Pending, [UInt8])] = []
        while let next = pending.first, isSettled(next, shown, lateness: lateness) {
            settled.append((next, write(next, shown)))
            pending.removeFirst()
        }
        if let last = settled.last?.0 { clearUp(until: last.end) }
        return settled
    }

    private func isSettled(_ segment: Pending, _ shown: ShownRuns, lateness: Ticks?) -> Bool {
        if let lateness, let newest = pending.last, newest.end - segment.end >= lateness { return true }
        guard hasEnded || covered.map({ $0 >= segment.end - Self.tolerance }) ?? false else { return false }
        let isUndecided = taken.contains { taken in
            guard !taken.waiting.isEmpty, !taken.hasPlaced, let place = taken.place else { return false }
            return clock != .map(isProven: true) && place.lowerBound < segment.end
        }
        return !isUndecided && cues(of: segment, shown).allSatisfy { isWhole($0, shown) }
    }

    /// Whether it is known where the cue ends: in its run, or with it.
    private func isWhole(_ cue: PlacedCue, _ shown: ShownRuns) -> Bool {
        guard let run = shown.run(numbered: cue.run), !run.isOver else { return true }
        return cue.end <= run.shown.upperBound
    }

    private func cues(of segment: Pending, _ shown: ShownRuns) -> [PlacedCue] {
        placed.filter { isShown($0, in: segment, shown) }
    }

    private func isShown(_ cue: PlacedCue, in segment: Pending, _ shown: ShownRuns) -> Bool {
        guard cue.start < segment.end, cue.end > segment.start || cue.start == segment.start else { return false }
        return shown.run(numbered: segment.run)?.numbers.contains(cue.run) ?? (segment.run == cue.run)
    }

    private mutating func write(_ segment: Pending, _ shown: ShownRuns) -> [UInt8] {
        var definitions: [String] = []
        var cues: [WebVTT.Cue] = []
        for index in placed.indices where isShown(placed[index], in: segment, shown) {
            if !placed[index].isPublished { counts.cues += 1 }
            placed[index].isPublished = true
            for block in placed[index].definitions where !definitions.contains(block) { definitions.append(block) }
            cues.append(timed(placed[index], shown))
        }
        return WebVTTWriter.write(definitions: definitions, cues: cues, from: segment.start)
    }

    /// The cue with the times it is published with. What is said when its run is over is not shown over the next one.
    private func timed(_ placed: PlacedCue, _ shown: ShownRuns) -> WebVTT.Cue {
        var (cue, end) = (placed.cue, placed.end)
        if let run = shown.run(numbered: placed.run), run.isOver { end = min(end, run.shown.upperBound) }
        cue.start = max(0, placed.start.milliseconds)
        cue.end = max(cue.start, end.milliseconds)
        return cue
    }

    /// Forgets what no segment to come can show.
    private mutating func clearUp(until end: Ticks) {
        let isOver = { (cue: PlacedCue) in cue.end <= end && cue.start < end }
        counts.late += placed.count { isOver($0) && !$0.isPublished }
        placed.removeAll(where: isOver)
    }

    private mutating func forget(_ old: Taken) { counts.unplaced += old.waiting.count }
}

// MARK: - Placing

extension SubtitleTrack {
    private mutating func place(_ shown: ShownRuns) {
        for index in taken.indices {
            locate(index, shown)
            match(index, shown)
        }
        // Nothing more can come of these.
        while let first = taken.first, isDone(first) || isForlorn(first, shown) {
            forget(taken.removeFirst())
            previous = first
        }
    }

    private func isDone(_ segment: Taken) -> Bool { segment.waiting.isEmpty && segment.place != nil }

    private func isForlorn(_ segment: Taken, _ shown: ShownRuns) -> Bool {
        guard let end = shown.end else { return false }
        return end - (segment.place?.upperBound ?? segment.takenAt ?? end) > Self.patience
    }

    /// Finds out where the segment itself is: by its date, by its number, or behind the one before it.
    private mutating func locate(_ index: Int, _ shown: ShownRuns) {
        let before = index == taken.startIndex ? previous : taken[index - 1]
        guard taken[index].place == nil,
            let start = start(of: taken[index].input, after: before, shown)
        else { return }
        let end = start + max(.zero, taken[index].input.duration)
        taken[index].place = start..<end
        covered = max(covered ?? end, end)
    }

    private func start(of input: SubtitleInput, after before: Taken?, _ shown: ShownRuns) -> Ticks? {
        if let date = input.programDateTime, let start = shown.time(of: date, near: input) { return start }
        if !countsItsOwn, let span = shown.span(numberedAs: input) { return span.output }
        guard let before, !input.isAfterSeam, before.input.mediaSequence &+ 1 == input.mediaSequence else { return nil }
        if before.input.discontinuitySequence == input.discontinuitySequence { return before.place?.upperBound }
        return shown.spans.first { $0.discontinuitySequence == input.discontinuitySequence }?.output
    }

    private mutating func match(_ index: Int, _ shown: ShownRuns) {
        guard !taken[index].waiting.isEmpty else { return }
        matchByClock(index, shown)
        guard !taken[index].hasPlaced, clock != .map(isProven: true), let place = taken[index].place,
            let end = shown.end, place.upperBound <= end,
            let run = shown.runs.last(where: { $0.shown.contains(place.lowerBound) })
        else { return }
        // All the picture that it could belong to is there, and its map leads elsewhere.
        clock = CueClock(
            correcting: taken[index].file,
            segment: place.lowerBound - run.offset..<place.upperBound - run.offset)
        matchByClock(index, shown)
    }

    private mutating func matchByClock(_ index: Int, _ shown: ShownRuns) {
        let segment = taken[index]
        var waiting: [WebVTT.Cue] = []
        for cue in segment.waiting {
            guard let (run, times) = find(cue, of: segment, shown) else {
                waiting.append(cue)
                continue
            }
            taken[index].hasPlaced = true
            note(cue, of: segment, in: run, at: times)
        }
        taken[index].waiting = waiting
    }

    private mutating func note(_ cue: WebVTT.Cue, of segment: Taken, in run: ShownRuns.Run, at times: Range<Ticks>) {
        switch clock {
        case .map:
            clock = .map(isProven: true)
            if let place = segment.place, !isNear(times.lowerBound, place) { countsItsOwn = true }
        case .shifted, .segment: counts.corrected += 1
        }
        covered = max(covered ?? times.lowerBound, times.lowerBound)
        var found = PlacedCue(
            cue: cue, definitions: segment.file.definitions, run: run.numbers.lowerBound,
            start: max(times.lowerBound, run.shown.lowerBound), end: times.upperBound)
        (found.cue.start, found.cue.end) = (0, 0)
        // A cue stands in each upstream segment that it overlaps; some packagers cut off what was in the one before.
        if placed.contains(where: { $0.says(found) }) { return }
        let behind = placed.lastIndex { $0.start <= found.start }.map { $0 + 1 } ?? 0
        placed.insert(found, at: behind)
    }

    /// The run that shows the cue, and when.
    private func find(
        _ cue: WebVTT.Cue, of segment: Taken, _ shown: ShownRuns
    ) -> (run: ShownRuns.Run, times: Range<Ticks>)? {
        let candidates = shown.runs.compactMap { run -> (run: ShownRuns.Run, times: Range<Ticks>)? in
            let segmentStart = segment.place.map { $0.lowerBound - run.offset }
            guard let media = clock.media(at: cue.start, in: segment.file, segmentStart: segmentStart) else {
                return nil
            }
            let start = Ticks(wire: media.wire, near: run.end)
            let end = start + .milliseconds(cue.end - cue.start)
            guard start < run.end, end > run.start || start == run.start else { return nil }
            return (run, start + run.offset..<end + run.offset)
        }
        let number = segment.input.discontinuitySequence
        let announced = candidates.filter { $0.run.discontinuities.contains(number) }
        guard announced.isEmpty, !shown.runs.contains(where: { $0.discontinuities.contains(number) }) else {
            guard let place = segment.place else { return announced.first }
            let nearest = nearest(announced, to: place)
            return nearest.flatMap { distance($0.times, to: place) <= CueClock.belief ? $0 : nil }
        }
        return unannounced(candidates, of: segment, shown)
    }

    /// The two playlists count discontinuities differently, or the picture with the segment's number is still to come: only
    /// what cannot be that is taken.
    private func unannounced(
        _ candidates: [(run: ShownRuns.Run, times: Range<Ticks>)], of segment: Taken, _ shown: ShownRuns
    ) -> (run: ShownRuns.Run, times: Range<Ticks>)? {
        guard let place = segment.place else {
            let newest = shown.spans.last?.discontinuitySequence ?? 0
            return newest > segment.input.discontinuitySequence ? candidates.first : nil
        }
        guard let end = shown.end, end >= place.upperBound, let nearest = nearest(candidates, to: place) else {
            return nil
        }
        return distance(nearest.times, to: place) <= CueClock.slack ? nearest : nil
    }

    private func nearest(
        _ candidates: [(run: ShownRuns.Run, times: Range<Ticks>)], to place: Range<Ticks>
    ) -> (run: ShownRuns.Run, times: Range<Ticks>)? {
        candidates.min { distance($0.times, to: place) < distance($1.times, to: place) }
    }

    private func distance(_ times: Range<Ticks>, to place: Range<Ticks>) -> Ticks {
        max(.zero, times.lowerBound - place.upperBound, place.lowerBound - times.upperBound)
    }

    private func isNear(_ time: Ticks, _ place: Range<Ticks>) -> Bool {
        time > place.lowerBound - CueClock.slack && time < place.upperBound + CueClock.slack
    }
}

extension ShownRuns {
    /// How far from a dated picture its date still tells the time.
    private static let reach: Int64 = 120_000

    /// Presentation time of a date of the upstream's, by the newest picture dated before it.
    fileprivate func time(of date: Int64, near input: SubtitleInput) -> Ticks? {
        let dated = spans.filter { span in
            guard let begin = span.programDateTime else { return false }
            let (distance, overflows) = date.subtractingReportingOverflow(begin)
            return !overflows && (-500...Self.reach).contains(distance)
        }
        let announced = dated.last { $0.discontinuitySequence == input.discontinuitySequence }
        guard let span = announced ?? dated.last, let begin = span.programDateTime else { return nil }
        return span.output + .milliseconds(date - begin)
    }

    fileprivate func span(numberedAs input: SubtitleInput) -> SourceSpan? {
        spans.last {
            $0.mediaSequence == input.mediaSequence && $0.discontinuitySequence == input.discontinuitySequence
        }
    }
}

extension Ticks {
    /// The nearest millisecond.
    fileprivate var milliseconds: Int64 { (count * 1000 + (count < 0 ? -1 : 1) * Self.perSecond / 2) / Self.perSecond }
}
