import Media
import Support

/// Orders and writes the units of chunks, with tables and PCR between them.
struct TransportChunkWriter {
    /// The longest time between two PCRs (ETSI TR 101 290 §5.2.2, indicator 2.3a).
    static let longestClockInterval = Ticks.milliseconds(40)
    /// The longest time between two PATs or PMTs (ETSI TS 101 154 §4.1.7).
    static let longestTableInterval = Ticks.milliseconds(100)
    private static let counterPeriod: Int64 = 16

    private let program: TransportProgram
    private let programAssociation: [UInt8]
    private let programMap: [UInt8]
    private var packets: TransportPacketWriter
    /// The bytes of the unit that is written.
    private var payload: [UInt8] = []

    /// - Parameter buffer: an array whose memory is used; empty afterwards.
    init(
        _ program: TransportProgram, association: [UInt8], map: [UInt8], in buffer: inout [UInt8]
    ) {
        packets = TransportPacketWriter(in: &buffer)
        self.program = program
        programAssociation = association
        programMap = map
    }

    mutating func removeBytes() -> [UInt8] { packets.removeBytes() }

    mutating func reserveCapacity(_ byteCount: Int) { packets.reserveCapacity(byteCount) }

    /// A unit, tables or a clock with the time at which it is sent. Events at equal times are ordered by `rank`, then
    /// by `index`.
    private struct Event {
        enum Rank: Int { case tables, video, clock, other }

        let time: Ticks
        let rank: Rank
        /// The unit; −1 for tables and clocks.
        let index: Int

        static func precedes(_ left: Event, _ right: Event) -> Bool {
            (left.time.count, left.rank.rawValue, left.index) < (right.time.count, right.rank.rawValue, right.index)
        }
    }

    /// Appends one chunk.
    /// - Parameters:
    ///   - units: the units; units of one PID are in order.
    ///   - start: the time of the first frame; PCR and tables begin here.
    ///   - end: the time of the next chunk's first frame.
    mutating func append(
        _ units: [TransportUnit], from start: Ticks, to end: Ticks, isEntryPoint: Bool
    ) -> TransportSegment.Chunk {
        let first = packets.bytes.count
        let events = events(of: units, from: start, to: end)
        let (extras, skipped) = extraPackets(of: units, order: events.map(\.index).filter { $0 >= 0 })
        for (pid, count) in skipped { packets.skipCounter(of: pid, by: count) }
        for event in events { append(event, units, extras: extras) }
        return TransportSegment.Chunk(
            bytes: first..<packets.bytes.count, start: start, duration: end - start, isEntryPoint: isEntryPoint,
            randomAccessPoints: units.count { $0.kind == .video(isRandomAccessPoint: true) })
    }

    /// The units, tables and clocks in the order in which they are sent.
    private func events(of units: [TransportUnit], from start: Ticks, to end: Ticks) -> [Event] {
        let carriers = units.indices.filter { program.carriesClock(units[$0]) }
        let accessPoints = units.indices.filter { units[$0].kind == .video(isRandomAccessPoint: true) }
        var events = units.indices.map { index in
            Event(time: units[index].time, rank: units[index].isVideo ? .video : .other, index: index)
        }
        events += Self.tableTimes(from: start, to: end, accessPoints: accessPoints.map { units[$0].time })
            .map { Event(time: $0, rank: .tables, index: -1) }
        events += Self.clockTimes(from: start, to: end, carried: carriers.map { units[$0].time })
            .map { Event(time: $0, rank: .clock, index: -1) }
        events.sort(by: Event.precedes)
        StepCounter.add(events.count)
        return events
    }

    /// Returns over how many additional packets each unit is spread, so that the number of packets of every PID is a
    /// multiple of 16.
    ///
    /// The last unit of a PID takes as many packets as its bytes after the header allow; the units before it take the
    /// rest. If all units are too short, the first packet of the PID skips the remaining values of the continuity
    /// counter. On the PID of the clock, a skip would announce a new clock, so the header of the last unit is spread
    /// instead.
    /// - Parameter order: indices of the units as they are sent.
    /// - Returns: the additional packets by unit, and the counter values to skip by PID.
    private func extraPackets(of units: [TransportUnit], order: [Int]) -> (extras: [Int], skipped: [UInt16: Int]) {
        let counts = units.map(program.packetCount)
        var missing: [UInt16: Int] = [:]
        for index in order { missing[units[index].pid, default: 0] -= counts[index] }
        missing = missing.mapValues { $0 & (TransportPacketWriter.counterPeriod - 1) }
        var extras = [Int](repeating: 0, count: units.count)
        var lastOfPID: [UInt16: Int] = [:]
        for index in order.reversed() {
            let unit = units[index]
            lastOfPID[unit.pid] = lastOfPID[unit.pid] ?? index
            extras[index] = min(unit.sparePackets(in: counts[index]), missing[unit.pid] ?? 0)
            missing[unit.pid, default: 0] -= extras[index]
        }
        if let last = lastOfPID[program.clockPID] {
            extras[last] += missing.removeValue(forKey: program.clockPID) ?? 0
        }
        return (extras, missing.mapValues { Int($0) })
    }

    private mutating func append(_ event: Event, _ units: [TransportUnit], extras: [Int]) {
        let clock = event.time - TransportStreamMuxer.lead
        switch event.rank {
        case .tables:
            packets.append(programAssociation, on: TransportPID.programAssociation)
            packets.append(programMap, on: TransportPID.programMap)
        case .clock: packets.append(clock: clock, on: program.clockPID)
        case .video, .other:
            let unit = units[event.index]
            payload.removeAll(keepingCapacity: true)
            unit.append(to: &payload)
            packets.append(
                payload, on: unit.pid, clock: program.carriesClock(unit) ? clock : nil,
                isRandomAccessPoint: program.isRandomAccessPoint(unit), extra: extras[event.index])
        }
    }

    /// Times of PAT and PMT: at each random access point, and evenly in between, a multiple of 16 in all.
    private static func tableTimes(from start: Ticks, to end: Ticks, accessPoints: [Ticks]) -> [Ticks] {
        let duration = (end - start).count
        let extra = accessPoints.filter { $0 != start }
        let even = tableCount(lasting: duration, accessPoints: extra.count) - Int64(extra.count)
        return extra + (0..<even).map { start + Ticks(duration * $0 / even) }
    }

    /// - Parameter accessPoints: the number of random access points after the beginning of the chunk.
    static func tableCount(lasting duration: Int64, accessPoints: Int) -> Int64 {
        let needed = (duration + longestTableInterval.count - 1) / longestTableInterval.count + Int64(accessPoints)
        return (max(1, needed) + counterPeriod - 1) / counterPeriod * counterPeriod
    }

    /// Times of packets that only carry PCR.
    /// - Parameter carried: times at which a unit carries a PCR, in order.
    private static func clockTimes(from start: Ticks, to end: Ticks, carried: [Ticks]) -> [Ticks] {
        let begin = carried.first == start ? [] : [start]
        let fixed = begin + carried
        return begin
            + zip(fixed, fixed.dropFirst() + [end]).flatMap { time, next in
                let (gap, parts) = ((next - time).count, clockIntervals(from: time, to: next))
                return (1..<parts).map { time + Ticks(gap * $0 / parts) }
            }
    }

    /// The intervals into which PCR divides the time between two clocks.
    static func clockIntervals(from time: Ticks, to next: Ticks) -> Int64 {
        max(1, ((next - time).count + longestClockInterval.count - 1) / longestClockInterval.count)
    }
}

extension TransportUnit {
    fileprivate var isVideo: Bool {
        if case .video = kind { true } else { false }
    }
}
