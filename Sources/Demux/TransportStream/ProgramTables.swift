import Media

/// PAT and PMTs of one run: which programme and which of its streams are followed (ISO/IEC 13818-1 §2.4.4).
///
/// A segment is read for its tables before its media, so a table that comes late still names what came before it.
struct ProgramTables: Sendable {
    private let tracks: TrackSelection
    /// By section_number.
    private var associations: [UInt8: ProgramAssociation] = [:]
    /// In the order of the PAT, each once.
    private var programs: [(number: UInt16, mapPID: UInt16)] = []
    private var maps: [UInt16: ProgramMap] = [:]
    private var assemblers: [UInt16: SectionAssembler] = [:]
    private(set) var selection: ProgramSelection?
    /// The programme followed had what is asked for when every PMT was known, so no other takes its place while it is
    /// listed.
    private var isConfirmed = false
    /// What was followed when it last was settled, in this run or the one before.
    private var confirmed: ProgramSelection?
    private(set) var badSections = 0

    /// No PMT was read since the run began.
    var isEmpty: Bool { maps.isEmpty }

    init(tracks: TrackSelection) { self.tracks = tracks }

    /// A new run: its tables replace what is known from the first packet on; without any, what is known stays.
    mutating func reset() {
        associations = [:]
        programs = []
        maps = [:]
        isConfirmed = false
        assemblers = [:]
    }

    /// - Returns: each change of selection with the packet that completes its table.
    mutating func scan(_ bytes: [UInt8], blocks: [PacketBlock]) -> [SelectionChange] {
        badSections = 0
        for pid in assemblers.keys { assemblers[pid]?.drop() }
        let hadPrograms = !programs.isEmpty
        var changes = readTables(bytes, blocks: blocks)
        if changes.isEmpty, !hadPrograms, !programs.isEmpty, maps.isEmpty {
            changes = readTables(bytes, blocks: blocks)  // the PMT stood in front of the PAT
        }
        confirmSelection()
        return changes
    }

    /// Why nothing can be followed, when tables are known that rule it out.
    func unsupportedError() -> MediaError? {
        let listed = programs.compactMap { maps[$0.number] }
        let streamTypes = listed.flatMap(\.entries).map(\.streamType)
        if let encrypted = streamTypes.first(where: ElementaryStreamKind.isSampleEncrypted) {
            return MediaError(.sampleEncryption(streamType: encrypted), section: "ISO/IEC 13818-1 2.4.4.8")
        }
        guard !programs.isEmpty, listed.count == programs.count, selection?.streams.isEmpty ?? true else { return nil }
        let names = listed.flatMap(\.entries).map { $0.name ?? "unknown" }
        return MediaError(
            .noSupportedStream(streamTypes: streamTypes, names: names), section: "ISO/IEC 13818-1 2.4.4.8")
    }

    private mutating func readTables(_ bytes: [UInt8], blocks: [PacketBlock]) -> [SelectionChange] {
        var changes: [SelectionChange] = []
        for run in blocks where !run.hasBadSyncBytes {
            for index in 0..<run.count {
                let offset = run[index]
                let pid = UInt16(bytes[offset + 1] & 0x1F) << 8 | UInt16(bytes[offset + 2])
                guard isTable(pid) else { continue }
                // After a reset even the tables known before are news: they hold for what follows them.
                let before = tableSelection
                let wasSettled = isConfirmed
                read(TransportPacket(bytes, at: offset), of: bytes)
                guard let tableSelection, tableSelection != before else { continue }
                // The programme whose PMT comes first need not be the one that is followed.
                let isCorrection = !wasSettled && changes.last?.selection.programNumber != tableSelection.programNumber
                let start = isCorrection ? changes.popLast()?.offset ?? offset : offset
                changes.append(SelectionChange(offset: start, selection: tableSelection))
            }
        }
        return changes
    }

    /// What the tables of this run select.
    private var tableSelection: ProgramSelection? { isEmpty ? nil : selection }

    /// PAT or a PMT.
    @inline(__always)
    func isTable(_ pid: UInt16) -> Bool {
        if pid == 0 { return true }
        for program in programs where program.mapPID == pid { return true }
        return false
    }

    private mutating func read(_ packet: TransportPacket, of bytes: [UInt8]) {
        guard !packet.hasError, !packet.isMalformed, !packet.isScrambled else { return }
        let sections = assemblers[packet.pid, default: SectionAssembler()].append(packet, of: bytes)
        for section in sections {
            guard SectionCRC.isIntact(section) else {
                badSections += 1
                continue
            }
            if packet.pid == 0 {
                if let association = ProgramAssociation(section) { apply(association) }
            } else if let map = ProgramMap(section) {
                apply(map)
            }
        }
    }

    private mutating func apply(_ association: ProgramAssociation) {
        guard associations[association.number] != association else { return }
        confirmSelection()
        if association.number == 0 { associations = [:] }
        associations[association.number] = association
        var seen: Set<UInt16> = []
        programs = associations.values.sorted { $0.number < $1.number }.flatMap(\.programs)
            .filter { seen.insert($0.number).inserted }
        maps = maps.filter { seen.contains($0.key) }
        select()
    }

    private mutating func apply(_ map: ProgramMap) {
        guard maps[map.programNumber] != map else { return }
        maps[map.programNumber] = map
        select()
    }

    private mutating func select() {
        let candidates = programs.compactMap { program in
            maps[program.number].map { ProgramSelection($0, tracks: tracks, after: selection) }
        }
        let followed = isConfirmed ? selection?.programNumber : nil
        let kept = candidates.first { $0.programNumber == followed && !$0.streams.isEmpty }
        guard var chosen = kept ?? best(of: candidates) else { return }
        chosen.otherPrograms = programs.map(\.number).filter { $0 != chosen.programNumber }
        isConfirmed = chosen.programNumber == followed
        selection = chosen
        if maps.count == programs.count { confirmSelection() }
    }

    /// The programme that was followed, by its number or under another by what it carries; else the first with video;
    /// else the first with anything.
    private func best(of candidates: [ProgramSelection]) -> ProgramSelection? {
        let enough = candidates.filter(isSufficient)
        return enough.first { $0.programNumber == confirmed?.programNumber } ?? enough.first(where: sharesStreams)
            ?? enough.first ?? candidates.first { !$0.streams.isEmpty } ?? candidates.first
    }

    private func sharesStreams(_ candidate: ProgramSelection) -> Bool {
        guard let confirmed else { return false }
        return candidate.streams.contains { stream in confirmed.streams.contains { $0.pid == stream.pid } }
    }

    /// No PMT that was waited for came: what is followed stays so.
    private mutating func confirmSelection() {
        guard let selection, maps[selection.programNumber] != nil else { return }
        isConfirmed = isConfirmed || isSufficient(selection)
        if isConfirmed { confirmed = selection }
    }

    private func isSufficient(_ candidate: ProgramSelection) -> Bool {
        tracks == .audio ? candidate.audio != nil : candidate.video != nil
    }
}

extension ProgramTables {
    /// No table came in the whole run: the streams as their first bytes show them.
    mutating func setProbed(_ guess: ProgramSelection) { selection = guess }
}
