import Demux
import Media
import Support

/// A segment with what its media says.
package struct MeasuredSegment: Sendable {
    package let segment: ScannedSegment
    package let facts: SegmentFacts
    var isDurationJudged = false
}

/// The media of one playlist: judges each segment, and each pair of neighbors.
package struct MediaRecord: Sendable {
    package let url: String
    package private(set) var measured: [UInt64: MeasuredSegment] = [:]
    /// Segments of fMP4 whose measured duration differs from EXTINF, by their init section.
    private var scaled: [ScannedMap: [(place: FindingPlace, factor: Double, message: String)]] = [:]
    /// Segments of fMP4 whose duration was judged, by their init section.
    private var judgedDurations: [ScannedMap: Int] = [:]
    /// Whether the segments begin independently, by the playlist or the multivariant playlist.
    package var isIndependent = false
    package var targetDuration = Duration.seconds(10)

    private let mostMeasured: Int
    /// Deviating durations under one init section that wait for others which prove another time scale.
    private let mostScaled: Int

    package init(url: String, mostMeasured: Int = 4096, mostScaled: Int = 256) {
        (self.url, self.mostMeasured, self.mostScaled) = (url, mostMeasured, mostScaled)
    }

    package mutating func append(_ segment: ScannedSegment, _ facts: SegmentFacts, into log: inout FindingLog) {
        measured[segment.sequence] = MeasuredSegment(segment: segment, facts: facts)
        SegmentRules(segment: segment, facts: facts, url: url, isIndependent: isIndependent, target: targetDuration)
            .judge(into: &log)
        let number = segment.sequence
        if number > 0 { judgeBoundary(number - 1, into: &log) }
        judgeBoundary(number, into: &log)
        if measured.count > mostMeasured, let oldest = measured.keys.min() { measured[oldest] = nil }
    }

    /// Judges the durations of segments whose successor never came.
    package mutating func finish(into log: inout FindingLog) {
        for number in measured.keys.sorted() { judgeDuration(number, next: nil, into: &log) }
        reportScaled(into: &log)
    }

    private mutating func judgeBoundary(_ number: UInt64, into log: inout FindingLog) {
        guard let before = measured[number], let after = measured[number + 1] else { return }
        let isTagged = after.segment.discontinuities > 0
        let boundary = BoundaryRules(before: before, after: after, url: url, isTagged: isTagged)
        let goesOn = boundary.judge(into: &log)
        judgeDuration(number, next: goesOn ? after.facts : nil, into: &log)
    }

    // MARK: - Rule 28

    private mutating func judgeDuration(_ number: UInt64, next: SegmentFacts?, into log: inout FindingLog) {
        guard let known = measured[number], !known.isDurationJudged, let listed = known.segment.duration,
            let measure = DurationMeasure(known.facts, next: next)
        else { return }
        measured[number]?.isDurationJudged = true
        log.recordJudgement(.measuredDuration)
        if let map = known.segment.map { judgedDurations[map, default: 0] += 1 }
        guard let nearest = measure.deviation(from: known.segment) else { return }
        let place = FindingPlace(
            uri: known.segment.uri, sequence: number, line: known.segment.line,
            mediaTime: known.facts.start?.wire.duration)
        let message =
            "EXTINF is \(known.segment.durationText), and the media lasts \(nearest.duration.magnitudeText)"
        if let map = known.segment.map {
            let factor = nearest.duration.inSeconds / max(0.001, listed.inSeconds)
            scaled[map, default: []].append((place, factor, message))
            if scaled.values.reduce(0, { $0 + $1.count }) >= mostScaled { reportScaled(into: &log) }
            return
        }
        log.add(.measuredDuration, "differs", of: url, at: place, message)
    }

    /// One factor for all segments under an init section means that its time scale is not that of the fragments.
    private mutating func reportScaled(into log: inout FindingLog) {
        defer { (scaled, judgedDurations) = ([:], [:]) }
        for (map, items) in scaled.sorted(by: { $0.key.uri < $1.key.uri }) {
            let factor = items[0].factor
            let isOne =
                items.count > 1 && items.count == judgedDurations[map] && abs(factor - 1) > 0.1
                && items.allSatisfy { abs($0.factor / factor - 1) < 0.1 }
            for item in items {
                if isOne {
                    log.add(
                        .initFits, "timescale", of: url, at: item.place, "\(item.message): the time scale does not fit")
                } else {
                    log.add(.measuredDuration, "differs", of: url, at: item.place, item.message)
                }
            }
        }
    }
}

/// The duration of a segment's media, by each way in which packagers measure it.
struct DurationMeasure {
    private var candidates: [Ticks] = []
    private var tolerance = AudioFacts.rounding

    /// - Parameter next: the segment that goes on with the same clock.
    init?(_ facts: SegmentFacts, next: SegmentFacts?) {
        guard facts.video?.isBeginningUnknown != true, facts.video?.change == nil else { return nil }
        if let video = facts.video {
            tolerance += max(video.frameDuration, video.longestFrame)
            candidates.append(video.end - video.earliest)
            candidates.append(video.lastDTS + video.frameDuration - video.firstDTS)
            if let next = next?.video, !next.isBeginningUnknown {
                candidates.append(next.firstPTS.distance(from: video.firstPTS))
                candidates.append(next.earliest.distance(from: video.earliest))
                candidates.append(next.firstDTS.distance(from: video.firstDTS))
            }
        }
        if let audio = facts.audio {
            if facts.video == nil { tolerance += audio.frameDuration }
            candidates.append(audio.end - audio.start)
            if let next = next?.audio { candidates.append(next.start.distance(from: audio.start)) }
            if let video = facts.video {
                let audioStart = Ticks(wire: audio.start, near: video.earliest)
                let audioEnd = Ticks(wire: audio.end, near: video.end)
                candidates.append(max(audioEnd, video.end) - min(audioStart, video.earliest))
            }
        }
        if !facts.hasFrames, let span = facts.videoSpan ?? facts.audioSpan {
            candidates.append(span.duration)
        }
        if candidates.isEmpty { return nil }
    }

    /// The nearest measure; nil if one agrees with the written number.
    func deviation(from segment: ScannedSegment) -> Ticks? {
        guard let duration = segment.duration else { return nil }
        let listed = Ticks(duration)
        let decimals = segment.durationText.split(separator: ".").dropFirst().first?.count ?? 0
        // Numbers are rounded or truncated.
        let rounding = decimals == 0 ? Ticks.milliseconds(1000) : decimals == 1 ? .milliseconds(100) : .milliseconds(10)
        let nearest = candidates.min { ($0 - listed).magnitude < ($1 - listed).magnitude }
        guard let nearest, (nearest - listed).magnitude > tolerance + rounding else { return nil }
        return nearest
    }
}
