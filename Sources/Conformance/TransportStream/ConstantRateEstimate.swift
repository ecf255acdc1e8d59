/// Judges the PCRs of a constant bit rate: there, a PCR's position in the stream is its time of arrival.
///
/// 64 intervals whose bit rates differ by at most 2 % show that the rate is constant. From then on, the PCRs before
/// predict each PCR. One that is off by more than the limit is inaccurate if a later one fits again; if 5 in a row do
/// not fit, the rate changed, and is estimated anew.
struct ConstantRateEstimate: Sendable {
    struct Point: Equatable, Sendable {
        let place: PacketPlace
        /// Number of bytes before the PCR's last base bit.
        let position: Int64
        let time: Int64
    }

    struct Miss: Equatable, Sendable {
        let place: PacketPlace
        /// In ticks of 27 MHz; positive if the PCR is too high.
        let error: Int64
    }

    static let intervals = 64
    /// The largest difference between the rate of an interval and the mean, as a divisor of the latter.
    private static let tolerance: Int64 = 50
    private static let missesOfChange = 5
    /// The most bytes between two PCRs, so that no product overflows.
    private static let longestInterval: Int64 = 1 << 24
    /// The time over which the rate is averaged, at most twice, in ticks.
    private static let baseline = 5 * ClockTicks.second

    let limit: Int64
    private var points: [Point] = []
    private var line: Line?
    private var misses: [Miss] = []

    /// The known rate: through `start` and `end`, both accurate.
    private struct Line {
        var start: Point
        var middle: Point
        var end: Point
    }

    init(limit: Int64) { self.limit = limit }

    /// In bit/s; nil while it is not known, or not constant.
    var bitRate: Int64? {
        line.map { ($0.end.position - $0.start.position) * 8 * ClockTicks.second / ($0.end.time - $0.start.time) }
    }

    /// The clock begins anew.
    mutating func reset() {
        points.removeAll(keepingCapacity: true)
        line = nil
        misses = []
    }

    /// - Returns: The PCRs that are known to be inaccurate now, all before this one.
    mutating func record(_ point: Point) -> [Miss] {
        if let last = line?.end ?? points.last, point.position - last.position > Self.longestInterval { reset() }
        guard let line else {
            gather(point)
            return []
        }
        let error = point.time - Self.prediction(of: point, on: line)
        guard abs(error) > limit else {
            extend(line, to: point)
            defer { misses = [] }
            return misses
        }
        misses.append(Miss(place: point.place, error: error))
        if misses.count == Self.missesOfChange { reset() }
        return []
    }

    private mutating func gather(_ point: Point) {
        points.append(point)
        guard points.count > Self.intervals, let first = points.first else { return }
        if isConstant { line = Line(start: first, middle: point, end: point) }
        points = [point]
    }

    private var isConstant: Bool {
        guard let first = points.first, let last = points.last else { return false }
        let (bytes, time) = (last.position - first.position, last.time - first.time)
        return zip(points, points.dropFirst()).allSatisfy { earlier, later in
            let expected = (later.position - earlier.position) * time
            return abs((later.time - earlier.time) * bytes - expected) <= expected / Self.tolerance
        }
    }

    private static func prediction(of point: Point, on line: Line) -> Int64 {
        let (bytes, time) = (line.end.position - line.start.position, line.end.time - line.start.time)
        return line.end.time + ((point.position - line.end.position) * time + bytes / 2) / bytes
    }

    private mutating func extend(_ line: Line, to point: Point) {
        var line = line
        line.end = point
        if point.time - line.middle.time > Self.baseline {
            line.start = line.middle
            line.middle = point
        }
        self.line = line
    }
}
