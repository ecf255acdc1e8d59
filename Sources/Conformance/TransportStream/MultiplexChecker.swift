/// Judges the packets of a transport stream, one after the other.
struct MultiplexChecker: Sendable {
    /// The state of one PID.
    struct PIDState: Sendable {
        var continuity = ContinuityWatch()
        var sections: SectionReader?
        var elementary: ElementaryWatch?
        var clock: ProgramClock?
        /// Whether the next PCR has a new time base (ISO/IEC 13818-1 §2.4.3.5, discontinuity_indicator).
        var announcesTimeBase = false
    }

    /// A program of the PAT.
    struct Program: Sendable {
        let mapPID: UInt16
        var interval: IntervalWatch
        var content: MapContent?
    }

    let limits: TransportLimits
    var faults: FaultLog
    /// For each PID, the index of its state; -1 before its first packet.
    private var indexes = [Int16](repeating: -1, count: 0x2000)
    var states: [PIDState] = []
    var programs: [UInt16: Program] = [:]
    var unmappedPrograms: [UInt16] = []
    /// The programs and streams that depend on the PCRs of a PID.
    var dependents: [UInt16: ClockDependents] = [:]
    /// The clock for the times of the PAT and of programs without a clock of their own.
    var referencePID: UInt16?
    var associationInterval: IntervalWatch
    var hasAssociation = false
    var hasConditionalAccess = false
    /// The first scrambled packet, until its fault is found.
    var scrambled: (place: PacketPlace, pid: UInt16)?
    var scrambledWait: IntervalWatch

    init(_ limits: TransportLimits) {
        self.limits = limits
        faults = FaultLog(limit: limits.faultsKept)
        associationInterval = IntervalWatch(limit: limits.tableInterval)
        scrambledWait = IntervalWatch(limit: limits.conditionalAccessWait)
    }

    /// - Parameter packet: 188 bytes.
    mutating func check(_ packet: Span<UInt8>, at place: PacketPlace) {
        let fields = PacketFields(packet)
        guard !fields.hasError else { return reportError(fields, at: place) }
        guard fields.pid != PacketFields.nullPID else { return }
        let index = index(of: fields.pid)
        let verdict = states[index].continuity.check(fields, packet)
        if verdict != .inOrder { report(verdict, fields, at: place) }
        if verdict != .inOrder, verdict != .duplicate { states[index].sections?.reset() }
        if fields.announcesDiscontinuity { states[index].announcesTimeBase = true }
        guard verdict != .duplicate, verdict != .tooOften else { return }
        if let value = fields.clockReference { measure(value, of: fields.pid, index, at: place) }
        guard fields.hasPayload else { return }
        if fields.isScrambled { recordScrambling(fields, at: place) }
        if states[index].elementary != nil {
            readElementary(packet, fields, index, at: place)
        } else if states[index].sections != nil, !fields.isScrambled {
            readSections(packet, fields, index, at: place)
        }
    }

    /// Packets were lost without being counted; any counter is right now.
    mutating func forgetPackets() {
        for index in states.indices {
            states[index].continuity.forget()
            states[index].sections?.reset()
        }
    }

    /// - Returns: The index of the PID's state, which is made if it is new.
    mutating func index(of pid: UInt16) -> Int {
        let known = indexes[Int(pid)]
        if known >= 0 { return Int(known) }
        var state = PIDState()
        if Self.tablePIDs.contains(pid) { state.sections = SectionReader() }
        states.append(state)
        indexes[Int(pid)] = Int16(states.count - 1)
        return states.count - 1
    }

    private func knownIndex(of pid: UInt16) -> Int? { indexes[Int(pid)] < 0 ? nil : Int(indexes[Int(pid)]) }

    /// PAT, CAT, and of DVB: NIT, SDT and BAT, EIT, TOT.
    private static let tablePIDs: Set<UInt16> = [0x00, 0x01, 0x10, 0x11, 0x12, 0x14]

