import Media
import Support

/// Places the cues of one subtitle rendition on the channel's timeline, by the clock of the video that they belong to.
///
/// The places depend on what the upstream sent, not on whether video or subtitles arrived first.
struct CuePlacer: Sendable {
    /// Cues placed by one call, and how complete the placement is.
    struct Placement: Sendable {
        let cues: [PlacedCue]
        /// Presentation time up to which all cues have arrived; nil while unknown.
        let coveredUntil: Ticks?
        /// Start of the earliest received segment whose cues may still be placed; nil if there is none.
        let undecidedFrom: Ticks?
        /// Starts of cues in the published video, if more may be published that they match better.
        var undecidedCues: [Ticks] = []
    }

    /// A cue stays unplaced if no video for it is published within this time.
    private static let placementTimeout = Ticks.seconds(60)
    private static let maxReceived = 1024

    private(set) var counts = Counts<SubtitleCount>()
    private var received: [ReceivedSubtitleSegment] = []
    private var previous: ReceivedSubtitleSegment?
    private var mapping = CueTimeMapping.map(isProven: false)
    /// Whether the subtitle playlist counts segments differently from the video's playlist.
    private var hasOwnNumbering = false
    private var coveredUntil: Ticks?
    private var undecidedCues: [Ticks] = []

    /// Parses a segment. Call `placeCues(on:)` to place its cues.
    mutating func append(_ input: SubtitleInput, published: PublishedSpans) {
        counts[.segments] += 1
        var file = WebVTT()
        do throws(MediaError) { file = try WebVTT(input) } catch { counts[.malformedSegments] += 1 }
        counts[.malformedCues] += file.malformed
        counts[.droppedCues] += file.dropped
        received.append(
            ReceivedSubtitleSegment(
                input: input.properties, byteCount: input.bytes.count, file: file, unplacedCues: file.cues,
                outputEndAtReceipt: published.end))
        dropExcess()
    }

    /// Drops the oldest segments beyond the limits. The newest one stays.
    private mutating func dropExcess() {
        var bytes = received.reduce(0) { $0 + $1.byteCount }
        var cues = received.reduce(0) { $0 + $1.unplacedCues.count }
        while received.count > Self.maxReceived
            || received.count > 1 && (bytes > SubtitleLimits.heldBytes || cues > SubtitleLimits.heldCues)
        {
            let oldest = received.removeFirst()
            bytes -= oldest.byteCount
            cues -= oldest.unplacedCues.count
            countUnplaced(oldest)
        }
    }

    mutating func placeCues(on published: PublishedSpans) -> Placement {
        var cues: [PlacedCue] = []
        undecidedCues = []
        for index in received.indices {
            locate(index, on: published)
            cues += placeCues(ofSegment: index, on: published)
        }
        while let first = received.first, first.isPlaced || isExpired(first, published) {
            countUnplaced(received.removeFirst())
            previous = first
        }
        return Placement(
            cues: cues, coveredUntil: coveredUntil, undecidedFrom: undecidedFrom, undecidedCues: undecidedCues)
    }

    private var undecidedFrom: Ticks? {
        if mapping == .map(isProven: true) { return nil }
        return received.compactMap { segment in
            guard !segment.unplacedCues.isEmpty, !segment.hasPlacedCues, let range = segment.outputRange else {
                return nil
            }
            // The subtitles of lost video have no place.
            return segment.isLocated && range.isEmpty ? nil : range.lowerBound
        }.min()
    }

    private func isExpired(_ segment: ReceivedSubtitleSegment, _ published: PublishedSpans) -> Bool {
        guard let end = published.end else { return false }
        return end - (segment.outputRange?.upperBound ?? segment.outputEndAtReceipt ?? end) > Self.placementTimeout
    }

    private mutating func countUnplaced(_ segment: ReceivedSubtitleSegment) {
        counts[.unplacedCues] += segment.unplacedCues.count
    }

