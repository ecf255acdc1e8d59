import Media
import Support

/// The PAT and the PMTs since the last reset, and the program selection that follows from them
/// (ISO/IEC 13818-1 §2.4.4).
///
/// The tables of a segment are read before its media, so a late table still applies to the packets before it.
struct ProgramTables: Sendable {
    private var associations: [UInt8: ProgramAssociation] = [:]
    /// In the order of the PAT, without duplicates; `DemuxLimits.programs` at most.
    private var programs: [(number: UInt16, mapPID: UInt16)] = []
    private var programNumbers: Set<UInt16> = []
    private var tablePIDs = PIDSet([associationPID])
    private var maps: [UInt16: ProgramMap] = [:]
    private var assemblers: [UInt16: SectionAssembler] = [:]
    private var selector: ProgramSelector
    /// Tables of this segment that differ from those before them.
    private var tableChanges = 0
    /// Sections with a wrong CRC_32, and changes beyond the limits.
    private var badSections = 0

    private static let associationPID: UInt16 = 0
    /// Stream types of HLS sample encryption: H.264, AAC, AC-3 and E-AC-3.
    private static let encryptedTypes: Set<UInt8> = [0xDB, 0xCF, 0xC1, 0xC2]

    var isEmpty: Bool { maps.isEmpty }

    var selection: ProgramSelection? { selector.selection }

    init(tracks: TrackSelection, audio choice: AudioTrackChoice = .leading) {
        selector = ProgramSelector(tracks: tracks, audio: choice)
    }

    /// Forgets the tables. The next tables apply from the first packet on; without any, the selection stays.
    mutating func reset() {
        associations = [:]
        programs = []
        programNumbers = []
        tablePIDs = PIDSet([Self.associationPID])
        maps = [:]
        assemblers = [:]
        selector.reset()
    }

    mutating func setProbed(_ selection: ProgramSelection) { selector.selection = selection }

    /// - Returns: Each change of the selection with the packet that completes its table.
    mutating func scan(_ bytes: [UInt8], blocks: [PacketBlock]) throws(MediaError) -> [SelectionChange] {
        tableChanges = 0
        for pid in assemblers.keys { assemblers[pid]?.drop() }
        let hadPrograms = !programs.isEmpty
        var changes = try readTables(bytes, blocks: blocks)
        if changes.isEmpty, !hadPrograms, !programs.isEmpty, maps.isEmpty {
            changes = try readTables(bytes, blocks: blocks)  // the PMT preceded the PAT
        }
        confirmSelection()
        return changes
    }

    /// Returns the number of bad sections since the last call.
    mutating func dequeueBadSections() -> Int {
        defer { badSections = 0 }
        return badSections
    }

    /// Returns the error for known tables that contain nothing to follow; nil if there is something.
    func unsupportedError() -> MediaError? {
        let listed = programs.compactMap { maps[$0.number] }
        let streamTypes = listed.flatMap(\.entries).map(\.streamType)
        if let encrypted = streamTypes.first(where: Self.encryptedTypes.contains) {
            return MediaError(.sampleEncryption(streamType: encrypted), section: "ISO/IEC 13818-1 2.4.4.8")
        }
        guard !programs.isEmpty, listed.count == programs.count, selection?.streams.isEmpty ?? true else { return nil }
        let names = listed.flatMap(\.entries).map { $0.format.name ?? "unknown" }
        return MediaError(
            .noSupportedStream(streamTypes: streamTypes, names: names), section: "ISO/IEC 13818-1 2.4.4.8")
    }

    /// Whether `pid` carries the PAT or a PMT.
    @inline(__always)
    func isTable(_ pid: UInt16) -> Bool { tablePIDs.contains(pid) }

    private mutating func readTables(
        _ bytes: [UInt8], blocks: [PacketBlock]
    ) throws(MediaError) -> [SelectionChange] {
        var changes: [SelectionChange] = []
        for block in blocks where !block.hasBadSyncBytes {
            try MediaError.checkCancellation()
            StepCounter.add(block.count)
            for index in 0..<block.count {
                let offset = block[index]
                let pid = UInt16(bytes[offset + 1] & 0x1F) << 8 | UInt16(bytes[offset + 2])
                guard isTable(pid) else { continue }
                readTable(TransportPacket(bytes, at: offset), at: offset, of: bytes, into: &changes)
            }
        }
        return changes
    }

    private mutating func readTable(
        _ packet: TransportPacket, at offset: Int, of bytes: [UInt8], into changes: inout [SelectionChange]
    ) {
        // After a reset even known tables are a change: they apply to the packets after them.
        let before = tableSelection
        let wasConfirmed = selector.isConfirmed
        readSections(packet, of: bytes)
        guard let tableSelection, tableSelection != before else { return }
        // The program of the first PMT need not be the program that is followed.
        let isCorrection = !wasConfirmed && changes.last?.selection.programNumber != tableSelection.programNumber
        let isExcess = !isCorrection && changes.count == DemuxLimits.selectionChanges
        let replaced = isCorrection || isExcess ? changes.popLast() : nil
        if isExcess { badSections += 1 }
        let start = isCorrection ? replaced?.offset ?? offset : offset
        changes.append(SelectionChange(offset: start, selection: tableSelection))
    }

