package import Media
import Support

/// Supplemental enhancement information before a picture (ISO/IEC 14496-10 §7.3.2.3.1, ISO/IEC 23008-2 §7.3.5), by
/// payloadType (Annex D of both).
enum SEIMessage: Int {
    case userDataRegistered = 4
    case recoveryPoint = 6
    case alternativeTransferCharacteristics = 147

    /// Returns the bytes of the first such message in `unit`, at most `limit`, without emulation prevention; nil if there
    /// is none.
    func bytes(in unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec, limit: Int) -> [UInt8]? {
        guard var reader = PayloadReader(unit, of: bytes, codec: codec), reader.skipToMessage(rawValue) != nil else {
            return nil
        }
        return (0..<limit).reduce(into: []) { found, _ in if let byte = reader.next() { found.append(byte) } }
    }

    /// Returns the bytes of each such message in `unit`, at most `limit` of each, without emulation prevention.
    func all(in unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec, limit: Int) -> [[UInt8]] {
        guard var reader = PayloadReader(unit, of: bytes, codec: codec) else { return [] }
        var messages: [[UInt8]] = []
        while let size = reader.skipToMessage(rawValue) {
            var message: [UInt8] = []
            for _ in 0..<size {
                guard let byte = reader.next() else { return messages }
                if message.count < limit { message.append(byte) }
            }
            messages.append(message)
        }
        return messages
    }

    /// Reads the bytes of a NAL unit of SEI messages without emulation prevention.
    private struct PayloadReader {
        let bytes: [UInt8]
        var offset: Int
        let end: Int
        private var zeros = 0

        /// nil if `unit` has no SEI messages. HEVC has those before the picture and those after it.
        init?(_ unit: NALUnit, of bytes: [UInt8], codec: VideoConfiguration.Codec) {
            let header = bytes[unit.start]
            guard codec == .h264 ? header & 0x1F == 6 : 39...40 ~= header >> 1 & 0x3F else { return nil }
            StepCounter.add(unit.end - unit.start)
            self.bytes = bytes
            offset = unit.start + (codec == .h264 ? 1 : 2)
            end = unit.end
        }

        /// Moves to the next message of a payloadType.
        /// - Returns: its payloadSize; nil if there is none.
        mutating func skipToMessage(_ payloadType: Int) -> Int? {
            while let type = nextCodedNumber(), let size = nextCodedNumber() {
                if type == payloadType { return size }
                // If no further message fits, the remaining bytes are rbsp_trailing_bits.
                for _ in 0..<size where next() == nil { return nil }
            }
            return nil
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

        mutating func nextCodedNumber() -> Int? {
            var sum = 0
            while let byte = next() {
                sum += Int(byte)
                if byte != 0xFF { return sum }
            }
            return nil
        }
    }
}

extension VideoPacket {
    /// preferred_transfer_characteristics: the code point of ISO/IEC 23091-2 that a capable display shall use instead
    /// of that in the parameter sets; nil if the frame has none.
    package var preferredTransferCharacteristics: Int? {
        guard configuration.codec != .mpeg2 else { return nil }
        let bytes = Array(payload)
        let message = SEIMessage.alternativeTransferCharacteristics
        return LengthPrefixedNALUnits.units(of: bytes).lazy
            .compactMap { message.bytes(in: $0, of: bytes, codec: configuration.codec, limit: 1)?.first }.first.map(
                Int.init)
    }
}
