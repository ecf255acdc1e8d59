/// PAT and PMTs of one run: which programme and which of its streams are followed (ISO/IEC 13818-1 §2.4.4).
///
/// A segment is read for its tables before its media, so a table that comes late still names what came before it.
struct ProgramTables: Sendable {
    private let tracks: TrackSelection
    private var programs: [(number: UInt16, mapPID: UInt16)] = []
    private var maps: [UInt16: ProgramMap] = [:]
    private var assemblers: [UInt16: SectionAssembler] = [:]
    private(set) var selection: ProgramSelection?
    private(set) var badSections = 0

    /// No PMT was read since the run began.
    var isEmpty: Bool { maps.isEmpty }

    init(tracks: TrackSelection) { self.tracks = tracks }

    /// A new run: its tables replace what is known from the first packet on; without any, what is known stays.
    mutating func reset() {
        programs = []
        maps = [:]
        assemblers = [:]
    }

    /// - Returns: each change of selection with the packet that completes its table.
    mutating func scan(_ bytes: [UInt8], runs: [PacketRun]) -> [SelectionChange] {
        badSections = 0
        for pid in assemblers.keys { assemblers[pid]?.drop() }
        let hadPrograms = !programs.isEmpty
        let changes = pass(bytes, runs: runs)
        guard changes.isEmpty, !hadPrograms, !programs.isEmpty, maps.isEmpty else { return changes }
        return pass(bytes, runs: runs)  // the PMT stood in front of the PAT
    }

    /// Why nothing can be followed, when tables are known that rule it out.
    func refusal() -> SpliceError? {
        let listed = programs.compactMap { maps[$0.number] }
        let streamTypes = listed.flatMap(\.entries).map(\.streamType)
        if let encrypted = streamTypes.first(where: ElementaryStreamKind.isSampleEncrypted) {
            return SpliceError(.sampleEncryption(streamType: encrypted), section: "ISO/IEC 13818-1 2.4.4.8")
        }
        guard !programs.isEmpty, listed.count == programs.count, selection?.streams.isEmpty ?? true else { return nil }
        return SpliceError(.noSupportedStream(streamTypes: streamTypes), section: "ISO/IEC 13818-1 2.4.4.8")
    }

    private mutating func pass(_ bytes: [UInt8], runs: [PacketRun]) -> [SelectionChange] {
        var changes: [SelectionChange] = []
        for run in runs where !run.isDoubtful {
            for index in 0..<run.count {
                let offset = run[index]
                let pid = UInt16(bytes[offset + 1] & 0x1F) << 8 | UInt16(bytes[offset + 2])
                guard isTable(pid) else { continue }
                // After a reset even the tables known before are news: they hold for what follows them.
                let before = known
                take(TransportPacket(bytes, at: offset), of: bytes)
                if let known, known != before { changes.append(SelectionChange(offset: offset, selection: known)) }
            }
        }
        return changes
    }

    /// What the tables of this run select.
    private var known: ProgramSelection? { isEmpty ? nil : selection }

    @inline(__always)
    private func isTable(_ pid: UInt16) -> Bool {
        if pid == 0 { return true }
        for program in programs where program.mapPID == pid { return true }
        return false
    }

    private mutating func take(_ packet: TransportPacket, of bytes: [UInt8]) {
        guard !packet.hasError, !packet.isMalformed, !packet.isScrambled else { return }
        let sections = assemblers[packet.pid, default: SectionAssembler()].take(packet, of: bytes)
        for section in sections {
            guard SectionCRC.isIntact(section) else {
                badSections += 1
                continue
            }
            if packet.pid == 0 {
                if let association = ProgramAssociation(section) { take(association, isFirst: section[6] == 0) }
            } else if let map = ProgramMap(section) {
                take(map)
            }
        }
    }

    private mutating func take(_ association: ProgramAssociation, isFirst: Bool) {
        if isFirst { programs = [] }
        programs += association.programs
        let listed = Set(programs.map(\.number))
        maps = maps.filter { listed.contains($0.key) }
    }

    private mutating func take(_ map: ProgramMap) {
        guard maps[map.programNumber] != map else { return }
        maps[map.programNumber] = map
        choose()
    }

    /// The programme followed so far while it is listed and has what is asked for; else the first with video; else
    /// the first with anything.
    private mutating func choose() {
        let candidates = programs.compactMap { program in
            maps[program.number].map { ProgramSelection($0, tracks: tracks, after: selection) }
        }
        let kept = candidates.first { $0.programNumber == selection?.programNumber && isEnough($0) }
        let chosen = kept ?? candidates.first(where: isEnough) ?? candidates.first { !$0.streams.isEmpty }
        if let chosen = chosen ?? candidates.first { selection = chosen }
    }

    private func isEnough(_ candidate: ProgramSelection) -> Bool {
        tracks == .audio ? candidate.audio != nil : candidate.video != nil
    }
}

extension ProgramTables {
    /// No table came in the whole run: the streams as their first bytes show them.
    mutating func adopt(_ guess: ProgramSelection) { selection = guess }
}
