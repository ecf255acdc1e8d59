/// The times in the header of a PES packet (ISO/IEC 13818-1 §2.4.3.7), in ticks of 90 kHz below 2^33.
struct PESTimes: Equatable, Sendable {
    let presentation: Int64?
    /// DTS, or PTS where they are equal.
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

    /// Whether stream_id is one whose header has flags.
    private static func hasHeader(_ streamID: UInt8) -> Bool {
        streamID == 0xBD || streamID == 0xFD || (0xC0...0xEF).contains(streamID)
    }

    private static func stamp(_ packet: Span<UInt8>, at index: Int) -> Int64 {
        let high = Int64(packet[index] >> 1 & 7) << 30
        let middle = Int64(packet[index + 1]) << 22 | Int64(packet[index + 2] >> 1) << 15
        return high | middle | Int64(packet[index + 3]) << 7 | Int64(packet[index + 4] >> 1)
    }
}
