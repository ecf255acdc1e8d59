import Media

/// A section with some fields to set and a correct CRC.
struct SectionSketch {
    var isEncrypted = false
    var adjustment: Int64 = 0
    /// nil: without a length, like old equipment.
    var hasLength = true
    var type: UInt8 = 0
    var command: [UInt8] = []
    var descriptors: [UInt8] = []

    var bytes: [UInt8] {
        let length = hasLength ? command.count : 0xFFF
        var body: [UInt8] = [0, (isEncrypted ? 0x80 : 0) | UInt8(adjustment >> 32)]
        body += (0..<4).map { UInt8(truncatingIfNeeded: adjustment >> (24 - 8 * $0)) }
        body += [0, 0xFF, 0xF0 | UInt8(length >> 8), UInt8(length & 0xFF), type] + command
        body += [UInt8(descriptors.count >> 8), UInt8(descriptors.count & 0xFF)] + descriptors
        let size = body.count + 4
        let section = [0xFC, 0x30 | UInt8(size >> 8), UInt8(size & 0xFF)] + body
        let crc = SectionCRC.value(section[...])
        return section + (0..<4).map { UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * $0)) }
    }

    /// splice_insert that begins a break, immediately or at `time`.
    static func out(event: UInt8, at time: Int64?, lasting duration: Int64? = nil, returns: Bool = false) -> Self {
        insert(event: event, flags: 0x80, at: time, lasting: duration, returns: returns)
    }

    static func back(event: UInt8, at time: Int64?) -> Self { insert(event: event, flags: 0, at: time) }

    private static func insert(
        event: UInt8, flags: UInt8, at time: Int64?, lasting duration: Int64? = nil, returns: Bool = false
    ) -> Self {
        var command: [UInt8] = [0, 0, 0, event, 0x7F]
        command.append(flags | 0x4F | (duration == nil ? 0 : 0x20) | (time == nil ? 0x10 : 0))
        if let time { command += clock(time, flag: 0xFE) }
        if let duration { command += clock(duration, flag: returns ? 0xFE : 0x7E) }
        return SectionSketch(type: 5, command: command + [0, 0, 0, 0])
    }

    static func clock(_ time: Int64, flag: UInt8) -> [UInt8] {
        [flag | UInt8(time >> 32 & 1)] + (0..<4).map { UInt8(truncatingIfNeeded: time >> (24 - 8 * $0)) }
    }
}
