/// The system clock of the programs whose PCRs one PID carries (ISO/IEC 13818-1 §2.4.2.1, §2.4.2.2).
///
/// Bytes arrive at a constant rate between two PCRs. Therefore the time at which a packet arrived is only known at the
/// next PCR, and arrivals wait for it.
struct ProgramClock: Sendable {
    struct Time: Equatable, Sendable {
        /// Ticks since the first PCR, without jumps of the PCR.
        let elapsed: Int64
        /// The value that a PCR would have, 0 ..< `ClockTicks.wrap`.
        let value: Int64
        /// Whether a PCR follows on the same time base. If not, the arrival was at this time or later.
        let isExact: Bool
    }

    enum Step: Equatable {
        case started
        case advanced(Int64)
        /// A new time base, announced by discontinuity_indicator.
        case announced
        /// The PCR jumped; the value is its difference from the preceding PCR, in ticks.
        case jumped(Int64)
    }

    /// The most arrivals that wait for a PCR.
    private static let capacity = 4096

    private struct Point { var position: Int64, time: Time }
    /// From a PCR to the next one; 0 ticks where none follows.
    private struct Line { var start: Point, ticks: Int64, bytes: Int64 }

    private var last: Point?
    private var line: Line?
    private var waiting: [Arrival] = []
    /// Number of arrivals that were dropped because too many waited.
    private(set) var dropped = 0
    private let longestAdvance: Int64
    private let interval: Int64

    init(_ limits: TransportLimits) {
        longestAdvance = limits.clockJump
        interval = limits.clockInterval
    }

    var elapsed: Int64 { last?.time.elapsed ?? 0 }

    func time(at position: Int64) -> Time? {
        guard let line else { return nil }
        let (product, overflows) = (position - line.start.position).multipliedReportingOverflow(by: line.ticks)
        let ahead = overflows ? line.ticks : product / line.bytes
        let value = (line.start.time.value + ahead % ClockTicks.wrap + ClockTicks.wrap) % ClockTicks.wrap
        return Time(elapsed: line.start.time.elapsed + ahead, value: value, isExact: line.ticks > 0)
    }

    mutating func end() { line = last.map { Line(start: $0, ticks: 0, bytes: 1) } }

    /// Has no effect before the first PCR, because nothing is known of that time.
    mutating func append(_ arrival: Arrival) {
        guard last != nil else { return }
        guard waiting.count < Self.capacity else {
            dropped += 1
            return
        }
        waiting.append(arrival)
    }

    /// Removes and returns the arrivals that waited for the PCR measured last.
    mutating func removeArrivals() -> [Arrival] {
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting
    }

    mutating func measure(_ value: Int64, at place: PacketPlace, isAnnounced: Bool) -> Step {
        let position = Int64(place.offset) + Self.offsetInPacket
        guard let last else {
            self.last = point(position, elapsed: 0, value)
            return .started
        }
        let ahead = ClockTicks.difference(value, last.time.value)
        guard !isAnnounced, ahead > 0, ahead <= longestAdvance else {
            // The time since then is unknown, but PCRs come often.
            let expected = (time(at: position)?.elapsed ?? 0) - last.time.elapsed
            end()
            self.last = point(position, elapsed: last.time.elapsed + max(0, min(expected, interval)), value)
            return isAnnounced ? .announced : .jumped(ahead)
        }
        line = Line(start: last, ticks: ahead, bytes: position - last.position)
        self.last = point(position, elapsed: last.time.elapsed + ahead, value)
        return .advanced(ahead)
    }

    private func point(_ position: Int64, elapsed: Int64, _ value: Int64) -> Point {
        Point(position: position, time: Time(elapsed: elapsed, value: value, isExact: true))
    }

    /// A PCR is the time of arrival of the byte with the last bit of its base (§2.4.3.5).
    private static let offsetInPacket: Int64 = 10
}

/// A table, or the beginning or end of a PES packet, whose time of arrival is judged.
struct Arrival: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case association
        case map(program: UInt16)
        /// A PES packet of the PID, in the packet at `place`.
        case unit(pid: UInt16, PESTimes)
        /// The end of a video unit, whose first packet was at `first`. The arrival's place is after its last packet.
        case unitEnd(pid: UInt16, decode: Int64, first: PacketPlace)
    }

    let content: Content
    let place: PacketPlace
}
