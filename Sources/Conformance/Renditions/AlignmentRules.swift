import Media
import Support

/// Rules 20, 36 and 37: two playlists of one channel against each other. Segments match by number only where their media or
/// their whole lists prove that the numbers mean the same.
struct AlignmentRules {
    let reference: CheckedStream
    let other: CheckedStream

    private static let timeTolerance = Ticks.milliseconds(100)
    private static let dateTolerance = Duration.milliseconds(250)
    /// Cues may last over several segments.
    private static let cueTolerance = Ticks.milliseconds(10_000)

    private struct Pair {
        let reference: PlaylistRecord.Listed
        let other: PlaylistRecord.Listed
    }

    func judge(into log: inout FindingLog) {
        if other.type == "SUBTITLES" { return judgeTimestampMaps(&log) }
        let timed = timedPairs
        let pairs = timed.isEmpty && !areListsAlike ? [] : numberedPairs
        judgeGaps(pairs, &log)
        judgeDiscontinuities(timed.isEmpty ? pairs : timed, &log)
        judgeDates(timed, &log)
        if other.type == "VIDEO" { judgeBoundaries(&log) }
    }

    private func place(_ segment: ScannedSegment) -> FindingPlace {
        FindingPlace(uri: segment.uri, sequence: segment.sequence, line: segment.line)
    }

    private var numberedPairs: [Pair] {
        other.playlist.listed.keys.sorted().compactMap { number in
            guard let first = reference.playlist.listed[number], let second = other.playlist.listed[number] else {
                return nil
            }
            return Pair(reference: first, other: second)
        }
    }

    /// Pairs of one number whose media begins at the same time.
    private var timedPairs: [Pair] {
        numberedPairs.filter { pair in
            let number = pair.other.segment.sequence
            guard let first = reference.media.measured[number]?.facts.start,
                let second = other.media.measured[number]?.facts.start
            else { return false }
            return second.distance(from: first).magnitude <= Self.timeTolerance
        }
    }

    /// Whether both are whole lists with equal durations.
    private var areListsAlike: Bool {
        guard let first = reference.playlist.current, let second = other.playlist.current, first.hasEndList,
            second.hasEndList, first.mediaSequence == second.mediaSequence,
            first.segments.count == second.segments.count
        else { return false }
        return zip(first.segments, second.segments).allSatisfy { left, right in
            ((left.duration ?? .zero) - (right.duration ?? .zero)).magnitude < .milliseconds(100)
        }
    }

    // MARK: - Rule 20

    private func judgeGaps(_ pairs: [Pair], _ log: inout FindingLog) {
        for pair in pairs where pair.reference.segment.isGap || pair.other.segment.isGap {
            log.recordJudgement(.gapInAll)
            guard pair.reference.segment.isGap != pair.other.segment.isGap else { continue }
            let gap = pair.reference.segment.isGap ? pair.reference.segment : pair.other.segment
            log.add(
                .gapInAll, "one-rendition", of: other.url, at: place(gap),
                "the segment has EXT-X-GAP, and media in the other rendition")
        }
    }

    // MARK: - Rule 36

    private func judgeDiscontinuities(_ pairs: [Pair], _ log: inout FindingLog) {
        for pair in pairs {
            log.recordJudgement(.alignedRenditions)
            let (first, second) = (pair.reference.segment, pair.other.segment)
            guard first.discontinuitySequence != second.discontinuitySequence else { continue }
            log.add(
                .alignedRenditions, "discontinuity", of: other.url, at: place(second),
                "the discontinuity sequence number is \(second.discontinuitySequence), and "
                    + "\(first.discontinuitySequence) in \(URIReference.redacted(reference.url))")
        }
    }

    private func judgeDates(_ pairs: [Pair], _ log: inout FindingLog) {
        for pair in pairs {
            guard let first = pair.reference.segment.date, let second = pair.other.segment.date else { continue }
            log.recordJudgement(.alignedRenditions)
            let difference = Duration.milliseconds(second.milliseconds(since: first))
            guard difference.magnitude > Self.dateTolerance else { continue }
            log.add(
                .alignedRenditions, "dates", of: other.url, at: place(pair.other.segment),
                "the date differs by \(difference.magnitudeText) from \(URIReference.redacted(reference.url))")
        }
    }

    /// Starts of video segments, where both playlists have media of one period.
    private func judgeBoundaries(_ log: inout FindingLog) {
        let known = Dictionary(grouping: reference.media.measured.values) { $0.segment.discontinuitySequence }
        for item in other.media.measured.values.sorted(by: { $0.segment.sequence < $1.segment.sequence }) {
            guard let start = item.facts.video?.earliest,
                let others = known[item.segment.discontinuitySequence]?.compactMap(\.facts.video)
            else { continue }
            let distances = others.map { (start.distance(from: $0.earliest), $0.end.distance(from: start)) }
            // Only inside the media of the reference.
            guard distances.contains(where: { $0.0.count >= 0 && $0.1.count > 0 }) else { continue }
            log.recordJudgement(.alignedRenditions)
            let nearest = distances.map { $0.0.magnitude }.min() ?? .zero
            guard nearest > Self.timeTolerance else { continue }
            log.add(
                .alignedRenditions, "boundaries", level: .should, of: other.url, at: place(item.segment),
                "the segment begins \(nearest.text) away from the nearest boundary of "
                    + URIReference.redacted(reference.url))
        }
    }

    // MARK: - Rule 37

    private func judgeTimestampMaps(_ log: inout FindingLog) {
        let starts = reference.media.measured.values.compactMap { item in
            item.facts.start.map { (start: $0, item: item) }
        }
        guard !starts.isEmpty else { return }
        let isAlike =
            reference.playlist.current?.mediaSequence == other.playlist.current?.mediaSequence
            && reference.playlist.current?.segments.count == other.playlist.current?.segments.count
        for item in other.media.measured.values.sorted(by: { $0.segment.sequence < $1.segment.sequence }) {
            guard let subtitles = item.facts.subtitles, let cues = subtitles.cues else { continue }
            let number = item.segment.sequence
            let candidates =
                isAlike ? starts.filter { $0.item.segment.sequence == number } : starts
            guard !candidates.isEmpty else { continue }
            log.recordJudgement(.timestampMap)
            let fits = candidates.contains { start, item in
                let length = Ticks(item.segment.duration ?? .seconds(10)) + Self.cueTolerance
                return cues.start.distance(from: start) < length
                    && cues.end.distance(from: start).count > -Self.cueTolerance.count
            }
            if fits { continue }
            let distance = candidates.map { cues.start.distance(from: $0.start).magnitude }.min() ?? .zero
            log.add(
                .timestampMap, subtitles.hasTimestampMap ? "offset" : "missing", of: other.url, at: place(item.segment),
                subtitles.hasTimestampMap
                    ? "by X-TIMESTAMP-MAP the cues are \(distance.text) away from the media"
                    : "without X-TIMESTAMP-MAP the cues are \(distance.text) away from the media")
        }
    }
}
