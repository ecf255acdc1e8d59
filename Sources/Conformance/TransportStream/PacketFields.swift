/// The fields of a transport packet's header and adaptation field (ISO/IEC 13818-1 §2.4.3.2, §2.4.3.4).
struct PacketFields {
    static let size = 188
    static let syncByte: UInt8 = 0x47
    static let nullPID: UInt16 = 0x1FFF

    let pid: UInt16
    let hasError: Bool
    let startsUnit: Bool
    let isScrambled: Bool
    let counter: UInt8
    private(set) var announcesDiscontinuity = false
    /// program_clock_reference, in ticks of 27 MHz.
    private(set) var clockReference: Int64?
    /// Whether adaptation_field_control announces a payload. The counter counts such packets, even if the adaptation field
    /// leaves no byte of it.
    let announcesPayload: Bool
    /// The index of the payload in the packet; `size` if it has no byte.
    private(set) var payload: Int

    /// - Parameter packet: 188 bytes.
    init(_ packet: Span<UInt8>) {
        let control = packet[3]
        hasError = packet[1] & 0x80 != 0
        startsUnit = packet[1] & 0x40 != 0
        pid = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
        isScrambled = control & 0xC0 != 0
        counter = control & 0x0F
        announcesPayload = control & 0x10 != 0
        payload = announcesPayload ? 4 : Self.size
        guard control & 0x20 != 0 else { return }
        let length = Int(packet[4])
        if announcesPayload { payload = min(5 + length, Self.size) }
        guard length > 0 else { return }
        announcesDiscontinuity = packet[5] & 0x80 != 0
        if packet[5] & 0x10 != 0, length >= 7 { clockReference = Self.clockReference(in: packet) }
    }

    var hasPayload: Bool { payload < Self.size }

    private static func clockReference(in packet: Span<UInt8>) -> Int64 {
        let high = Int64(packet[6]) << 25 | Int64(packet[7]) << 17 | Int64(packet[8]) << 9
        let base = high | Int64(packet[9]) << 1 | Int64(packet[10] >> 7)
        return base * ClockTicks.perStamp + (Int64(packet[10] & 1) << 8 | Int64(packet[11]))
    }

    /// A hash of all bytes after the header, except the PCR: in nothing else may a duplicate differ (§2.4.3.3).
    func fingerprint(of packet: Span<UInt8>) -> UInt64 {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325
        for start in stride(from: 4, to: Self.size, by: 8) {
            var word = Self.word(packet, at: start)
            if clockReference != nil { word &= Self.clockMask(at: start) }
            value = (value ^ word) &* 0x100_0000_01B3
            value ^= value >> 32
        }
        return value
    }

    /// All bits but those of the PCR, which is in bytes 6 to 11, in the word at `start`.
    private static func clockMask(at start: Int) -> UInt64 { start == 4 ? 0xFFFF_0000_0000_0000 : .max }

    private static func word(_ packet: Span<UInt8>, at start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<(start + 8) { word = word << 8 | UInt64(packet[index]) }
        return word
    }
}

/// The times in the header of a PES packet (ISO/IEC 13818-1 §2.4.3.7), in ticks of 90 kHz below 2^33.
struct PESTimes: Equatable, Sendable {
    let presentation: Int64?
    /// DTS, or PTS if the packet contains no DTS because they are equal.
    let decode: Int64?

    /// - Parameter start: index of the payload of a packet that starts a unit.
    /// - Returns: nil if no PES packet with such a header starts there, or its header exceeds the transport packet.
    init?(_ packet: Span<UInt8>, from start: Int) {
        guard start + 9 <= packet.count, packet[start] == 0, packet[start + 1] == 0, packet[start + 2] == 1,
            Self.hasHeader(packet[start + 3])
        else { return nil }
        let flags = packet[start + 7] >> 6
        guard flags & 2 != 0 else {
            (presentation, decode) = (nil, nil)
            return
        }
        guard start + (flags == 3 ? 19 : 14) <= packet.count else { return nil }
        let pts = Self.stamp(packet, at: start + 9)
        presentation = pts
        decode = flags == 3 ? Self.stamp(packet, at: start + 14) : pts
    }

    /// Whether a PES packet with this stream_id has a header with flags.
    private static func hasHeader(_ streamID: UInt8) -> Bool {
        streamID == 0xBD || streamID == 0xFD || (0xC0...0xEF).contains(streamID)
    }

    private static func stamp(_ packet: Span<UInt8>, at index: Int) -> Int64 {
        let high = Int64(packet[index] >> 1 & 7) << 30
        let middle = Int64(packet[index + 1]) << 22 | Int64(packet[index + 2] >> 1) << 15
        return high | middle | Int64(packet[index + 3]) << 7 | Int64(packet[index + 4] >> 1)
    }
}
