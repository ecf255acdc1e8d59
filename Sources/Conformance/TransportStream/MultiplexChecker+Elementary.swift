// Judges video and audio: TR 101 290 2.3, 2.5, 3.3, 3.10.

extension MultiplexChecker {
    mutating func readElementary(_ packet: Span<UInt8>, _ fields: PacketFields, _ index: Int, at place: PacketPlace) {
        states[index].elementary?.isPresent = true
        if fields.startsUnit, let clockPID = states[index].elementary?.clockPID {
            endUnit(of: fields.pid, index, clockPID: clockPID)
            if !fields.isScrambled, let times = PESTimes(packet, from: fields.payload) {
                beginUnit(times, of: fields.pid, index, clockPID: clockPID, at: place)
            }
        }
        states[index].elementary?.unit?.end = Int64(place.offset + PacketFields.size)
    }

    private mutating func beginUnit(
        _ times: PESTimes, of pid: UInt16, _ index: Int, clockPID: UInt16, at place: PacketPlace
    ) {
        let clock = self.index(of: clockPID)
        states[clock].clock?.append(Arrival(content: .unit(pid: pid, times), place: place))
        guard let decode = times.decode else { return }
        judgeSilence(of: clockPID, since: states[index].elementary?.decodeAtClock, decode, at: place)
        if states[index].elementary?.decodeAtClock == nil { states[index].elementary?.decodeAtClock = decode }
        guard states[clock].clock != nil else { return }
        states[index].elementary?.unit = ElementaryWatch.Unit(
            place: place, decode: decode, end: Int64(place.offset), judgedEnd: Int64(place.offset))
    }

    /// Without PCRs no time passes, except for the decode times of the streams.
    private mutating func judgeSilence(
        of clockPID: UInt16, since first: Int64?, _ decode: Int64, at place: PacketPlace
    ) {
        guard let first, dependents[clockPID]?.isSilenceReported == false else { return }
        let ticks = ClockTicks.difference(decode * ClockTicks.perStamp, first * ClockTicks.perStamp)
        guard ticks > limits.clockJump else { return }
        dependents[clockPID]?.isSilenceReported = true
        faults.add(
            .clockRepetition, at: place, pid: clockPID,
            "no PCR, while decode times go on for \(ClockTicks.inMilliseconds(ticks))")
    }

    /// Judges the packets after the last PCR when the next PCR comes: a late unit may have ended by then.
    private mutating func endUnit(of pid: UInt16, _ index: Int, clockPID: UInt16) {
        let ended = states[index].elementary?.unit
        states[index].elementary?.unit = nil
        guard let unit = ended, unit.end > unit.judgedEnd, !unit.isLate, states[index].elementary?.kind == .video
        else { return }
        let end = PacketPlace(number: unit.place.number, offset: Int(unit.end))
        states[self.index(of: clockPID)].clock?.append(
            Arrival(content: .unitEnd(pid: pid, decode: unit.decode, first: unit.place), place: end))
    }

    /// Judges a PES packet whose first packet arrived at `time`.
    mutating func judgeUnit(_ pid: UInt16, _ times: PESTimes, at time: ProgramClock.Time, _ place: PacketPlace) {
        let index = index(of: pid)
        guard let kind = states[index].elementary?.kind else { return }
        if let gap = states[index].elementary?.presentation.record(times.presentation, at: time.elapsed) {
            report(gap, pid: pid, at: place)
        }
        guard let decode = times.decode else { return }
        let delay = ClockTicks.difference(decode * ClockTicks.perStamp, time.value)
        if time.isExact, delay > limits.dataDelayTicks {
            let limit = ClockTicks.inMilliseconds(limits.dataDelayTicks)
            faults.add(
                .dataDelay, at: place, pid: pid,
                "the access unit is decoded \(ClockTicks.inMilliseconds(delay)) after its arrival (limit \(limit))")
        }
        // The end of a video unit must be in time as well.
        if kind == .audio, -delay >= ClockTicks.perStamp { reportLate(-delay, pid: pid, at: place) }
    }

    /// Judges the last packet of a video unit that ended before this PCR.
    mutating func judgeUnitEnd(_ pid: UInt16, _ decode: Int64, at time: ProgramClock.Time, first: PacketPlace) {
        let late = -ClockTicks.difference(decode * ClockTicks.perStamp, time.value)
        if late >= ClockTicks.perStamp { reportLate(late, pid: pid, at: first) }
    }

    /// Judges the packets so far of the unit that is arriving.
    mutating func reportLateness(of pid: UInt16, _ index: Int, on clock: ProgramClock) {
        guard states[index].elementary?.kind == .video, let first = states[index].elementary?.unit?.place,
            let late = states[index].elementary?.lateness(on: clock)
        else { return }
        reportLate(late, pid: pid, at: first)
    }

    private mutating func reportLate(_ late: Int64, pid: UInt16, at place: PacketPlace) {
        faults.add(
            .bufferUnderflow, at: place, pid: pid,
            "the access unit arrives \(ClockTicks.inMilliseconds(late)) after its decode time")
    }

    private mutating func report(_ gap: PresentationWatch.Gap, pid: UInt16, at place: PacketPlace) {
        let limit = ClockTicks.inMilliseconds(limits.presentationInterval)
        switch gap {
        case .skipped(let ticks):
            faults.add(
                .presentationTime, at: place, pid: pid,
                "the PTS is \(ClockTicks.inMilliseconds(ticks)) after the one before (limit \(limit))")
        case .absent(let ticks):
            faults.add(
                .presentationTime, at: place, pid: pid,
                "PES packets without PTS for \(ClockTicks.inMilliseconds(ticks)) (limit \(limit))")
        }
    }
}
