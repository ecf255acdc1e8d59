import Media

/// A program association section (ISO/IEC 13818-1 §2.4.4.3).
struct ProgramAssociation: Equatable, Sendable {
    /// The first programs of the section in its order, without the network PID; `DemuxLimits.programs` at most.
    let programs: [(number: UInt16, mapPID: UInt16)]
    /// section_number.
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
