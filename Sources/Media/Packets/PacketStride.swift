/// The position of the first transport packet in bytes recognized as a transport stream, and the distance between
/// packets (ISO/IEC 13818-1 §2.4.3.2).
///
/// Some sources add bytes to each packet of 188 bytes: a timestamp of 4 bytes before it, or a Reed-Solomon code of 16
/// bytes after it. The bytes of a connection may begin inside a packet, or with other data.
@usableFromInline
package struct PacketStride: Equatable, Sendable {
    @inlinable package static var packetSize: Int { 188 }
    @inlinable package static var syncByte: UInt8 { 0x47 }
    /// Sync bytes in a row that prove a stride. Text and other media contain shorter rows.
    package static let provingPackets = 5
    /// Bytes before the first packet that are searched.
    package static let longestLead = 1 << 16
    package static let sizes = [packetSize, 192, 204]

    /// Index of the first packet's sync byte.
    package let start: Int
    /// Bytes from one sync byte to the next, one of `sizes`.
    package let size: Int

    /// Recognizes a transport stream by its sync bytes; nil if the bytes are not a transport stream, or too few.
    package init?(recognizing bytes: [UInt8]) {
        let end = min(bytes.count, Self.longestLead)
        for start in 0..<end where bytes[start] == Self.syncByte {
            for size in Self.sizes where Self.hasPackets(Self.provingPackets, in: bytes, from: start, by: size) {
                (self.start, self.size) = (start, size)
                return
            }
        }
        return nil
    }

    /// Whether `count` sync bytes stand `size` bytes apart from `start` on.
    package static func hasPackets(_ count: Int, in bytes: [UInt8], from start: Int, by size: Int) -> Bool {
        guard start + (count - 1) * size < bytes.count else { return false }
        return (0..<count).allSatisfy { bytes[start + $0 * size] == syncByte }
    }
}
