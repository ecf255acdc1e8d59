import Media
import Support

/// Writes the subtitle files of one rendition: a WebVTT file for each published segment, once its cues are complete.
///
/// A rendition that exceeds the accepted lateness gets files with the cues that have arrived.
struct SubtitleSegmenter: Sendable {
    struct PublishedSegment: Equatable, Sendable {
        var mediaSequence: UInt64
        var period: Int
        var start: Ticks
        var end: Ticks
    }

    /// Tolerance for the rounded durations in playlists.
    static let tolerance = Ticks.milliseconds(100)

    private(set) var counts = Counts<SubtitleCount>()
    private var pending: [PublishedSegment] = []
    private var placedCues: [PlacedCue] = []
    private var coveredUntil: Ticks?
    private var undecidedFrom: Ticks?
    private var undecidedCues: [Ticks] = []
    private var hasEnded = false

    mutating func append(_ segment: PublishedSegment) { pending.append(segment) }

    mutating func append(_ placement: CuePlacer.Placement) {
        for cue in placement.cues { insert(cue) }
        (coveredUntil, undecidedFrom) = (placement.coveredUntil, placement.undecidedFrom)
        undecidedCues = placement.undecidedCues
    }

    mutating func end() { hasEnded = true }

    /// Removes the segments whose cues are complete and returns their files.
    /// - Parameter maxLateness: distance to the newest segment at which a segment's file is written in any case; nil: no
    ///   limit.
    mutating func dequeueCompleted(on published: PublishedSpans, maxLateness: Ticks?) -> [(
        mediaSequence: UInt64, bytes: [UInt8]
    )] {
        var files: [(mediaSequence: UInt64, bytes: [UInt8])] = []
        var lastEnd: Ticks?
        while let next = pending.first, isComplete(next, published, maxLateness: maxLateness) {
            files.append((next.mediaSequence, write(next, published)))
            lastEnd = next.end
            pending.removeFirst()
        }
        if let lastEnd { evict(before: lastEnd) }
        return files
    }

    /// Inserts a cue in order of start time.
    ///
    /// Upstreams repeat a cue in each segment that it overlaps, and some packagers remove the part before the segment.
    private mutating func insert(_ cue: PlacedCue) {
        if placedCues.contains(where: { $0.covers(cue) }) { return }
        guard placedCues.count < SubtitleLimits.placedCues else {
            counts[.droppedCues] += 1
            return
        }
        let index = placedCues.lastIndex { $0.start <= cue.start }.map { $0 + 1 } ?? 0
        placedCues.insert(cue, at: index)
    }

    private func isComplete(_ segment: PublishedSegment, _ published: PublishedSpans, maxLateness: Ticks?) -> Bool {
        if let maxLateness, let newest = pending.last, newest.end - segment.end >= maxLateness { return true }
        guard hasEnded || coveredUntil.map({ $0 >= segment.end - Self.tolerance }) ?? false else { return false }
        if let undecidedFrom, undecidedFrom < segment.end { return false }
        if undecidedCues.contains(where: { $0 >= segment.start && $0 < segment.end }) { return false }
        return placedCues.allSatisfy { !isPresented($0, in: segment, published) || hasKnownEnd($0, published) }
    }

    /// Whether it is known if the cue ends before its period.
    private func hasKnownEnd(_ cue: PlacedCue, _ published: PublishedSpans) -> Bool {
        guard let clockSpan = published.clockSpan(ofPeriod: cue.period), !clockSpan.isComplete else { return true }
        return cue.end <= clockSpan.outputRange.upperBound
    }

    private func isPresented(_ cue: PlacedCue, in segment: PublishedSegment, _ published: PublishedSpans) -> Bool {
        guard cue.start < segment.end, cue.end > segment.start || cue.start == segment.start else { return false }
        let periods = published.clockSpan(ofPeriod: segment.period)?.periods
        return periods?.contains(cue.period) ?? (segment.period == cue.period)
    }

    private mutating func write(_ segment: PublishedSegment, _ published: PublishedSpans) -> [UInt8] {
        var definitions: [String] = []
        var cues: [WebVTT.Cue] = []
        var room = SubtitleLimits.publishedBytes
        for index in placedCues.indices where isPresented(placedCues[index], in: segment, published) {
            var added: [String] = []
            for block in placedCues[index].definitions where !(definitions + added).contains(block) {
                added.append(block)
            }
            room -= placedCues[index].cue.byteCount + added.reduce(0) { $0 + $1.utf8.count }
            guard room >= 0 else {
                counts[.droppedCues] += 1
                continue
            }
            if !placedCues[index].isPublished { counts[.cues] += 1 }
            placedCues[index].isPublished = true
            definitions += added
            cues.append(outputCue(placedCues[index], published))
        }
        return WebVTTWriter.write(definitions: definitions, cues: cues, from: segment.start)
    }

    /// Returns the cue with its published times. A cue ends at the latest with its clock span.
    private func outputCue(_ placed: PlacedCue, _ published: PublishedSpans) -> WebVTT.Cue {
        var (cue, end) = (placed.cue, placed.end)
        if let clockSpan = published.clockSpan(ofPeriod: placed.period), clockSpan.isComplete {
            end = min(end, clockSpan.outputRange.upperBound)
        }
        cue.start = max(0, placed.start.roundedMilliseconds)
        cue.end = max(cue.start, end.roundedMilliseconds)
        return cue
    }

    /// Removes the cues that end before all pending and future segments.
    private mutating func evict(before end: Ticks) {
        let isOver = { (cue: PlacedCue) in cue.end <= end && cue.start < end }
        counts[.lateCues] += placedCues.count { isOver($0) && !$0.isPublished }
        placedCues.removeAll(where: isOver)
    }
}

extension Ticks {
    var roundedMilliseconds: Int64 {
        (count * 1000 + (count < 0 ? -1 : 1) * Self.perSecond / 2) / Self.perSecond
    }
}

extension WebVTT.Cue {
    /// Bytes of its text in a file, about.
    fileprivate var byteCount: Int {
        (identifier?.utf8.count ?? 0) + settings.utf8.count + payload.utf8.count + 40
    }
}

/// A cue with its place on the channel's timeline.
struct PlacedCue: Equatable, Sendable {
    var cue: WebVTT.Cue
    var definitions: [String]
    var period: Int
    /// Presentation times on the channel's timeline. `end` may be after the end of the period.
    var start: Ticks
    var end: Ticks
    var isPublished = false

    func covers(_ other: PlacedCue) -> Bool {
        cue == other.cue && period == other.period && start <= other.start && end >= other.end
    }
}