    private mutating func locate(_ index: Int, on published: PublishedSpans) {
        guard !received[index].isLocated, let publishedEnd = published.end else { return }
        let before = index == received.startIndex ? previous : received[index - 1]
        guard
            let range = published.outputRange(
                of: received[index].input, after: before, usesNumbers: !hasOwnNumbering)
        else { return }
        received[index].outputRange = range
        // Video that is still to come may be missing.
        received[index].isLocated = range.upperBound <= publishedEnd
        guard range.lowerBound < publishedEnd else { return }
        let covered = min(range.upperBound, publishedEnd)
        coveredUntil = max(coveredUntil ?? covered, covered)
    }

    private mutating func placeCues(ofSegment index: Int, on published: PublishedSpans) -> [PlacedCue] {
        guard !received[index].unplacedCues.isEmpty else { return [] }
        let placed = matchCues(ofSegment: index, on: published)
        guard !received[index].hasPlacedCues, mapping != .map(isProven: true),
            received[index].isLocated, let outputRange = received[index].outputRange, !outputRange.isEmpty,
            let clockSpan = published.clockSpans.last(where: { $0.outputRange.contains(outputRange.lowerBound) })
        else { return placed }
        // All video that the segment could belong to is published, so the segment's map is wrong.
        mapping = CueTimeMapping(
            correcting: received[index].file,
            segment: outputRange.lowerBound - clockSpan.offset..<outputRange.upperBound - clockSpan.offset)
        return placed + matchCues(ofSegment: index, on: published)
    }

    private mutating func matchCues(ofSegment index: Int, on published: PublishedSpans) -> [PlacedCue] {
        let segment = received[index]
        var placed: [PlacedCue] = []
        var unplaced: [WebVTT.Cue] = []
        for cue in segment.unplacedCues {
            let matcher = CueMatcher(published: published, mapping: mapping, segment: segment)
            let match = matcher.match(cue)
            if let match, match.isFinal {
                placed.append(place(cue, of: segment, at: match))
            } else {
                unplaced.append(cue)
                if let match { undecidedCues.append(match.times.lowerBound) }
            }
        }
        if !placed.isEmpty { received[index].hasPlacedCues = true }
        received[index].unplacedCues = unplaced
        return placed
    }

    private mutating func place(
        _ cue: WebVTT.Cue, of segment: ReceivedSubtitleSegment, at match: CueMatcher.Match
    ) -> PlacedCue {
        let start = match.times.lowerBound
        switch mapping {
        case .map:
            mapping = .map(isProven: true)
            if let outputRange = segment.outputRange, !isNear(start, outputRange) { hasOwnNumbering = true }
        case .shifted, .segment: counts[.retimedCues] += 1
        }
        coveredUntil = max(coveredUntil ?? start, start)
        var untimed = cue
        (untimed.start, untimed.end) = (0, 0)
        return PlacedCue(
            cue: untimed, definitions: segment.file.definitions, period: match.clockSpan.periods.lowerBound,
            start: max(start, match.clockSpan.outputRange.lowerBound), end: match.times.upperBound)
    }

    private func isNear(_ time: Ticks, _ range: Range<Ticks>) -> Bool {
        time > range.lowerBound - CueTimeMapping.segmentTolerance
            && time < range.upperBound + CueTimeMapping.segmentTolerance
    }
}

/// An upstream subtitle segment that `CuePlacer` has received and parsed.
struct ReceivedSubtitleSegment: Sendable {
    let input: SubtitleInput
    let byteCount: Int
    let file: WebVTT
    var unplacedCues: [WebVTT.Cue]
    /// Presentation times of the segment on the channel's timeline; nil while unknown.
    var outputRange: Range<Ticks>?
    /// Whether all video of those times is published, so that they are final.
    var isLocated = false
    var hasPlacedCues = false
    /// Presentation time at which the published video ended when the segment arrived.
    let outputEndAtReceipt: Ticks?

    /// Whether the segment's own place and the places of all its cues are final.
    var isPlaced: Bool { unplacedCues.isEmpty && isLocated }
}
