/// The fields of a transport packet's header and adaptation field (ISO/IEC 13818-1 §2.4.3.2, §2.4.3.4).
struct PacketFields {
    static let size = 188
    static let syncByte: UInt8 = 0x47
    static let nullPID: UInt16 = 0x1FFF

    let pid: UInt16
    /// transport_error_indicator
    let hasError: Bool
    /// payload_unit_start_indicator
    let startsUnit: Bool
    let isScrambled: Bool
    let counter: UInt8
    /// discontinuity_indicator
    private(set) var announcesDiscontinuity = false
    /// program_clock_reference, in ticks of 27 MHz.
    private(set) var clockReference: Int64?
    /// The index of the payload in the packet; `size` if there is none.
    private(set) var payload: Int

    /// - Parameter packet: 188 bytes.
    init(_ packet: Span<UInt8>) {
        let control = packet[3]
        hasError = packet[1] & 0x80 != 0
        startsUnit = packet[1] & 0x40 != 0
        pid = UInt16(packet[1] & 0x1F) << 8 | UInt16(packet[2])
        isScrambled = control & 0xC0 != 0
        counter = control & 0x0F
        payload = control & 0x10 == 0 ? Self.size : 4
        guard control & 0x20 != 0 else { return }
        let length = Int(packet[4])
        if control & 0x10 != 0 { payload = min(5 + length, Self.size) }
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

    /// A value that two packets of one PID share only if they are equal, except for their PCRs.
    ///
    /// It covers the first 16 bytes after the header and the last 8: enough to tell a duplicate from a packet after 15
    /// lost ones.
    func fingerprint(of packet: Span<UInt8>) -> UInt64 {
        var value: UInt64 = clockReference == nil ? Self.word(packet, at: 4) : 0
        value = (value ^ Self.word(packet, at: 12)) &* 0x9E37_79B9_7F4A_7C15
        return value ^ value >> 32 ^ Self.word(packet, at: 180)
    }

    private static func word(_ packet: Span<UInt8>, at start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<(start + 8) { word = word << 8 | UInt64(packet[index]) }
        return word
    }
}
