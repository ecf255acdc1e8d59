import Media

/// The four-byte header and adaptation field of one transport packet (ISO/IEC 13818-1 §2.4.3.2, §2.4.3.4).
struct TransportPacket: Equatable, Sendable {
    static let nullPID: UInt16 = 0x1FFF

    let pid: UInt16
    /// transport_error_indicator: a demodulator could not correct this packet.
    let hasError: Bool
    /// payload_unit_start_indicator.
    let startsUnit: Bool
    let isScrambled: Bool
    /// 0 ..< 16; counts the packets of a PID that carry payload.
    let continuityCounter: UInt8
    /// discontinuity_indicator: the counter was reset on purpose.
    let hasDiscontinuityIndicator: Bool
    /// The adaptation field is filled up with stuffing, as at the end of a PES packet.
    let isStuffed: Bool
    /// adaptation_field_length reaches beyond the packet.
    let isMalformed: Bool
    /// Offsets into the segment; empty when the packet carries none.
    let payload: Range<Int>

    /// Its payload is what its sender meant.
    var isReadable: Bool { !hasError && !isMalformed && !isScrambled }

    /// - Parameter offset: of the sync byte; 188 bytes follow it.
    @inline(__always)
    init(_ bytes: [UInt8], at offset: Int) {
        let second = bytes[offset + 1]
        let fourth = bytes[offset + 3]
        pid = UInt16(second & 0x1F) << 8 | UInt16(bytes[offset + 2])
        hasError = second & 0x80 != 0
        startsUnit = second & 0x40 != 0
        isScrambled = fourth & 0xC0 != 0
        continuityCounter = fourth & 0x0F
        let end = offset + PacketSync.packetSize
        let hasPayload = fourth & 0x10 != 0
        guard fourth & 0x20 != 0 else {
            hasDiscontinuityIndicator = false
            isStuffed = false
            isMalformed = false
            payload = hasPayload ? offset + 4..<end : end..<end
            return
        }
        let adaptation = AdaptationField(bytes, at: offset + 4)
        hasDiscontinuityIndicator = adaptation.announcesDiscontinuity
        isStuffed = adaptation.isStuffed
        isMalformed = adaptation.length > 183
        let start = min(end, offset + 5 + adaptation.length)
        payload = hasPayload ? start..<end : end..<end
    }
}

/// What the demuxer reads of an adaptation field (ISO/IEC 13818-1 §2.4.3.4).
private struct AdaptationField {
    let length: Int
    let announcesDiscontinuity: Bool
    let isStuffed: Bool

    /// - Parameter offset: of adaptation_field_length.
    init(_ bytes: [UInt8], at offset: Int) {
        length = Int(bytes[offset])
        guard length > 0, length <= 183 else {
            announcesDiscontinuity = false
            isStuffed = length == 0  // a single byte of stuffing is written as an empty field
            return
        }
        let flags = bytes[offset + 1]
        announcesDiscontinuity = flags & 0x80 != 0
        var used = 1
        if flags & 0x10 != 0 { used += 6 }  // PCR
        if flags & 0x08 != 0 { used += 6 }  // OPCR
        if flags & 0x04 != 0 { used += 1 }  // splice_countdown
        for flag: UInt8 in [0x02, 0x01] where flags & flag != 0 && used < length {
            used += 1 + Int(bytes[offset + 1 + used])  // private data, extension: each behind its length
        }
        isStuffed = used < length
    }
}
