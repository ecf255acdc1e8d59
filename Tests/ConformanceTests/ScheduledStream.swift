/// A transport stream at a constant bit rate without a fault, and ways to plant faults in it.
///
/// It consists of slots of 50 packets, one for each 40 ms: a video frame of 30 packets with a PCR in the first, an AAC
/// frame, PAT and PMT in every other slot, and null packets. A packet lasts 0.8 ms: 21 600 ticks of 27 MHz.
struct ScheduledStream {
    static let (associationPID, mapPID, videoPID, audioPID, dataPID) = (
        UInt16(0), UInt16(0x1000), UInt16(0x100), UInt16(0x101), UInt16(0x102)
    )
    static let (slotSize, ticksPerPacket) = (50, Int64(21_600))
    static let (videoStart, videoSize, audioStart) = (2, 30, 40)

    struct Options: Sendable {
        var slots = 50
        /// Ticks of 27 MHz.
        var firstClock: Int64 = 27_000_000
        /// From the arrival of a frame's first packet to its decode time, in ticks of 90 kHz.
        var lead: Int64 = 45_000
        var streams: [(type: UInt8, pid: UInt16, descriptors: [UInt8])] = [
            (0x1B, videoPID, []), (0x0F, audioPID, []), (0x15, dataPID, []),
        ]
        var clockPID = videoPID

        /// With another entry of the PMT for audio.
        static func audio(type: UInt8 = 0x0F, pid: UInt16 = audioPID, _ descriptors: [UInt8] = []) -> Options {
            var options = Options()
            options.streams[1] = (type, pid, descriptors)
            return options
        }
    }

    let options: Options
    var packets: [[UInt8]] = []
    private var counters: [UInt16: UInt8] = [:]

    init(_ options: Options = Options()) {
        self.options = options
        for slot in 0..<options.slots { appendSlot(slot) }
    }

    var bytes: [UInt8] { Array(packets.joined()) }

    /// The PCR of a packet at its time of arrival.
    func clock(at index: Int) -> Int64 { wrapped(options.firstClock + Int64(index) * Self.ticksPerPacket) }

    private mutating func appendSlot(_ slot: Int) {
        let first = slot * Self.slotSize
        packets += [[UInt8]](repeating: Self.null, count: Self.slotSize)
        if slot % 2 == 0 {
            place(associationPacket(), at: first)
            place(mapPacket(), at: first + 1)
        }
        let decode = (clock(at: first + Self.videoStart) / 300 + options.lead) & 0x1_FFFF_FFFF
        for index in 0..<Self.videoSize {
            let position = first + Self.videoStart + index
            let header = Self.pesHeader(0xE0, pts: (decode + 7200) & 0x1_FFFF_FFFF, dts: decode)
            place(
                Self.packet(
                    Self.videoPID, startsUnit: index == 0, clock: index == 0 ? clock(at: position) : nil,
                    payload: index == 0 ? header : [], fill: UInt8(truncatingIfNeeded: position)), at: position)
        }
        let presentation = (clock(at: first + Self.audioStart) / 300 + options.lead) & 0x1_FFFF_FFFF
        place(
            Self.packet(Self.audioPID, startsUnit: true, payload: Self.pesHeader(0xC0, pts: presentation)),
            at: first + Self.audioStart)
    }

    /// Replaces a packet, and gives it the next counter of its PID.
    mutating func place(_ packet: [UInt8], at index: Int) {
        var packet = packet
        let pid = Self.pid(of: packet)
        let counter = counters[pid].map { ($0 &+ 1) & 15 } ?? 0
        counters[pid] = counter
        packet[3] = packet[3] & 0xF0 | counter
        packets[index] = packet
    }

    func associationPacket() -> [UInt8] {
        Self.sectionPacket(0, Self.section(0x00, [0, 1] + Self.pair(0xE000 | Self.mapPID)))
    }

    func mapPacket() -> [UInt8] {
        let loop = options.streams.flatMap { stream in
            [stream.type] + Self.pair(0xE000 | stream.pid) + Self.pair(0xF000 | UInt16(stream.descriptors.count))
                + stream.descriptors
        }
        return Self.sectionPacket(
            Self.mapPID, Self.section(0x02, Self.pair(0xE000 | options.clockPID) + [0xF0, 0] + loop))
    }

    private func wrapped(_ clock: Int64) -> Int64 { clock % ((1 << 33) * 300) }
}

/// The bytes of packets, written without any of the code that reads them.
extension ScheduledStream {
    static let null = packet(0x1FFF, startsUnit: false)

