import Media
import Support

/// The tables of an endless stream: which program is followed, and the packets that declare it at the beginning of each
/// segment (ISO/IEC 13818-1 §2.4.4).
struct StreamTables: Sendable {
    private static let associationPID: UInt16 = 0
    /// PATs after which a PMT that is missing is not waited for.
    private static let patience = 8

    /// program_number that is asked for; nil: the first one with video, or else the first.
    private let wanted: UInt16?
    private var association: (section: [UInt8], table: ProgramAssociation)?
    private var mapPIDs: Set<UInt16> = []
    private var maps: [UInt16: (section: [UInt8], map: ProgramMap)] = [:]
    private var assemblers: [UInt16: SectionAssembler] = [:]
    private var associationsRead = 0
    private(set) var followed: (section: [UInt8], map: ProgramMap)?
    private var mapPID: UInt16 = 0
    private var counter: UInt8 = 0
    private(set) var badSections = 0
    private(set) var changes = 0

    /// The tables that declare the streams of one program.
    struct Declaration: Sendable {
        fileprivate let association: [UInt8]
        fileprivate let section: [UInt8]
        fileprivate let map: ProgramMap
        fileprivate let mapPID: UInt16

        /// Whether the other tables declare the same streams.
        func declaresSame(as other: Declaration) -> Bool { map == other.map && mapPID == other.mapPID }
    }

    init(program: UInt16?) { wanted = program }

    func isTable(_ pid: UInt16) -> Bool { pid == Self.associationPID || mapPIDs.contains(pid) }

    /// Whether a program is asked for that the PAT does not list.
    var isProgramMissing: Bool {
        guard let wanted, let association else { return false }
        return !association.table.programs.contains { $0.number == wanted }
    }

    /// Forgets sections that are incomplete, because the connection ended.
    mutating func endConnection() { assemblers = [:] }

    /// Reads a packet of a table.
    /// - Returns: whether the followed program is another one, or has other streams.
    mutating func append(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        guard packet.isIntact else { return false }
        let sections = assemblers[packet.pid, default: SectionAssembler()].append(packet, of: bytes)
        var isChanged = false
        for section in sections {
            guard SectionCRC.isIntact(section) else {
                badSections += 1
                continue
            }
            if packet.pid == Self.associationPID { apply(association: section) } else { apply(map: section) }
            isChanged = choose() || isChanged
        }
        return isChanged
    }

    /// The tables of the followed program; nil before they have come.
    var declaration: Declaration? {
        guard let followed, let association else { return nil }
        return Declaration(
            association: association.section, section: followed.section, map: followed.map, mapPID: mapPID)
    }

    /// PAT and PMT of a program. The PAT lists no other one.
    mutating func packets(of declaration: Declaration) -> [UInt8] {
        let number = declaration.map.programNumber
        var table = Array(declaration.association[0..<8])
        table.replaceSubrange(1..<3, with: [0xB0, 13])
        table.replaceSubrange(6..<8, with: [0, 0])
        table += [
            UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 0xE0 | UInt8(declaration.mapPID >> 8),
            UInt8(truncatingIfNeeded: declaration.mapPID),
        ]
        let crc = SectionCRC.value(table[...])
        table += (0..<4).map { UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * $0)) }
        let declared =
            Self.packets(of: table, pid: Self.associationPID, from: counter)
            + Self.packets(of: declaration.section, pid: declaration.mapPID, from: counter)
        counter &+= 8
        return declared
    }

    private static func packets(of section: [UInt8], pid: UInt16, from counter: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = ([0] + section)[...]
        var index: UInt8 = 0
        while !rest.isEmpty {
            let payload = rest.prefix(PacketStride.packetSize - 4)
            bytes += [
                PacketStride.syncByte, (index == 0 ? 0x40 : 0) | UInt8(pid >> 8), UInt8(truncatingIfNeeded: pid),
                0x10 | (counter &+ index) & 15,
            ]
            bytes += payload
            bytes += Array(repeating: 0xFF, count: PacketStride.packetSize - 4 - payload.count)
            rest = rest.dropFirst(payload.count)
            index += 1
        }
        return bytes
    }

    private mutating func apply(association section: [UInt8]) {
        guard let table = ProgramAssociation(section), table.number == 0 else { return }
        associationsRead += 1
        guard association?.section != section else { return }
        association = (section, table)
        mapPIDs = Set(table.programs.map(\.mapPID))
        maps = maps.filter { number, _ in table.programs.contains { $0.number == number } }
        assemblers = assemblers.filter { isTable($0.key) }
        associationsRead = 0
    }

    private mutating func apply(map section: [UInt8]) {
        guard let map = ProgramMap(section),
            association?.table.programs.contains(where: { $0.number == map.programNumber }) ?? false
        else { return }
        maps[map.programNumber] = (section, map)
    }

    /// Chooses the program to follow. Returns whether that is another one, or has other streams.
    private mutating func choose() -> Bool {
        guard let association else { return false }
        let programs = association.table.programs
        guard let number = number(among: programs.map(\.number)), let map = maps[number],
            let pid = programs.first(where: { $0.number == number })?.mapPID,
            followed?.section != map.section || pid != mapPID
        else { return false }
        let isOther = followed?.map != map.map
        (followed, mapPID) = (map, pid)
        if isOther { changes += 1 }
        return isOther
    }

    /// The program that is followed is kept while it is listed.
    private func number(among listed: [UInt16]) -> UInt16? {
        if let wanted { return wanted }
        if let number = followed?.map.programNumber, listed.contains(number) { return number }
        let known = listed.filter { maps[$0] != nil }
        guard known.count == listed.count || associationsRead >= Self.patience else { return nil }
        return known.first { maps[$0]?.map.anchor?.isVideo ?? false } ?? known.first
    }
}

extension ProgramMap.Entry {
    var isVideo: Bool { kind?.isVideo ?? (format.content == .unsupportedVideo) }
    var isAudio: Bool { kind.map { !$0.isVideo } ?? (format.content == .unsupportedAudio) }

    var content: StreamUnitAssembler.Content {
        if isVideo { return .video(streamType) }
        if isAudio { return .audio }
        return [0x05, 0x0A, 0x0B, 0x0C, 0x0D, 0x86].contains(streamType) ? .sections : .data
    }
}

extension ProgramMap {
    /// The stream that segments are cut by: the first video, or else the first audio.
    var anchor: Entry? { entries.first(where: \.isVideo) ?? entries.first(where: \.isAudio) }
}
