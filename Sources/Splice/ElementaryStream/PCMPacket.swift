/// PCM of which one PES packet is one frame: four bytes say how to read the samples behind them. The packets keep
/// those bytes, because nothing else says it.
enum PCMPacket {
    private static let headerSize = 4

    /// SMPTE 302M-2007 §5: AES3 subframes, two channels in every five, six or seven bytes.
    static func smpte302(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + headerSize <= end else { return .needsMore }
        let size = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        let pairs = Int(bytes[offset + 2] >> 6) + 1
        let sampleSize = Int(bytes[offset + 3] >> 4 & 3)
        guard sampleSize < 3 else { return .none }
        let instant = pairs * (5 + sampleSize)
        return frame(.smpte302, size: size, instant: instant, channels: 2 * pairs, sampleRate: 48_000)
    }

    /// Blu-ray Disc: big-endian samples, an odd number of channels filled up by one.
    static func bluray(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + headerSize <= end else { return .needsMore }
        let size = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        let channels = blurayChannels[Int(bytes[offset + 2] >> 4)]
        let sampleRate = bluraySampleRates[Int(bytes[offset + 2] & 0x0F)]
        let sampleBytes = [0, 2, 3, 3][Int(bytes[offset + 3] >> 6)]
        guard channels > 0, sampleRate > 0, sampleBytes > 0 else { return .none }
        let instant = (channels + channels % 2) * sampleBytes
        return frame(.blurayPCM, size: size, instant: instant, channels: channels, sampleRate: sampleRate)
    }

    /// By channel_assignment; 0 is reserved.
    private static let blurayChannels = [0, 1, 0, 2, 3, 3, 4, 4, 5, 6, 7, 8, 0, 0, 0, 0]
    /// Hz by sampling_frequency; 0 is reserved.
    private static let bluraySampleRates = [0, 48_000, 0, 0, 96_000, 192_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// Samples per channel of a packet, by its header; 0 for one that is not whole.
    static func sampleCount(of packet: ArraySlice<UInt8>, _ codec: AudioConfiguration.Codec) -> Int {
        let head = Array(packet.prefix(headerSize))
        let found =
            codec == .smpte302
            ? smpte302(head, at: 0, end: head.count) : bluray(head, at: 0, end: head.count)
        guard case .frame(let header) = found else { return 0 }
        return header.duration
    }

    /// - Parameter instant: bytes of one sample of every channel.
    private static func frame(
        _ codec: AudioConfiguration.Codec, size: Int, instant: Int, channels: Int, sampleRate: Int
    ) -> AudioFrameHeader.Outcome {
        guard size > 0, size.isMultiple(of: instant) else { return .none }
        let format = AudioFrameHeader.Format(
            codec: codec, sampleRate: sampleRate, channelCount: channels, samplesPerFrame: 0)
        return .frame(
            AudioFrameHeader(size: headerSize + size, headerSize: 0, format: format, samples: size / instant))
    }
}