    static func pid(of packet: [UInt8]) -> UInt16 { UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2]) }

    /// A packet of 188 bytes, filled up with `fill`.
    static func packet(
        _ pid: UInt16, startsUnit: Bool, clock: Int64? = nil, announces: Bool = false, payload: [UInt8] = [],
        fill: UInt8 = 0xFF
    ) -> [UInt8] {
        var packet = [0x47, UInt8(pid >> 8) | (startsUnit ? 0x40 : 0), UInt8(pid & 0xFF), 0x10]
        if clock != nil || announces {
            packet[3] = 0x30
            packet += [clock == nil ? 1 : 7, (announces ? 0x80 : 0) | (clock == nil ? 0 : 0x10)]
            if let clock { packet += clockField(clock) }
        }
        packet += payload
        return packet + [UInt8](repeating: fill, count: 188 - packet.count)
    }

    static func clockField(_ clock: Int64) -> [UInt8] {
        let (base, rest) = (clock / 300, clock % 300)
        return [
            UInt8(base >> 25), UInt8(base >> 17 & 0xFF), UInt8(base >> 9 & 0xFF), UInt8(base >> 1 & 0xFF),
            UInt8(base & 1) << 7 | 0x7E | UInt8(rest >> 8), UInt8(rest & 0xFF),
        ]
    }

    static func pesHeader(_ streamID: UInt8, pts: Int64?, dts: Int64? = nil) -> [UInt8] {
        let flags: UInt8 = pts == nil ? 0 : dts == nil ? 0x80 : 0xC0
        let times = (pts.map { stamp($0, dts == nil ? 2 : 3) } ?? []) + (dts.map { stamp($0, 1) } ?? [])
        return [0, 0, 1, streamID, 0, 0, 0x80, flags, UInt8(times.count)] + times
    }

    private static func stamp(_ value: Int64, _ prefix: UInt8) -> [UInt8] {
        [
            prefix << 4 | UInt8(value >> 30) << 1 | 1, UInt8(value >> 22 & 0xFF), UInt8(value >> 15 & 0x7F) << 1 | 1,
            UInt8(value >> 7 & 0xFF), UInt8(value & 0x7F) << 1 | 1,
        ]
    }

    static func sectionPacket(_ pid: UInt16, _ section: [UInt8]) -> [UInt8] {
        packet(pid, startsUnit: true, payload: [0] + section)
    }

    /// A section with the long header and a correct CRC_32.
    static func section(_ table: UInt8, hasSyntax: Bool = true, _ body: [UInt8]) -> [UInt8] {
        let head = [table] + pair((hasSyntax ? 0xB000 : 0x3000) | UInt16(9 + body.count))
        let section = head + [0, 1, 0xC1, 0, 0] + body
        return section + checksum(section)
    }

    /// CRC_32, bit by bit as in ISO/IEC 13818-1 Annex A.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var register = UInt32.max
        for bit in bytes.flatMap({ byte in (0..<8).reversed().map { UInt32(byte >> UInt8($0) & 1) } }) {
            let feedback = register >> 31 ^ bit
            register = register << 1 ^ (feedback == 1 ? 0x04C1_1DB7 : 0)
        }
        return [24, 16, 8, 0].map { UInt8(register >> $0 & 0xFF) }
    }

    static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
}

/// Ways to change a stream.
extension ScheduledStream {
    func indexes(of pid: UInt16) -> [Int] { packets.indices.filter { Self.pid(of: packets[$0]) == pid } }

    /// The index of the first video packet of a slot.
    func video(_ slot: Int) -> Int { slot * Self.slotSize + Self.videoStart }

    func audio(_ slot: Int) -> Int { slot * Self.slotSize + Self.audioStart }

    /// Replaces the packets of a PID in some slots by null packets, and continues its counters without them.
    mutating func remove(_ pid: UInt16, in slots: Range<Int>) {
        let range = (slots.lowerBound * Self.slotSize)..<(slots.upperBound * Self.slotSize)
        for index in indexes(of: pid) where range.contains(index) { packets[index] = Self.null }
        renumber(pid)
    }

    /// Gives the packets of a PID counters without an error.
    mutating func renumber(_ pid: UInt16) {
        var counter: UInt8 = 15
        for index in indexes(of: pid) {
            if packets[index][3] & 0x10 != 0 { counter = (counter + 1) & 15 }
            packets[index][3] = packets[index][3] & 0xF0 | counter
        }
    }

    /// Replaces a packet that is neither video, audio nor a table, and numbers its PID anew.
    mutating func insert(_ packet: [UInt8], at index: Int) {
        packets[index] = packet
        renumber(Self.pid(of: packet))
    }

    /// Changes the PCR in a packet.
    mutating func shiftClock(at index: Int, by ticks: Int64) {
        packets[index].replaceSubrange(6..<12, with: Self.clockField(clock(at: index) + ticks))
    }

    /// Changes all PCRs and times from a slot on, as where the stream of another encoder begins.
    mutating func shiftTime(from slot: Int, by ticks: Int64) {
        for index in indexes(of: Self.videoPID) where index >= video(slot) && packets[index][1] & 0x40 != 0 {
            shiftClock(at: index, by: ticks)
            let decode = clock(at: index) / 300 + options.lead + ticks / 300
            setHeader(at: index, from: 12, Self.pesHeader(0xE0, pts: decode + 7200, dts: decode))
        }
        for index in indexes(of: Self.audioPID) where index >= video(slot) {
            let presentation = clock(at: index) / 300 + options.lead + ticks / 300
            setHeader(at: index, from: 4, Self.pesHeader(0xC0, pts: presentation))
        }
    }

    mutating func setHeader(at index: Int, from start: Int, _ header: [UInt8]) {
        packets[index].replaceSubrange(start..<(start + header.count), with: header)
    }

    /// Gives the audio packet of a slot a PTS that is `lead` after its arrival.
    mutating func setAudioLead(_ lead: Int64?, slot: Int) {
        let index = audio(slot)
        let header = Self.pesHeader(0xC0, pts: lead.map { clock(at: index) / 300 + $0 })
        setHeader(at: index, from: 4, header)
    }
}
