import Media

/// What the header of one audio frame says.
struct AudioFrameHeader: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        case frame(AudioFrameHeader)
        /// It may be a header, but not all of it is here.
        case needsMore
        /// No header begins here.
        case none
    }

    enum Use: Equatable, Sendable {
        case packet
        /// Nothing can be made of the frame; it is counted, and its time passes.
        case undecodable
        /// A further programme in the same stream, at the same time: not followed.
        case otherProgram
    }

    /// The part that makes an `AudioConfiguration`: frames with equal formats share one.
    struct Format: Equatable, Sendable {
        let codec: AudioConfiguration.Codec
        let sampleRate: Int
        var channelCount: Int
        let samplesPerFrame: Int
        /// The decoderSpecificInfo in its low bytes, big-endian.
        var specific: UInt64 = 0
        var specificSize = 0
        /// kbit/s, in the first 13 bits of `dec3`: of the first frame, for it may differ from frame to frame and means
        /// nothing.
        var dataRate = 0
        /// E-AC-3 only.
        var enhanced: EnhancedAC3?

        static func == (left: Self, right: Self) -> Bool {
            left.codec == right.codec && left.sampleRate == right.sampleRate
                && left.channelCount == right.channelCount && left.samplesPerFrame == right.samplesPerFrame
                && left.specific == right.specific
        }

        var specificBytes: [UInt8] {
            let rate = dataRate > 0 ? UInt64(min(dataRate, 0x1FFF)) << UInt64(8 * specificSize - 13) : 0
            return (0..<specificSize).reversed().map { UInt8(truncatingIfNeeded: (specific | rate) >> UInt64(8 * $0)) }
        }

        var configuration: AudioConfiguration {
            AudioConfiguration(
                codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
                decoderSpecificInfo: specificBytes)
        }
    }

    /// Bytes from the header's first to the frame's last.
    var size: Int
    /// Bytes in front that are not part of the packet.
    let headerSize: Int
    var format: Format
    var use = Use.packet
    /// An E-AC-3 or DTS frame that extends the one before it.
    var isDependent = false
    /// PCM: samples per channel of this frame.
    var samples: Int?
    /// Bytes behind the packet that go with it and are not given.
    var trailerSize = 0

    /// Samples per channel of this frame.
    var duration: Int { samples ?? format.samplesPerFrame }

    /// Takes in a frame that extends this one.
    mutating func merge(_ dependent: AudioFrameHeader) {
        size += dependent.size
        format.join(dependent.format)
        if format.codec == .dts { trailerSize += dependent.size }
    }
}

extension AudioFraming {
    /// Reads the header at `offset`; bytes from `end` on do not exist.
    func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 2 <= end else { return offset < end && isFirstByte(bytes[offset]) ? .needsMore : .none }
        switch self {
        case .mpeg:
            guard bytes[offset] == 0xFF, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
            return bytes[offset + 1] & 0x06 == 0
                ? ADTS.header(bytes, at: offset, end: end) : MPEGAudio.header(bytes, at: offset, end: end)
        case .ac3:
            guard bytes[offset] == 0x0B, bytes[offset + 1] == 0x77 else { return .none }
            return AC3.header(bytes, at: offset, end: end)
        case .loas: return LOAS.header(bytes, at: offset, end: end)
        case .dts: return DTS.header(bytes, at: offset, end: end)
        case .smpte302: return PCMPacket.smpte302(bytes, at: offset, end: end)
        case .blurayPCM: return PCMPacket.bluray(bytes, at: offset, end: end)
        }
    }

    private func isFirstByte(_ byte: UInt8) -> Bool {
        switch self {
        case .mpeg: byte == 0xFF
        case .ac3: byte == 0x0B
        case .loas: byte == 0x56
        case .dts: DTS.isFirstByte(byte)
        case .smpte302, .blurayPCM: true
        }
    }
}
