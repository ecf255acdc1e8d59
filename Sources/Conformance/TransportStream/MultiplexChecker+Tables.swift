import Media

// Reads the tables, and judges them: TR 101 290 1.3, 1.5, 2.2, 2.6.

extension MultiplexChecker {
    mutating func readSections(_ packet: Span<UInt8>, _ fields: PacketFields, _ index: Int, at place: PacketPlace) {
        let outputs =
            states[index].sections?.append(packet, from: fields.payload, startsUnit: fields.startsUnit) ?? []
        for output in outputs {
            switch output {
            case .badPointer:
                faults.add(.checksum, at: place, pid: fields.pid, "pointer_field leads out of the packet")
            case .section(let section): read(section, pid: fields.pid, at: place)
            }
        }
    }

    private mutating func read(_ section: [UInt8], pid: UInt16, at place: PacketPlace) {
        if pid <= 1, section[0] != UInt8(pid) {
            faults.add(
                pid == 0 ? .association : .conditionalAccess, at: place, pid: pid,
                "a section with table_id \(hex(section[0])), not \(hex(pid))")
            return
        }
        guard Self.isIntact(section) else {
            faults.add(.checksum, at: place, pid: pid, "CRC_32 of the section with table_id \(hex(section[0]))")
            return
        }
        switch (pid, section[0]) {
        case (0, _): readAssociation(section, at: place)
        case (1, _): hasConditionalAccess = true
        case (_, 0x02): readMap(section, pid: pid, at: place)
        default: break
        }
    }

    /// Whether CRC_32 is right, or the table has none. A TOT (0x73) and a splice_info_section (0xFC) have one, although
    /// section_syntax_indicator is not set.
    private static func isIntact(_ section: [UInt8]) -> Bool {
        let hasChecksum = section[1] & 0x80 != 0 || section[0] == 0x73 || section[0] == 0xFC
        return !hasChecksum || section.count >= 4 && SectionCRC.isIntact(section)
    }

    private mutating func readAssociation(_ section: [UInt8], at place: PacketPlace) {
        hasAssociation = true
        append(Arrival(content: .association, place: place), to: referencePID)
        guard let content = AssociationContent(section) else { return }
        let listed = content.programs.filter { $0.key != 0 }
        let isSame = listed.allSatisfy { programs[$0.key]?.mapPID == $0.value }
        // Later sections of the same table only add programs.
        if isSame, content.sectionNumber > 0 || listed.count == programs.count { return }
        if content.sectionNumber == 0 { programs = programs.filter { listed[$0.key] == $0.value.mapPID } }
        for (program, mapPID) in listed where programs[program]?.mapPID != mapPID {
            programs[program] = Program(mapPID: mapPID, interval: IntervalWatch(limit: limits.tableInterval))
            let index = index(of: mapPID)
            if states[index].sections == nil { states[index].sections = SectionReader() }
        }
        rebuildDependents()
    }

    private mutating func readMap(_ section: [UInt8], pid: UInt16, at place: PacketPlace) {
        guard let content = MapContent(section), let program = programs[content.program], program.mapPID == pid
        else { return }
        if program.content != content {
            programs[content.program]?.content = content
            // An interval on another clock cannot be continued.
            if program.content?.clockPID != content.clockPID { programs[content.program]?.interval.reset() }
            rebuildDependents()
        }
        append(Arrival(content: .map(program: content.program), place: place), to: clockPID(of: content.program))
    }

    func clockPID(of program: UInt16) -> UInt16? {
        guard let pid = programs[program]?.content?.clockPID, pid != PacketFields.nullPID else { return referencePID }
        return pid
    }

    private mutating func append(_ arrival: Arrival, to clockPID: UInt16?) {
        guard let clockPID else { return }
        states[index(of: clockPID)].clock?.append(arrival)
    }

    /// Applies the tables: which PIDs are video and audio, and which clocks they and the programs follow.
    private mutating func rebuildDependents() {
        let earlier = dependents
        dependents = [:]
        var elementary: Set<UInt16> = []
        for (number, program) in programs.sorted(by: { $0.key < $1.key }) {
            guard let content = program.content, content.clockPID != PacketFields.nullPID else { continue }
            dependents[content.clockPID, default: ClockDependents()].programs.append(number)
            for stream in content.streams where elementary.insert(stream.pid).inserted {
                apply(stream, clockPID: content.clockPID)
            }
        }
        unmappedPrograms = programs.filter { $0.value.content == nil }.keys.sorted()
        for index in states.indices where states[index].elementary.map({ !elementary.contains($0.pid) }) ?? false {
            states[index].elementary = nil
        }
        for pid in dependents.keys { dependents[pid]?.isSilenceReported = earlier[pid]?.isSilenceReported ?? false }
        chooseReference()
    }

    private mutating func apply(_ stream: MapContent.Stream, clockPID: UInt16) {
        let index = index(of: stream.pid)
        if stream.kind == .spliceSections, states[index].sections == nil { states[index].sections = SectionReader() }
        guard stream.kind.isTimed else {
            states[index].elementary = nil
            return
        }
        dependents[clockPID]?.streams.append(stream.pid)
        let known = states[index].elementary
        if known?.kind == stream.kind, known?.clockPID == clockPID {
            states[index].elementary?.isOptional = stream.isOptional
        } else {
            states[index].elementary = ElementaryWatch(stream, clockPID: clockPID, limits)
        }
    }

    mutating func chooseReference() {
        let running = dependents.keys.filter { states[index(of: $0)].clock != nil }
        if let referencePID, running.contains(referencePID) || running.isEmpty { return }
        guard let chosen = running.min() else { return }
        referencePID = chosen
        associationInterval.reset()
        scrambledWait.reset()
    }
}
