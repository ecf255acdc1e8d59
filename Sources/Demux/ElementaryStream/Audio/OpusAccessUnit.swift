import Media

/// Opus in transport streams (the registration "Opus" and its extension descriptor): access units with a control header before
/// each Opus packet (RFC 6716 §3).
enum OpusAccessUnit {
    /// The largest packet: an Opus packet of each of eight channels.
    private static let largestPacket = 8 * 48 * 1275
    /// control_header_prefix is 0x3FF in eleven bits.
    static let firstByte: UInt8 = 0x7F

    /// - Precondition: Two bytes are at `offset`.
    static func header(
        _ bytes: [UInt8], at offset: Int, end: Int, _ channels: OpusChannels
    ) -> AudioFrameHeader.Outcome {
        guard bytes[offset] == firstByte, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
        let flags = bytes[offset + 1]
        var (position, size) = (offset + 2, 0)
        while true {
            guard position < end else { return .needsMore }
            let part = Int(bytes[position])
            position += 1
            size += part
            guard size <= largestPacket else { return .none }
            if part < 255 { break }
        }
        position += (flags & 0x10 != 0 ? 2 : 0) + (flags & 0x08 != 0 ? 2 : 0)  // start_trim, end_trim
        if flags & 0x04 != 0 {  // control_extension
            guard position < end else { return .needsMore }
            position += 1 + Int(bytes[position])
        }
        guard size > 0 else { return .none }
        guard position + min(size, 2) <= end else { return .needsMore }
        guard let samples = samples(ofPacket: bytes[position..<position + min(size, 2)]) else { return .none }
        let format = AudioFrameHeader.Format(
            codec: .opus, sampleRate: 48_000, channelCount: channels.count, samplesPerFrame: samples, opus: channels)
        return .frame(
            AudioFrameHeader(size: position - offset + size, headerSize: position - offset, format: format))
    }

    /// Returns the samples of a packet at 48 kHz by its first two bytes (RFC 6716 §3.1, §3.2); nil if it has more than 120 ms.
    private static func samples(ofPacket packet: ArraySlice<UInt8>) -> Int? {
        guard let first = packet.first else { return nil }
        let configuration = Int(first >> 3)
        let frame =
            switch configuration {
            case ..<12: [480, 960, 1920, 2880][configuration & 3]
            case ..<16: [480, 960][configuration & 1]
            default: [120, 240, 480, 960][configuration & 3]
            }
        let count: Int
        switch first & 3 {
        case 0: count = 1
        case 1, 2: count = 2
        default:
            guard let second = packet.dropFirst().first else { return nil }
            count = Int(second & 0x3F)
        }
        return (1...5760).contains(frame * count) ? frame * count : nil
    }
}
