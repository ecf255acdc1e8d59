import Media

/// PCM whose PES packets are one frame each. The packet keeps its header, because only the header defines how to read
/// the samples.
enum PCMPacket {
    static func smpte302(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + PCMHeader.byteCount <= end else { return .needsMore }
        return frame(.smpte302, PCMHeader(smpte302: bytes[offset...]))
    }

    static func bluray(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + PCMHeader.byteCount <= end else { return .needsMore }
        return frame(.blurayPCM, PCMHeader(bluray: bytes[offset...]))
    }

    private static func frame(_ codec: AudioConfiguration.Codec, _ header: PCMHeader?) -> AudioFrameHeader.Outcome {
        guard let header else { return .none }
        let format = AudioFrameHeader.Format(
            codec: codec, sampleRate: header.sampleRate, channelCount: header.channelCount, samplesPerFrame: 0)
        return .frame(
            AudioFrameHeader(
                size: PCMHeader.byteCount + header.payloadByteCount, headerSize: 0, format: format,
                samples: header.sampleCount))
    }
}
