/// A builder for transport packets, sections and PES packets (ISO/IEC 13818-1 §2.4.3, §2.4.4), correct or faulty.
package struct TransportStreamBuilder: Sendable {
    package struct Stream: Sendable {
        let pid: UInt16
        let type: UInt8
        let descriptors: [UInt8]

        package init(pid: UInt16, type: UInt8, descriptors: [UInt8] = []) {
            self.pid = pid
            self.type = type
            self.descriptors = descriptors
        }
    }

    /// Whole packets of 188 bytes.
    package private(set) var bytes: [UInt8] = []
    private var counters: [UInt16: UInt8] = [:]

    package init() {}

    /// Removes and returns the bytes written so far. The next bytes are another segment of the same multiplex.
    package mutating func cut() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    package mutating func tables(_ streams: [Stream], program: UInt16 = 1, mapPID: UInt16 = 0x1000) {
        association([(program, mapPID)])
        map(streams, program: program, mapPID: mapPID)
    }

    package mutating func association(_ programs: [(program: UInt16, mapPID: UInt16)]) {
        let body = programs.flatMap { Self.pair($0.program) + Self.pair(0xE000 | $0.mapPID) }
        sections([Self.section(table: 0, id: 1, body)], pid: 0)
    }

    package mutating func map(
        _ streams: [Stream], program: UInt16 = 1, mapPID: UInt16 = 0x1000, isIntact: Bool = true
    ) {
        let loop = streams.flatMap { stream in
            [stream.type] + Self.pair(0xE000 | stream.pid) + Self.pair(0xF000 | UInt16(stream.descriptors.count))
                + stream.descriptors
        }
        var section = Self.section(table: 2, id: program, Self.pair(0xFFFF) + Self.pair(0xF000) + loop)
        if !isIntact { section[section.count - 1] ^= 1 }
        sections([section], pid: mapPID)
    }

    /// The sections in sequence, in as many packets as they need.
    package mutating func sections(_ sections: [[UInt8]], pid: UInt16) {
        var rest = ([0] + sections.joined())[...]
        var isFirst = true
        while !rest.isEmpty {
            let part = rest.prefix(184)
            packet(
                pid: pid, startsUnit: isFirst, payload: Array(part) + [UInt8](repeating: 0xFF, count: 184 - part.count))
            rest = rest.dropFirst(part.count)
            isFirst = false
        }
    }

    /// One PES packet; `isBounded` writes its length. The last transport packet is filled by adaptation stuffing.
    package mutating func pes(
        pid: UInt16, streamID: UInt8 = 0xE0, pts: Int64? = nil, dts: Int64? = nil, isBounded: Bool = false,
        _ payload: [UInt8]
    ) {
        packets(pid: pid, Self.pesPacket(streamID: streamID, pts: pts, dts: dts, isBounded: isBounded, payload))
    }

    package static func pesPacket(
        streamID: UInt8 = 0xE0, pts: Int64?, dts: Int64? = nil, isBounded: Bool = false, _ payload: [UInt8]
    ) -> [UInt8] {
        var times: [UInt8] = []
        if let pts { times += timestamp(pts, prefix: dts == nil ? 2 : 3) }
        if let dts { times += timestamp(dts, prefix: 1) }
        let flags: UInt8 = pts == nil ? 0 : dts == nil ? 0x80 : 0xC0
        let length = isBounded ? UInt16(3 + times.count + payload.count) : 0
        return [0, 0, 1, streamID] + pair(length) + [0x80, flags, UInt8(times.count)] + times + payload
    }

    /// The bytes of a unit, in as many packets as they need.
    package mutating func packets(pid: UInt16, startsUnit: Bool = true, _ unit: [UInt8]) {
        var rest = unit[...]
        var isFirst = startsUnit
        repeat {
            let part = rest.prefix(184)
            packet(pid: pid, startsUnit: isFirst, payload: Array(part))
            rest = rest.dropFirst(part.count)
            isFirst = false
        } while !rest.isEmpty
    }

    /// One packet; a payload under 184 bytes is filled up by an adaptation field.
    package mutating func packet(
        pid: UInt16, startsUnit: Bool = false, payload: [UInt8], hasError: Bool = false, isScrambled: Bool = false,
        announcesDiscontinuity: Bool = false, counter: UInt8? = nil
    ) {
        let next = counter ?? counters[pid].map { ($0 &+ 1) & 15 } ?? 0
        counters[pid] = next
        let fill = 184 - payload.count
        let second = UInt8(pid >> 8) | (startsUnit ? 0x40 : 0) | (hasError ? 0x80 : 0)
        let control: UInt8 = (fill > 0 ? 0x30 : 0x10) | (isScrambled ? 0x80 : 0)
        bytes += [0x47, second, UInt8(truncatingIfNeeded: pid), control | next]
        if fill > 0 { bytes.append(UInt8(fill - 1)) }
        if fill > 1 {
            bytes.append(announcesDiscontinuity ? 0x80 : 0)
            bytes += [UInt8](repeating: 0xFF, count: fill - 2)
        }
        bytes += payload
    }

    /// Repeats the last packet.
    package mutating func repeatLastPacket() { bytes += bytes.suffix(188) }

    /// Skips `count` continuity counter values, as if packets of this PID were lost.
    package mutating func skip(_ count: UInt8, pid: UInt16) { counters[pid, default: 15] &+= count }

    package mutating func junk(_ junk: [UInt8]) { bytes += junk }

    private static func section(table: UInt8, id: UInt16, _ body: [UInt8]) -> [UInt8] {
        let length = UInt16(5 + body.count + 4)
        let head = [table] + pair(0xB000 | length) + pair(id) + [0xC1, 0, 0]
        let section = head + body
        return section + crc(section)
    }

    /// The CRC, computed bit by bit as in Annex A.
    private static func crc(_ bytes: [UInt8]) -> [UInt8] {
        var register = UInt32.max
        for byte in bytes {
            for bit in (0..<8).reversed() {
                let feedback = register >> 31 ^ UInt32(byte >> UInt8(bit) & 1)
                register = register << 1 ^ (feedback == 1 ? 0x04C1_1DB7 : 0)
            }
        }
        return pair(UInt16(register >> 16)) + pair(UInt16(truncatingIfNeeded: register))
    }

    private static func timestamp(_ value: Int64, prefix: UInt8) -> [UInt8] {
        [
            prefix << 4 | UInt8(value >> 30 & 7) << 1 | 1, UInt8(value >> 22 & 0xFF),
            UInt8(value >> 15 & 0x7F) << 1 | 1, UInt8(value >> 7 & 0xFF), UInt8(value & 0x7F) << 1 | 1,
        ]
    }

    private static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}
