import Media

/// The header of one audio frame.
struct AudioFrameHeader: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        case frame(AudioFrameHeader)
        case needsMore
        case none
    }

    enum Use: Equatable, Sendable {
        case packet
        /// The frame cannot be used; it is counted, and its duration elapses.
        case undecodable
        /// A frame of another program in the same stream, at the same time; it is not followed.
        case otherProgram
    }

    /// The fields that form an `AudioConfiguration`: frames with equal formats share one.
    struct Format: Equatable, Sendable {
        let codec: AudioConfiguration.Codec
        let sampleRate: SampleRate
        var channelCount: Int
        let samplesPerFrame: Int
        /// The decoderSpecificInfo, big-endian in the low bytes.
        var specific: UInt64 = 0
        var specificSize = 0
        /// The data rate in kbit/s, in the first 13 bits of `dec3`. It is that of the first frame: it may differ from
        /// frame to frame, and players ignore it.
        var dataRate = 0
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

    /// Bytes from the start of the header to the end of the frame.
    var size: Int
    /// Bytes of the header that are not part of the packet.
    let headerSize: Int
    var format: Format
    var use = Use.packet
    /// Whether this is an E-AC-3 frame that extends the preceding one.
    var isDependent = false

    mutating func merge(_ dependent: AudioFrameHeader) {
        size += dependent.size
        format.merge(dependent.format)
    }
}

/// Frame headers by framing.
extension AudioFraming {
    /// Reads the header at `offset`; bytes from `end` on do not exist.
    func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard offset + 2 <= end else { return offset < end && bytes[offset] == firstByte ? .needsMore : .none }
        switch self {
        case .mpeg:
            guard bytes[offset] == firstByte, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
            return bytes[offset + 1] & 0x06 == 0
                ? ADTS.header(bytes, at: offset, end: end) : MPEGAudio.header(bytes, at: offset, end: end)
        case .ac3:
            guard bytes[offset] == firstByte, bytes[offset + 1] == 0x77 else { return .none }
            return AC3.header(bytes, at: offset, end: end)
        case .loas: return LOAS.header(bytes, at: offset, end: end)
        }
    }

    private var firstByte: UInt8 {
        switch self {
        case .mpeg: 0xFF
        case .ac3: 0x0B
        case .loas: 0x56
        }
    }
}
