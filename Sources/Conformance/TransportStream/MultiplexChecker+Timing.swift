// Judges the PCRs, and everything that depends on them: TR 101 290 1.3, 1.5, 1.6, 2.3.

extension MultiplexChecker {
    /// - Parameter value: the PCR in the packet at `place`.
    mutating func measure(_ value: Int64, of pid: UInt16, _ index: Int, at place: PacketPlace) {
        let isAnnounced = states[index].announcesTimeBase
        states[index].announcesTimeBase = false
        if states[index].clock == nil {
            states[index].clock = ProgramClock(limits)
            if referencePID == nil { referencePID = pid }
            chooseReference()
        }
        guard let step = states[index].clock?.measure(value, at: place, isAnnounced: isAnnounced) else { return }
        if dependents[pid] != nil { report(step, pid: pid, at: place) }
        judgeArrivals(of: pid, index)
        judgeStreams(of: pid, index, step, at: place)
        judgeTables(of: pid, elapsed: states[index].clock?.elapsed ?? 0, at: place)
    }

    private mutating func report(_ step: ProgramClock.Step, pid: UInt16, at place: PacketPlace) {
        switch step {
        case .started, .announced: break
        case .advanced(let ticks):
            guard ticks > limits.clockInterval else { return }
            let limit = ClockTicks.inMilliseconds(limits.clockInterval)
            faults.add(
                .clockRepetition, at: place, pid: pid,
                "\(ClockTicks.inMilliseconds(ticks)) between two PCRs (limit \(limit))")
        case .jumped(let ticks):
            faults.add(
                .clockDiscontinuity, at: place, pid: pid,
                "the PCR goes \(ticks > 0 ? "forward" : "back") by \(ClockTicks.inMilliseconds(abs(ticks))) without discontinuity_indicator"
            )
        }
    }

    mutating func judgeArrivals(of pid: UInt16, _ index: Int) {
        for arrival in states[index].clock?.removeArrivals() ?? [] {
            guard let time = states[index].clock?.time(at: Int64(arrival.place.offset)) else { continue }
            judge(arrival, at: time, clockPID: pid)
        }
    }

    mutating func judge(_ arrival: Arrival, at time: ProgramClock.Time, clockPID: UInt16) {
        switch arrival.content {
        case .association:
            guard clockPID == referencePID, let gap = associationInterval.record(at: time.elapsed) else { return }
            reportAssociation(gap, at: arrival.place)
        case .map(let program):
            guard let gap = programs[program]?.interval.record(at: time.elapsed) else { return }
            reportMap(of: program, gap, at: arrival.place)
        case .unit(let pid, let times): judgeUnit(pid, times, at: time, arrival.place)
        case .unitEnd(let pid, let decode, let first): judgeUnitEnd(pid, decode, at: time, first: first)
        }
    }

    private mutating func judgeStreams(
        of pid: UInt16, _ index: Int, _ step: ProgramClock.Step, at place: PacketPlace
    ) {
        guard let dependent = dependents[pid], let clock = states[index].clock else { return }
        dependents[pid]?.isSilenceReported = false
        let isNewBase = if case .advanced = step { false } else { true }
        for streamPID in dependent.streams {
            let stream = self.index(of: streamPID)
            reportLateness(of: streamPID, stream, on: clock)
            if isNewBase { states[stream].elementary?.resetTimeBase() }
            states[stream].elementary?.decodeAtClock = nil
            guard let gap = states[stream].elementary?.absence(at: clock.elapsed) else { continue }
            faults.add(
                .missingPID, at: place, pid: streamPID,
                "no packet for \(ClockTicks.inMilliseconds(gap)), although the PMT lists the PID")
        }
    }

    private mutating func judgeTables(of pid: UInt16, elapsed: Int64, at place: PacketPlace) {
        let isReference = pid == referencePID
        if isReference, let gap = associationInterval.poll(at: elapsed) { reportAssociation(gap, at: place) }
        for number in dependents[pid]?.programs ?? [] {
            guard let gap = programs[number]?.interval.poll(at: elapsed) else { continue }
            reportMap(of: number, gap, at: place)
        }
        guard isReference else { return }
        for number in unmappedPrograms {
            guard let gap = programs[number]?.interval.poll(at: elapsed) else { continue }
            reportMap(of: number, gap, at: place)
        }
        if scrambled != nil, scrambledWait.poll(at: elapsed) != nil { reportScrambling() }
    }

    private mutating func reportAssociation(_ gap: Int64, at place: PacketPlace) {
        let limit = ClockTicks.inMilliseconds(limits.tableInterval)
        faults.add(
            .association, at: place, pid: 0, "no PAT for \(ClockTicks.inMilliseconds(gap)) (limit \(limit))")
    }

    private mutating func reportMap(of program: UInt16, _ gap: Int64, at place: PacketPlace) {
        let limit = ClockTicks.inMilliseconds(limits.tableInterval)
        faults.add(
            .map, at: place, pid: programs[program]?.mapPID,
            "no PMT of program \(program) for \(ClockTicks.inMilliseconds(gap)) (limit \(limit))")
    }

    mutating func reportScrambling() {
        guard let (place, pid) = scrambled, !hasConditionalAccess else { return }
        faults.add(.conditionalAccess, at: place, pid: pid, "the packet is scrambled, and there is no CAT")
        hasConditionalAccess = true  // one fault is enough
    }
}
