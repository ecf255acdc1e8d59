/// The state of one video or audio stream: its presence, its times and its buffer.
struct ElementaryWatch: Sendable {
    /// The PES packet that is arriving.
    struct Unit: Equatable, Sendable {
        let place: PacketPlace
        let decode: Int64
        /// Number of bytes before the end of its last packet so far.
        var end: Int64
        /// Number of bytes before the end of the last packet whose time of arrival was judged.
        var judgedEnd: Int64
        var isLate = false
    }

    let pid: UInt16
    let kind: ElementaryKind
    let clockPID: UInt16
    var isOptional: Bool
    var unit: Unit?
    var isPresent = false { didSet { wasEverPresent = wasEverPresent || isPresent } }
    private(set) var wasEverPresent = false
    private var presence: IntervalWatch
    var presentation: PresentationWatch
    var decodeAtClock: Int64?

    init(_ stream: MapContent.Stream, clockPID: UInt16, _ limits: TransportLimits) {
        pid = stream.pid
        kind = stream.kind
        isOptional = stream.isOptional
        self.clockPID = clockPID
        presence = IntervalWatch(limit: limits.pidInterval)
        presentation = PresentationWatch(limit: limits.presentationInterval)
    }

    /// The clock has a new time base: times before it cannot be compared with times after it.
    mutating func resetTimeBase() {
        unit = nil
        decodeAtClock = nil
        presentation.reset()
    }

    /// The time since the last packet, once it is too long (TR 101 290 1.6); once for each gap.
    mutating func absence(at elapsed: Int64) -> Int64? {
        defer { isPresent = false }
        guard isPresent else {
            let gap = presence.poll(at: elapsed)
            return isOptional ? nil : gap
        }
        _ = presence.record(at: elapsed)
        return nil
    }

    /// How long after its decode time the unit's last packet so far arrived, in ticks; nil if it is in time, or known.
    mutating func lateness(on clock: ProgramClock) -> Int64? {
        guard let unit, !unit.isLate, unit.end > unit.judgedEnd, let time = clock.time(at: unit.end) else { return nil }
        self.unit?.judgedEnd = unit.end
        let late = -ClockTicks.difference(unit.decode * ClockTicks.perStamp, time.value)
        guard late >= ClockTicks.perStamp else { return nil }
        self.unit?.isLate = true
        return late
    }
}

/// Detects a time without PTS that is too long (TR 101 290 2.5).
struct PresentationWatch: Sendable {
    enum Gap: Equatable {
        /// A PTS is this far after the highest one before; in ticks of 27 MHz.
        case skipped(Int64)
        /// PES packets came for this long without a PTS.
        case absent(Int64)
    }

    let limit: Int64
    private var highest: Int64?
    private var lastArrival: Int64?
    private var isAbsent = false

    init(limit: Int64) { self.limit = limit }

    mutating func reset() { (highest, lastArrival, isAbsent) = (nil, nil, false) }

    /// - Parameter presentation: PTS of a PES packet; nil if it has none.
    mutating func record(_ presentation: Int64?, at elapsed: Int64) -> Gap? {
        guard let presentation else { return recordAbsence(at: elapsed) }
        let isKnown = isAbsent
        (lastArrival, isAbsent) = (elapsed, false)
        guard let highest else {
            self.highest = presentation
            return nil
        }
        let ahead = ClockTicks.difference(
            presentation * ClockTicks.perStamp, highest * ClockTicks.perStamp)
        // Reordered video goes back by less than a second. After a larger step back, the measurement restarts.
        if ahead > 0 || ahead < -ClockTicks.second { self.highest = presentation }
        return ahead > limit && !isKnown ? .skipped(ahead) : nil
    }

    private mutating func recordAbsence(at elapsed: Int64) -> Gap? {
        guard let lastArrival else {
            self.lastArrival = elapsed
            return nil
        }
        guard !isAbsent, elapsed - lastArrival > limit else { return nil }
        isAbsent = true
        return .absent(elapsed - lastArrival)
    }
}

/// Detects that something does not recur as often as required. Times are ticks of a program's clock.
struct IntervalWatch: Sendable {
    let limit: Int64
    private var last: Int64?
    private(set) var isOverdue = false

    init(limit: Int64) { self.limit = limit }

    /// Restarts the measurement, as for another clock.
    mutating func reset() { (last, isOverdue) = (nil, false) }

    /// - Returns: The time since the last occurrence, if it is too long and was not returned before.
    mutating func record(at time: Int64) -> Int64? {
        let gap = poll(at: time)
        (last, isOverdue) = (time, false)
        return gap
    }

    /// - Returns: The time since the last occurrence, once it is too long; only once for each gap.
    mutating func poll(at time: Int64) -> Int64? {
        guard let last else {
            self.last = time
            return nil
        }
        guard !isOverdue, time - last > limit else { return nil }
        isOverdue = true
        return time - last
    }
}
