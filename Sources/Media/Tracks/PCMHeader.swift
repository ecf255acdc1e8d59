/// The four-byte header of a PES packet of PCM, which defines the format of the samples after it.
package struct PCMHeader: Equatable, Sendable {
    package static let byteCount = 4

    /// Bytes of samples after the header.
    package let payloadByteCount: Int
    package let channelCount: Int
    package let sampleRate: SampleRate
    /// Bytes of one sample of every channel, padding included.
    private let sampleFrameByteCount: Int

    /// Samples per channel.
    package var sampleCount: Int { payloadByteCount / sampleFrameByteCount }

    /// SMPTE 302M-2007 §5: AES3 subframes, two channels in every five, six or seven bytes.
    /// - Parameter bytes: the header, at least four bytes.
    /// - Returns: nil if a field is reserved or the size is no multiple of a sample frame.
    package init?(smpte302 bytes: ArraySlice<UInt8>) {
        let header = Array(bytes.prefix(Self.byteCount))
        let pairs = Int(header[2] >> 6) + 1
        let sampleSize = Int(header[3] >> 4 & 3)
        guard sampleSize < 3 else { return nil }
        self.init(header, sampleFrameByteCount: pairs * (5 + sampleSize), channelCount: 2 * pairs, sampleRate: 48_000)
    }

    /// Blu-ray Disc: big-endian samples; an odd number of channels is padded by one.
    /// - Parameter bytes: the header, at least four bytes.
    /// - Returns: nil if a field is reserved or the size is no multiple of a sample frame.
    package init?(bluray bytes: ArraySlice<UInt8>) {
        let header = Array(bytes.prefix(Self.byteCount))
        let channels = Self.blurayChannels[Int(header[2] >> 4)]
        let sampleBytes = [0, 2, 3, 3][Int(header[3] >> 6)]
        guard channels > 0, sampleBytes > 0, let sampleRate = SampleRate(Self.bluraySampleRates[Int(header[2] & 0x0F)])
        else { return nil }
        self.init(
            header, sampleFrameByteCount: (channels + channels % 2) * sampleBytes, channelCount: channels,
            sampleRate: sampleRate)
    }

    private init?(_ header: [UInt8], sampleFrameByteCount: Int, channelCount: Int, sampleRate: SampleRate) {
        payloadByteCount = Int(header[0]) << 8 | Int(header[1])
        self.sampleFrameByteCount = sampleFrameByteCount
        self.channelCount = channelCount
        self.sampleRate = sampleRate
        guard payloadByteCount > 0, payloadByteCount.isMultiple(of: sampleFrameByteCount) else { return nil }
    }

    /// Channel counts by channel_assignment; 0 is reserved.
    private static let blurayChannels = [0, 1, 0, 2, 3, 3, 4, 4, 5, 6, 7, 8, 0, 0, 0, 0]
    /// Sample rates in Hz by sampling_frequency; 0 is reserved.
    private static let bluraySampleRates = [0, 48_000, 0, 0, 96_000, 192_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// Samples per channel of a packet, by its header; 0 if the header is truncated or invalid.
    package static func sampleCount(of packet: ArraySlice<UInt8>, _ codec: AudioConfiguration.Codec) -> Int {
        guard packet.count >= byteCount else { return 0 }
        let header = codec == .smpte302 ? PCMHeader(smpte302: packet) : PCMHeader(bluray: packet)
        return header?.sampleCount ?? 0
    }
}
