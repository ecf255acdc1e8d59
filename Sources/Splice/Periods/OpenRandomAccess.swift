import Demux
import Media
import Mux
import Transcode

/// Decides whether segments may begin at random access points that are no IDR pictures.
///
/// A stream with IDR pictures is cut there. Its other random access points count if a period began with one, or if no
/// IDR picture came for longer than a segment may last; from then on they count for the rest of the period.
struct OpenRandomAccess: Equatable, Sendable {
    private let longestSegment: Ticks
    private var isUsed = false
    /// Decode time of the last IDR picture of the period.
    private var lastRefresh = Ticks.zero

    init(longestSegment: Ticks) { self.longestSegment = longestSegment }

    mutating func beginPeriod(with unit: TimedVideo) {
        isUsed = unit.packet.randomAccess != .instantaneousRefresh
        lastRefresh = unit.dts
    }

    /// Returns whether the random access point of a later unit of the period counts.
    mutating func isUsed(at unit: TimedVideo) -> Bool {
        guard let point = unit.packet.randomAccess, point != .instantaneousRefresh else {
            if unit.packet.randomAccess != nil { lastRefresh = unit.dts }
            return false
        }
        isUsed = isUsed || unit.dts - lastRefresh > longestSegment
        return isUsed
    }
}
