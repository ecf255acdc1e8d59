import Media

/// Tells whether the packets of one PID that are marked as scrambled are so (ISO/IEC 13818-1 §2.4.3.3).
///
/// transport_scrambling_control is a claim: some descramblers leave it set. A PES header where a unit starts proves that the
/// payload is clear, from there up to the next unit.
struct ScramblingMark: Equatable, Sendable {
    private var isWrong = false

    /// Whether the payload of `packet` is clear. Packets of one PID come in order.
    @inline(__always)
    mutating func isClear(_ packet: TransportPacket, of bytes: [UInt8]) -> Bool {
        guard packet.isMarkedScrambled else { return true }
        if packet.startsUnit { isWrong = PESHeader.begins(bytes[packet.payload]) }
        return isWrong
    }
}