    /// Nothing else may be derived from such a packet, not even its PID (TR 101 290 2.1).
    private mutating func reportError(_ fields: PacketFields, at place: PacketPlace) {
        faults.add(.transport, at: place, pid: fields.pid, "transport_error_indicator is set")
        let index = indexes[Int(fields.pid)]
        guard index >= 0 else { return }
        states[Int(index)].continuity.forget()
        states[Int(index)].sections?.reset()
    }

    private mutating func report(_ verdict: ContinuityWatch.Verdict, _ fields: PacketFields, at place: PacketPlace) {
        let found = fields.counter
        switch verdict {
        case .inOrder, .duplicate: break
        case .wrongCounter(let expected):
            faults.add(.continuity, at: place, pid: fields.pid, "counter \(found) instead of \(expected)")
        case .otherContent:
            faults.add(
                .continuity, at: place, pid: fields.pid, "counter \(found) again, in a packet that is no duplicate")
        case .tooOften: faults.add(.continuity, at: place, pid: fields.pid, "the same packet for the third time")
        }
    }

    private mutating func recordScrambling(_ fields: PacketFields, at place: PacketPlace) {
        if fields.pid == 0 {
            faults.add(.association, at: place, pid: 0, "a packet of the PAT is scrambled")
        } else if programs.values.contains(where: { $0.mapPID == fields.pid }) {
            faults.add(.map, at: place, pid: fields.pid, "a packet of the PMT is scrambled")
        }
        if !hasConditionalAccess, scrambled == nil { scrambled = (place, fields.pid) }
    }
}

/// The programs and streams whose clock is in the PCRs of one PID.
struct ClockDependents: Sendable {
    var programs: [UInt16] = []
    var streams: [UInt16] = []
    /// Whether a fault says that PCRs are missing now.
    var isSilenceReported = false
}

// Judges faults that are only known at the end of the stream.

extension MultiplexChecker {
    mutating func finish(at place: PacketPlace) {
        for pid in dependents.keys.sorted() { finishClock(pid, at: place) }
        if place.number > 0, !hasAssociation, faults.counts[.association] == nil {
            faults.add(.association, at: place, pid: 0, "there is no PAT")
        }
        for (number, program) in programs.sorted(by: { $0.key < $1.key })
        where program.content == nil && !program.interval.isOverdue {
            faults.add(.map, at: place, pid: program.mapPID, "there is no PMT of program \(number)")
        }
        for (number, program) in programs.sorted(by: { $0.key < $1.key }) where program.content?.needsClock == true {
            faults.add(
                .clockRepetition, at: place, "the PMT names no PID for the PCR of program \(number)")
        }
        reportScrambling()
    }

    /// Judges the packets after the last PCR, as far as their exact times of arrival do not matter.
    private mutating func finishClock(_ pid: UInt16, at place: PacketPlace) {
        let index = index(of: pid)
        states[index].clock?.end()
        judgeArrivals(of: pid, index)
        let streams = dependents[pid]?.streams ?? []
        guard let clock = states[index].clock else {
            guard dependents[pid]?.isSilenceReported == false, streams.contains(where: wasPresent) else { return }
            return faults.add(.clockRepetition, at: place, pid: pid, "there is no PCR, although the PMT names the PID")
        }
        for stream in streams {
            reportLateness(of: stream, self.index(of: stream), on: clock)
            guard clock.elapsed > limits.presentationInterval, !wasPresent(stream),
                states[self.index(of: stream)].elementary?.isOptional == false
            else { continue }
            faults.add(.missingPID, at: place, pid: stream, "there is no packet, although the PMT lists the PID")
        }
    }

    private func wasPresent(_ pid: UInt16) -> Bool {
        knownIndex(of: pid).flatMap { states[$0].elementary?.wasEverPresent } ?? false
    }

    func report(packets: Int, bytes: Int) -> TransportReport {
        let clock = referencePID.flatMap(knownIndex).flatMap { states[$0].clock }
        return TransportReport(
            packets: packets, bytes: bytes, programs: programs.count, clockPID: referencePID,
            duration: .microseconds((clock?.elapsed ?? 0) / (ClockTicks.second / 1_000_000)),
            unjudged: states.reduce(0) { $0 + ($1.clock?.dropped ?? 0) }, counts: faults.counts)
    }
}
