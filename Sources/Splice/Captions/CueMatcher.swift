import Media

/// Finds the published clock span that presents a cue of one upstream segment.
///
/// A cue time can match several clock spans, because clocks repeat. Candidates with the segment's discontinuity sequence
/// number have priority. Among several candidates the nearest to the segment wins.
struct CueMatcher {
    struct Match {
        let clockSpan: PublishedSpans.ClockSpan
        let times: Range<Ticks>
        /// Whether no better match may still be published: the video of the segment is, or the cue is beside it.
        var isFinal = true
    }

    /// By how much a cue may be away from its segment whose video is still to come: clocks repeat, in loops and ads.
    private static let nearestDistance = Ticks.seconds(1)

    let published: PublishedSpans
    let mapping: CueTimeMapping
    let segment: ReceivedSubtitleSegment

    /// Returns the best match of `cue` up to now; nil if there is none.
    func match(_ cue: WebVTT.Cue) -> Match? {
        let candidates = published.clockSpans.compactMap { candidate(cue, in: $0) }
        let number = segment.input.discontinuitySequence
        let signaled = candidates.filter { $0.clockSpan.discontinuities.contains(number) }
        if signaled.isEmpty, !published.clockSpans.contains(where: { $0.discontinuities.contains(number) }) {
            return matchUnsignaled(candidates)
        }
        guard let outputRange = segment.outputRange else { return signaled.first }
        guard var match = nearest(signaled, to: outputRange, within: CueTimeMapping.longestTrustedDistance) else {
            return nil
        }
        match.isFinal = segment.isLocated || distance(match.times, to: outputRange) <= Self.nearestDistance
        return match
    }

    private func candidate(_ cue: WebVTT.Cue, in clockSpan: PublishedSpans.ClockSpan) -> Match? {
        let segmentStart = segment.outputRange.map { $0.lowerBound - clockSpan.offset }
        guard let media = mapping.media(at: cue.start, in: segment.file, segmentStart: segmentStart) else { return nil }
        let start = Ticks(wire: media.wire, near: clockSpan.end)
        let end = start + .milliseconds(cue.end - cue.start)
        guard start < clockSpan.end, end > clockSpan.start || start == clockSpan.start else { return nil }
        return Match(clockSpan: clockSpan, times: start + clockSpan.offset..<end + clockSpan.offset)
    }

    /// Matches a cue whose discontinuity sequence number is not published.
    ///
    /// Either the two playlists count discontinuities differently, or the video with that number is still to come. In the
    /// second case the cue must stay unplaced.
    private func matchUnsignaled(_ candidates: [Match]) -> Match? {
        guard let outputRange = segment.outputRange else {
            let newest = published.sourceSpans.last?.discontinuitySequence ?? 0
            return newest > segment.input.discontinuitySequence ? candidates.first : nil
        }
        guard let end = published.end, end >= outputRange.upperBound else { return nil }
        return nearest(candidates, to: outputRange, within: CueTimeMapping.segmentTolerance)
    }

    private func nearest(_ matches: [Match], to range: Range<Ticks>, within maxDistance: Ticks) -> Match? {
        let nearest = matches.min { distance($0.times, to: range) < distance($1.times, to: range) }
        return nearest.flatMap { distance($0.times, to: range) <= maxDistance ? $0 : nil }
    }

    private func distance(_ times: Range<Ticks>, to range: Range<Ticks>) -> Ticks {
        max(.zero, times.lowerBound - range.upperBound, range.lowerBound - times.upperBound)
    }
}

/// Mapping of a rendition's cue times to the source's clock.
enum CueTimeMapping: Equatable, Sendable {
    /// X-TIMESTAMP-MAP. `isProven` is set once it placed a cue.
    case map(isProven: Bool)
    /// X-TIMESTAMP-MAP plus a constant: a time zone offset, or the difference to another encoder's clock.
    case shifted(Ticks)
    /// Cue times relative to the start of their segment, without a usable map.
    case segment

    /// Time by which a cue may begin before its segment or end after it.
    static let segmentTolerance = Ticks.seconds(10)
    /// Granularity of time zone offsets.
    private static let timeZoneStep = Ticks.seconds(900)
    /// Largest distance between a cue and its segment at which the map is trusted.
    ///
    /// Numbers and dates of two playlists may differ by some segments. A wrong map differs by more.
    static let longestTrustedDistance = Ticks.seconds(120)

    /// Returns the time of a cue time of `file` on the source's clock, not reduced to 33 bits.
    /// - Returns: nil if the mapping needs an unknown `segmentStart`.
    func media(at time: Int64, in file: WebVTT, segmentStart: Ticks?) -> Ticks? {
        let mapped = (file.map ?? .absent).media(at: time)
        switch self {
        case .map: return mapped
        case .shifted(let shift): return mapped + shift
        case .segment: return segmentStart.map { $0 + .milliseconds(time) }
        }
    }

    /// Mapping for a file whose map places its cues far from its segment.
    /// - Parameter segment: time range of the segment on the source's clock.
    init(correcting file: WebVTT, segment: Range<Ticks>) {
        self = .segment
        guard let first = file.cues.min(by: { $0.start < $1.start }) else { return }
        let countsFromSegment =
            Ticks.milliseconds(first.start) <= segment.upperBound - segment.lowerBound + Self.segmentTolerance
        guard let map = file.map ?? (countsFromSegment ? nil : .absent) else { return }
        let mapped = Ticks(wire: map.media(at: first.start).wire, near: segment.lowerBound)
        let distance = segment.lowerBound - mapped
        let steps = (distance.count + distance.count.signum() * Self.timeZoneStep.count / 2) / Self.timeZoneStep.count
        let offset = Ticks(steps * Self.timeZoneStep.count)
        if mapped + offset < segment.upperBound + .seconds(2), mapped + offset > segment.lowerBound - .seconds(2) {
            self = .shifted(offset)
        } else if !countsFromSegment {
            self = .shifted(distance)
        }
    }
}
