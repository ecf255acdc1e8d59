/// The content of a program association section (ISO/IEC 13818-1 §2.4.4.3).
struct AssociationContent: Equatable, Sendable {
    /// Programs and their program_map_PIDs; program 0 has the network_PID.
    private(set) var programs: [UInt16: UInt16] = [:]
    let sectionNumber: UInt8

    /// - Parameter section: a section with a correct CRC_32, whose fields are therefore intact.
    /// - Returns: nil if the section is not valid yet (current_next_indicator) or too short.
    init?(_ section: [UInt8]) {
        guard section.count >= 12, section[5] & 1 == 1 else { return nil }
        sectionNumber = section[6]
        for start in stride(from: 8, to: section.count - 7, by: 4) {
            let program = UInt16(section[start]) << 8 | UInt16(section[start + 1])
            programs[program] = UInt16(section[start + 2] & 0x1F) << 8 | UInt16(section[start + 3])
        }
    }
}

/// The content of a program map section (ISO/IEC 13818-1 §2.4.4.8).
struct MapContent: Equatable, Sendable {
    struct Stream: Equatable, Sendable {
        let pid: UInt16
        let kind: ElementaryKind
        /// Whether its packets may be missing for any time: data, and audio for some listeners (TR 101 290 1.6).
        let isOptional: Bool
    }

    let program: UInt16
    let clockPID: UInt16
    private(set) var streams: [Stream] = []

    var needsClock: Bool { clockPID == PacketFields.nullPID && streams.contains { $0.kind.isTimed } }

    /// - Parameter section: a section with a correct CRC_32.
    /// - Returns: nil if the section is not valid yet (current_next_indicator) or its loops do not fit.
    init?(_ section: [UInt8]) {
        guard section.count >= 16, section[5] & 1 == 1 else { return nil }
        program = UInt16(section[3]) << 8 | UInt16(section[4])
        clockPID = UInt16(section[8] & 0x1F) << 8 | UInt16(section[9])
        let end = section.count - 4
        var start = 12 + Self.length(at: 10, in: section)
        while start + 5 <= end {
            let next = start + 5 + Self.length(at: start + 3, in: section)
            guard next <= end else { return nil }
            streams.append(Self.stream(section[start..<next]))
            start = next
        }
    }

    private static func length(at index: Int, in section: [UInt8]) -> Int {
        Int(section[index] & 0x0F) << 8 | Int(section[index + 1])
    }

    private static func stream(_ entry: ArraySlice<UInt8>) -> Stream {
        let first = entry.startIndex
        let descriptors = DescriptorLoop(entry.dropFirst(5))
        let kind = ElementaryKind(streamType: entry[first], descriptors)
        return Stream(
            pid: UInt16(entry[first + 1] & 0x1F) << 8 | UInt16(entry[first + 2]), kind: kind,
            isOptional: !kind.isTimed || descriptors.audioType != 0)
    }
}

/// The kind of an elementary stream, as far as the rules differ.
enum ElementaryKind: Equatable, Sendable {
    case video, audio
    case spliceSections
    case data

    /// Whether the buffer model and the interval of PTS apply.
    var isTimed: Bool { self == .video || self == .audio }

    fileprivate init(streamType: UInt8, _ descriptors: DescriptorLoop) {
        self =
            switch streamType {
            case 0x01, 0x02, 0x10, 0x1B, 0x20, 0x24, 0x33, 0x42, 0xD1, 0xEA: .video
            case 0x03, 0x04, 0x0F, 0x11, 0x1C, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x87, 0x8A, 0xC1, 0xC2, 0xCF: .audio
            case 0x86: .spliceSections
            case 0x06 where descriptors.namesAudio: .audio
            case 0x06 where descriptors.namesVideo: .video
            default: .data
            }
    }
}

/// The fields of a descriptor loop that the rules need (ISO/IEC 13818-1 §2.6; ETSI EN 300 468 §6.1).
private struct DescriptorLoop {
    /// audio_type of the ISO_639_language_descriptor; 0 without such a descriptor.
    private(set) var audioType: UInt8 = 0
    private(set) var namesAudio = false
    private(set) var namesVideo = false

    init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while rest.count >= 2 {
            let (tag, length) = (rest[rest.startIndex], Int(rest[rest.startIndex + 1]))
            guard rest.count >= 2 + length else { return }
            read(tag, rest.dropFirst(2).prefix(length))
            rest = rest.dropFirst(2 + length)
        }
    }

    private mutating func read(_ tag: UInt8, _ body: ArraySlice<UInt8>) {
        switch tag {
        case 0x0A where body.count >= 4: audioType = body[body.startIndex + 3]
        // AC-3, E-AC-3, DTS, AAC
        case 0x6A, 0x7A, 0x7B, 0x7C: namesAudio = true
        case 0x05: readRegistration(String(decoding: body.prefix(4), as: UTF8.self))
        default: break
        }
    }

    private mutating func readRegistration(_ name: String) {
        switch name {
        case "AC-3", "EAC3", "AC-4", "DTS1", "DTS2", "DTS3", "Opus", "BSSD": namesAudio = true
        case "HEVC", "AV01": namesVideo = true
        default: break
        }
    }
}

/// Joins the sections of one PID (ISO/IEC 13818-1 §2.4.4).
struct SectionReader: Sendable {
    enum Output: Equatable {
        /// From table_id to CRC_32, not checked.
        case section([UInt8])
        /// The pointer_field leads out of the packet.
        case badPointer
    }

    private static let largest = 4096
    private var bytes: [UInt8] = []
    /// Whether `bytes` begin with a section's first byte.
    private var isAligned = false

    /// Drops the section that is incomplete, because a packet of it was lost.
    mutating func reset() {
        bytes.removeAll(keepingCapacity: true)
        isAligned = false
    }

    /// - Parameter start: index of the payload in the packet.
    mutating func append(_ packet: Span<UInt8>, from start: Int, startsUnit: Bool) -> [Output] {
        guard startsUnit else {
            guard isAligned else { return [] }
            append(packet, start..<packet.count)
            return completeSections()
        }
        let next = start + 1 + Int(packet[start])
        guard next <= packet.count else {
            reset()
            return [.badPointer]
        }
        var outputs: [Output] = []
        if isAligned {
            append(packet, (start + 1)..<next)
            outputs = completeSections()
        }
        reset()
        isAligned = true
        append(packet, next..<packet.count)
        return outputs + completeSections()
    }

    private mutating func append(_ packet: Span<UInt8>, _ range: Range<Int>) {
        for index in range { bytes.append(packet[index]) }
    }

    private mutating func completeSections() -> [Output] {
        var sections: [Output] = []
        var start = 0
        // A table_id of 0xFF is stuffing up to the end of the packet.
        while start + 3 <= bytes.count, bytes[start] != 0xFF {
            let length = 3 + Int(bytes[start + 1] & 0x0F) << 8 + Int(bytes[start + 2])
            guard start + length <= bytes.count, length <= Self.largest + 3 else { break }
            sections.append(.section(Array(bytes[start..<start + length])))
            start += length
        }
        if start < bytes.count, bytes[start] == 0xFF {
            reset()
        } else {
            bytes.removeSubrange(..<start)
        }
        return sections
    }
}
