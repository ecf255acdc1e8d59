/// Finds a recovery point SEI message (ISO/IEC 14496-10 §7.3.2.3.1, ISO/IEC 23008-2 §7.3.5, payloadType 6).
enum RecoveryPoint {
    private static let payloadType = 6

    static func isIn(_ unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec) -> Bool {
        let isSEI = codec == .h264 ? bytes[unit.start] & 0x1F == 6 : bytes[unit.start] >> 1 & 0x3F == 39
        guard isSEI else { return false }
        var reader = PayloadReader(bytes: bytes, offset: unit.start + (codec == .h264 ? 1 : 2), end: unit.end)
        while let type = reader.coded(), let size = reader.coded() {
            if type == payloadType { return true }
            // What is left is rbsp_trailing_bits when no message fits any more.
            for _ in 0..<size where reader.next() == nil { return false }
        }
        return false
    }

    /// Bytes of a NAL unit without emulation prevention.
    private struct PayloadReader {
        let bytes: [UInt8]
        var offset: Int
        let end: Int
        var zeros = 0

        init(bytes: [UInt8], offset: Int, end: Int) {
            self.bytes = bytes
            self.offset = offset
            self.end = end
        }

        mutating func next() -> UInt8? {
            if zeros >= 2, offset < end, bytes[offset] == 3 {
                offset += 1
                zeros = 0
            }
            guard offset < end else { return nil }
            let byte = bytes[offset]
            zeros = byte == 0 ? zeros + 1 : 0
            offset += 1
            return byte
        }

        /// A sum of bytes that goes on as long as they are 0xFF.
        mutating func coded() -> Int? {
            var sum = 0
            while let byte = next() {
                sum += Int(byte)
                if byte != 0xFF { return sum }
            }
            return nil
        }
    }
}
