// Judges what is only known at the end of the stream.

extension MultiplexChecker {
    mutating func finish(at place: PacketPlace, _ faults: inout FaultLog) {
        for pid in dependents.keys.sorted() { finishClock(pid, at: place, &faults) }
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
        reportScrambling(&faults)
    }

    /// Judges the packets after the last PCR, as far as it does not matter when exactly they arrived.
    private mutating func finishClock(_ pid: UInt16, at place: PacketPlace, _ faults: inout FaultLog) {
        let index = index(of: pid)
        states[index].clock?.end()
        judgeArrivals(of: pid, index, &faults)
        let streams = dependents[pid]?.streams ?? []
        guard let clock = states[index].clock else {
            guard dependents[pid]?.isSilenceReported == false, streams.contains(where: wasPresent) else { return }
            return faults.add(.clockRepetition, at: place, pid: pid, "there is no PCR, although the PMT names the PID")
        }
        for stream in streams {
            reportLateness(of: stream, self.index(of: stream), on: clock, at: place, &faults)
            guard clock.elapsed > limits.presentationInterval, !wasPresent(stream),
                states[self.index(of: stream)].elementary?.isOptional == false
            else { continue }
            faults.add(.missingPID, at: place, pid: stream, "there is no packet, although the PMT lists the PID")
        }
    }

    /// Whether a packet of the video or audio PID came.
    private func wasPresent(_ pid: UInt16) -> Bool {
        knownIndex(of: pid).flatMap { states[$0].elementary?.wasEverPresent } ?? false
    }

    func report(packets: Int, bytes: Int, counts: [TransportIndicator: Int]) -> TransportReport {
        let clock = referencePID.flatMap(knownIndex).flatMap { states[$0].clock }
        return TransportReport(
            packets: packets, bytes: bytes, programs: programs.count, clockPID: referencePID,
            duration: .microseconds((clock?.elapsed ?? 0) / (ClockTicks.second / 1_000_000)),
            constantBitRate: clock?.rate.bitRate,
            unjudged: states.reduce(0) { $0 + ($1.clock?.dropped ?? 0) }, counts: counts)
    }
}
