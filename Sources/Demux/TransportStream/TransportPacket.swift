import Media

/// The four-byte header and adaptation field of one transport packet (ISO/IEC 13818-1 §2.4.3.2, §2.4.3.4).
struct TransportPacket: Equatable, Sendable {
    static let nullPID: UInt16 = 0x1FFF

    let pid: UInt16
    /// transport_error_indicator: a demodulator could not correct this packet.
    let hasError: Bool
    /// payload_unit_start_indicator.
    let startsUnit: Bool
    /// Whether transport_scrambling_control is set. `ScramblingMark` tells whether the payload is scrambled.
    let isMarkedScrambled: Bool
    /// 0 ..< 16; counts the packets of a PID with payload.
    let continuityCounter: UInt8
    /// discontinuity_indicator: the counter was reset on purpose.
    let hasDiscontinuityIndicator: Bool
    /// Whether the adaptation field contains stuffing, as at the end of a PES packet.
    let isStuffed: Bool
    /// Whether adaptation_field_length reaches past the end of the packet.
    let isMalformed: Bool
    /// Offsets into the segment; empty if the packet has no payload.
    let payload: Range<Int>

    /// Whether the continuity counter of this packet is the one after `counter`.
    func follows(_ counter: UInt8) -> Bool { (counter &+ 1) & 15 == continuityCounter }

    /// Whether the payload can be used, unless it is scrambled: no error, not malformed.
    var isIntact: Bool { !hasError && !isMalformed }

    /// - Parameter offset: the offset of the sync byte; 188 bytes are there.
    @inline(__always)
    init(_ bytes: [UInt8], at offset: Int) {
        let second = bytes[offset + 1]
        let fourth = bytes[offset + 3]
        pid = UInt16(second & 0x1F) << 8 | UInt16(bytes[offset + 2])
        hasError = second & 0x80 != 0
        startsUnit = second & 0x40 != 0
        isMarkedScrambled = fourth & 0xC0 != 0
        continuityCounter = fourth & 0x0F
        let end = offset + PacketStride.packetSize
        let hasPayload = fourth & 0x10 != 0
        guard fourth & 0x20 != 0 else {
            hasDiscontinuityIndicator = false
            isStuffed = false
            isMalformed = false
            payload = hasPayload ? offset + 4..<end : end..<end
            return
        }
        let adaptation = AdaptationField(bytes, at: offset + 4)
        hasDiscontinuityIndicator = adaptation.hasDiscontinuityIndicator
        isStuffed = adaptation.isStuffed
        isMalformed = adaptation.length > 183
        let start = min(end, offset + 5 + adaptation.length)
        payload = hasPayload ? start..<end : end..<end
    }
}

/// The fields of an adaptation field that the demuxer needs (ISO/IEC 13818-1 §2.4.3.4).
private struct AdaptationField {
    let length: Int
    let hasDiscontinuityIndicator: Bool
    let isStuffed: Bool

    /// - Parameter offset: the offset of adaptation_field_length.
    init(_ bytes: [UInt8], at offset: Int) {
        length = Int(bytes[offset])
        guard length > 0, length <= 183 else {
            hasDiscontinuityIndicator = false
            isStuffed = length == 0  // an empty field is a single byte of stuffing
            return
        }
        let flags = bytes[offset + 1]
        hasDiscontinuityIndicator = flags & 0x80 != 0
        var fieldLength = 1
        if flags & 0x10 != 0 { fieldLength += 6 }  // PCR
        if flags & 0x08 != 0 { fieldLength += 6 }  // OPCR
        if flags & 0x04 != 0 { fieldLength += 1 }  // splice_countdown
        for flag: UInt8 in [0x02, 0x01] where flags & flag != 0 && fieldLength < length {
            fieldLength += 1 + Int(bytes[offset + 1 + fieldLength])  // private data, extension: each after its length
        }
        isStuffed = fieldLength < length
    }
}
