import Demux
import Media
import Mux
import Transcode

/// How the cue times of a rendition lead to the source's clock.
enum CueTimeMapping: Equatable, Sendable {
    /// By X-TIMESTAMP-MAP; `isProven` once a cue was found where its segment is.
    case map(isProven: Bool)
    /// By the map, which is off by a constant: somebody's time zone, or another encoder's clock.
    case shifted(Ticks)
    /// The map says nothing; cue times count from the beginning of their segment.
    case segment

    /// A cue may begin before its segment or end behind it by so much.
    static let segmentTolerance = Ticks.seconds(10)
    /// Clocks that are wrong by a time zone are wrong by a multiple of this.
    private static let timeZoneStep = Ticks.seconds(900)
    /// A map is believed as long as its cues are no farther from their segment than this: numbers and dates of two
    /// playlists may disagree by some segments, a map that is wrong is wrong by more.
    static let longestTrustedDistance = Ticks.seconds(120)

    /// Where on the source's clock a cue time of `file` is, not folded; nil when that depends on where its segment is
    /// and nobody knows.
    /// - Parameter segmentStart: on the source's clock.
    func media(at time: Int64, in file: WebVTT, segmentStart: Ticks?) -> Ticks? {
        let mapped = (file.map ?? .absent).media(at: time)
        switch self {
        case .map: return mapped
        case .shifted(let shift): return mapped + shift
        case .segment: return segmentStart.map { $0 + .milliseconds(time) }
        }
    }

    /// The clock of a file whose map leads nowhere near its segment.
    /// - Parameter segment: where the segment is, on the source's clock.
    init(correcting file: WebVTT, segment: Range<Ticks>) {
        self = .segment
        guard let first = file.cues.min(by: { $0.start < $1.start }) else { return }
        let countsFromSegment =
            Ticks.milliseconds(first.start) <= segment.upperBound - segment.lowerBound + Self.segmentTolerance
        guard let map = file.map ?? (countsFromSegment ? nil : .absent) else { return }
        let mapped = Ticks(wire: map.media(at: first.start).wire, near: segment.lowerBound)
        let distance = segment.lowerBound - mapped
        let zones = (distance.count + distance.count.signum() * Self.timeZoneStep.count / 2) / Self.timeZoneStep.count
        let zone = Ticks(zones * Self.timeZoneStep.count)
        if mapped + zone < segment.upperBound + .seconds(2), mapped + zone > segment.lowerBound - .seconds(2) {
            self = .shifted(zone)
        } else if !countsFromSegment {
            self = .shifted(distance)
        }
    }
}
