import Media

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
    /// - Parameters:
    ///   - time: cue time, milliseconds.
    ///   - segmentStart: start of the cue's segment on the source's clock; nil if unknown.
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
