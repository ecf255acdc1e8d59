/// The packets of a transport stream, read without the demuxer and the multiplexer that the tests are about.
package struct TransportStreamScan: Sendable {
    package struct Packet: Sendable {
        /// Position in the stream, in packets.
        package let number: Int
        package let pid: Int
        package let counter: Int
        package let startsUnit: Bool
        package let discontinuity: Bool
        package let randomAccess: Bool
        /// PCR in 27 MHz units.
        package let clock: Int64?
        package let payload: ArraySlice<UInt8>?
    }

    package struct PES: Sendable {
        /// Number of its first packet.
        package let packet: Int
        package let pid: Int
        package let streamID: UInt8
        /// 33 bits.
        package let pts: Int64
        package let dts: Int64
        package let payload: [UInt8]
        package let randomAccess: Bool
        package let hasClock: Bool
    }

    package let packets: [Packet]

    package init?(_ bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: 188) else { return nil }
        var packets: [Packet] = []
        for start in stride(from: 0, to: bytes.count, by: 188) {
            guard bytes[start] == 0x47 else { return nil }
            packets.append(Self.packet(bytes[start..<start + 188], number: start / 188))
        }
        self.packets = packets
    }

    private static func packet(_ bytes: ArraySlice<UInt8>, number: Int) -> Packet {
        let base = bytes.startIndex
        let hasField = bytes[base + 3] & 0x20 != 0
        let length = hasField ? Int(bytes[base + 4]) + 1 : 0
        let flags = length > 1 ? bytes[base + 5] : 0
        var clock: Int64?
        if flags & 0x10 != 0 {
            let high = bytes[(base + 6)..<(base + 10)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let low = Int64(bytes[base + 10])
            clock = (high << 1 | low >> 7) * 300 + (low & 1) << 8 + Int64(bytes[base + 11])
        }
        return Packet(
            number: number, pid: Int(bytes[base + 1] & 0x1F) << 8 | Int(bytes[base + 2]),
            counter: Int(bytes[base + 3] & 15), startsUnit: bytes[base + 1] & 0x40 != 0,
            discontinuity: flags & 0x80 != 0, randomAccess: flags & 0x40 != 0, clock: clock,
            payload: bytes[base + 3] & 0x10 != 0 ? bytes[(base + 4 + length)...] : nil)
    }

    /// The PES packets of a PID, in order.
    package func packetizedElements(of pid: Int) -> [PES] {
        var units: [(first: Packet, bytes: [UInt8])] = []
        for packet in packets where packet.pid == pid {
            guard let payload = packet.payload else { continue }
            if packet.startsUnit { units.append((packet, [])) }
            if !units.isEmpty { units[units.count - 1].bytes += payload }
        }
        return units.map { first, bytes in
            let header = 9 + Int(bytes[8])
            let pts = Self.timestamp(bytes[9..<14])
            return PES(
                packet: first.number, pid: pid, streamID: bytes[3], pts: pts,
                dts: bytes[7] & 0x40 != 0 ? Self.timestamp(bytes[14..<19]) : pts, payload: Array(bytes[header...]),
                randomAccess: first.randomAccess, hasClock: first.clock != nil)
        }
    }

    /// The sections of a PID, in order, without stuffing.
    package func sections(of pid: Int) -> [(packet: Int, bytes: [UInt8])] {
        var units: [(packet: Int, bytes: [UInt8])] = []
        for packet in packets where packet.pid == pid {
            guard let payload = packet.payload else { continue }
            if packet.startsUnit { units.append((packet.number, [])) }
            if !units.isEmpty { units[units.count - 1].bytes += payload }
        }
        return units.map { number, bytes in
            let section = bytes.dropFirst(1 + Int(bytes[0]))
            let base = section.startIndex
            let length = Int(section[base + 1] & 15) << 8 | Int(section[base + 2])
            return (number, Array(section.prefix(3 + length)))
        }
    }

    private static func timestamp(_ bytes: ArraySlice<UInt8>) -> Int64 {
        let base = bytes.startIndex
        let high = Int64(bytes[base] >> 1 & 7) << 30
        let middle = Int64(bytes[base + 1]) << 22 | Int64(bytes[base + 2] >> 1) << 15
        return high | middle | Int64(bytes[base + 3]) << 7 | Int64(bytes[base + 4] >> 1)
    }

    /// Faults of the packet layer: broken continuity counters, discontinuities of the clock, PCR that steps back or by more
    /// than 40 ms, and tables that are more than 100 ms apart.
    package func faults(clockPID: Int) -> [String] {
        var faults: [String] = []
        var counters: [Int: Int] = [:]
        var clock: Int64?
        var tables: [Int: Int64] = [:]
        for packet in packets {
            if packet.discontinuity, packet.pid == clockPID {
                faults.append("packet \(packet.number): discontinuity_indicator")
            }
            let expected =
                ((counters[packet.pid] ?? packet.counter - (packet.payload == nil ? 0 : 1))
                    + (packet.payload == nil ? 0 : 1)) & 15
            if packet.counter != expected, !packet.discontinuity {
                faults.append("packet \(packet.number): counter of PID \(packet.pid)")
            }
            counters[packet.pid] = packet.counter
            if let now = packet.clock {
                if packet.pid != clockPID { faults.append("packet \(packet.number): PCR on PID \(packet.pid)") }
                let step = clock.map { Self.step(from: $0, to: now) } ?? 0
                if step < 0 || step > 40 * 27_000 { faults.append("packet \(packet.number): PCR step \(step)") }
                clock = now
            }
            if [0, 0x1000].contains(packet.pid), let clock {
                let step = tables[packet.pid].map { Self.step(from: $0, to: clock) } ?? 0
                if step > 100 * 27_000 + 40 * 27_000 {
                    faults.append("packet \(packet.number): table \(packet.pid) after \(step / 27_000) ms")
                }
                tables[packet.pid] = clock
            }
        }
        return faults
    }

    /// DTS − PCR of each PES packet of a PID, in 90 kHz ticks, at the last PCR before the packet's end.
    package func margins(of pid: Int) -> [Int64] {
        var clocks: [Int64] = []
        for packet in packets { clocks.append(packet.clock.map { $0 / 300 } ?? clocks.last ?? 0) }
        let units = packetizedElements(of: pid)
        let mine = packets.filter { $0.pid == pid && $0.payload != nil }.map(\.number)
        return zip(units, units.dropFirst().map(\.packet) + [packets.count]).map { unit, next in
            let last = mine.last { $0 < next } ?? unit.packet
            let wrap = Int64(1) << 33
            let ahead = (unit.dts - clocks[last] + wrap) % wrap
            return ahead < wrap / 2 ? ahead : ahead - wrap
        }
    }

    /// The shorter way from one PCR to another, across the wrap.
    private static func step(from old: Int64, to new: Int64) -> Int64 {
        let wrap: Int64 = (1 << 33) * 300
        let ahead = ((new - old) % wrap + wrap) % wrap
        return ahead < wrap / 2 ? ahead : ahead - wrap
    }
}