    private var tableSelection: ProgramSelection? { isEmpty ? nil : selection }

    private mutating func readSections(_ packet: TransportPacket, of bytes: [UInt8]) {
        guard packet.isIntact else { return }
        let sections = assemblers[packet.pid, default: SectionAssembler()].append(packet, of: bytes)
        for section in sections {
            guard SectionCRC.isIntact(section) else {
                badSections += 1
                continue
            }
            StepCounter.add(1)
            if packet.pid == Self.associationPID {
                if let association = ProgramAssociation(section) { apply(association) }
            } else if let map = ProgramMap(section) {
                apply(map)
            }
        }
    }

    private mutating func apply(_ association: ProgramAssociation) {
        guard associations[association.number] != association, admitChange() else { return }
        confirmSelection()
        if association.number == 0 { associations = [:] }
        associations[association.number] = association
        programNumbers = []
        programs = []
        for program in associations.values.sorted(by: { $0.number < $1.number }).lazy.flatMap(\.programs)
            .prefix(DemuxLimits.programs) where programNumbers.insert(program.number).inserted
        {
            programs.append(program)
        }
        StepCounter.add(associations.count + programs.count)
        tablePIDs = PIDSet([Self.associationPID] + programs.map(\.mapPID))
        maps = maps.filter { programNumbers.contains($0.key) }
        assemblers = assemblers.filter { isTable($0.key) }
        select()
    }

    private mutating func apply(_ map: ProgramMap) {
        guard programNumbers.contains(map.programNumber), maps[map.programNumber] != map, admitChange() else { return }
        maps[map.programNumber] = map
        select()
    }

    /// Whether another change of the tables is applied in this segment; otherwise it is counted.
    private mutating func admitChange() -> Bool {
        guard tableChanges < DemuxLimits.tableChanges else {
            badSections += 1
            return false
        }
        tableChanges += 1
        return true
    }

    private mutating func select() {
        let numbers = programs.map(\.number)
        let known = numbers.compactMap { maps[$0] }
        guard !known.isEmpty else { return }
        selector.select(from: known, programs: numbers)
        if maps.count == programs.count { confirmSelection() }
    }

    /// Confirms the selection if its PMT is known; PMTs that have not come by now are not waited for.
    private mutating func confirmSelection() {
        guard let selection, maps[selection.programNumber] != nil else { return }
        selector.confirm()
    }
}

/// A program selection and the transport packet from which it applies.
struct SelectionChange: Equatable, Sendable {
    let offset: Int
    let selection: ProgramSelection
}

/// A set of PIDs that is asked for every transport packet.
private struct PIDSet: Equatable, Sendable {
    /// The number of PIDs (ISO/IEC 13818-1 §2.4.3.3).
    private static let size = 1 << 13

    private var words = [UInt64](repeating: 0, count: size / 64)

    init(_ pids: some Sequence<UInt16>) { for pid in pids { insert(pid) } }

    mutating func insert(_ pid: UInt16) {
        let index = Int(pid) & (Self.size - 1)
        words[index >> 6] |= 1 << UInt64(index & 63)
    }

    @inline(__always)
    func contains(_ pid: UInt16) -> Bool {
        let index = Int(pid) & (Self.size - 1)
        return words[index >> 6] >> UInt64(index & 63) & 1 == 1
    }
}

/// A program association section (ISO/IEC 13818-1 §2.4.4.3).
struct ProgramAssociation: Equatable, Sendable {
    /// The first programs of the section in its order, without the network PID; `DemuxLimits.programs` at most.
    let programs: [(number: UInt16, mapPID: UInt16)]
    let number: UInt8

    /// Parses a section; nil for another table, a table that is not yet applicable, or a section that is too short.
    init?(_ section: [UInt8]) {
        guard section.count >= 12, section[0] == 0x00, section[5] & 1 == 1 else { return nil }
        number = section[6]
        let entries = stride(from: 8, to: section.count - 7, by: 4).lazy.compactMap { offset in
            let number = UInt16(section[offset]) << 8 | UInt16(section[offset + 1])
            let pid = UInt16(section[offset + 2] & 0x1F) << 8 | UInt16(section[offset + 3])
            return number == 0 ? nil : (number: number, mapPID: pid)
        }
        programs = Array(entries.prefix(DemuxLimits.programs))
    }

    static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.programs.elementsEqual(right.programs, by: ==)
    }
}
