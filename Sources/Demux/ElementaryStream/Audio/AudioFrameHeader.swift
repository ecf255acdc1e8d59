import Media

/// The header of one audio frame.
struct AudioFrameHeader: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        case frame(AudioFrameHeader)
        /// The bytes may be a header, but end before it does.
        case needsMore
        /// No header is at this offset.
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

    /// Bytes from the start of the header to the end of the frame.
    var size: Int
    /// Bytes of the header that are not part of the packet.
    let headerSize: Int
    var format: Format
    var use = Use.packet
    /// Whether this is an E-AC-3 frame that extends the preceding one.
    var isDependent = false

    /// Merges a frame that extends this one.
    mutating func merge(_ dependent: AudioFrameHeader) {
        size += dependent.size
        format.merge(dependent.format)
    }
}
