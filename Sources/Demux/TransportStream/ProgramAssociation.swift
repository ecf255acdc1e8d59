import Media

/// A program association section (ISO/IEC 13818-1 §2.4.4.3).
struct ProgramAssociation: Equatable, Sendable {
    /// Programs in the order of the section, without the network PID.
    let programs: [(number: UInt16, mapPID: UInt16)]
    /// section_number.
    let number: UInt8

    /// Parses a section; nil for another table, a table that is not yet applicable, or a section that is too short.
    init?(_ section: [UInt8]) {
        guard section.count >= 12, section[0] == 0x00, section[5] & 1 == 1 else { return nil }
        number = section[6]
        programs = stride(from: 8, to: section.count - 7, by: 4).compactMap { offset in
            let number = UInt16(section[offset]) << 8 | UInt16(section[offset + 1])
            let pid = UInt16(section[offset + 2] & 0x1F) << 8 | UInt16(section[offset + 3])
            return number == 0 ? nil : (number, pid)
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.programs.elementsEqual(right.programs, by: ==)
    }
}
