/// A text form of a configuration that outlives the process: `aac/48000/2/1024/1190`.
extension AudioConfiguration {
    /// Codec, sample rate in Hz, channels, samples per frame, and the decoder specific information in hexadecimal
    /// digits.
    package var text: String {
        let info = HexDigits.digits(of: decoderSpecificInfo)
        return "\(codec.name)/\(sampleRate)/\(channelCount)/\(samplesPerFrame)/\(info)"
    }

    /// Parses the text form; nil if `text` cannot have been written by the `text` property.
    package init?(text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 5, let codec = Codec.restorable.first(where: { $0.name == fields[0] }),
            let sampleRate = Int(fields[1]).flatMap({ SampleRate($0) }),
            let channelCount = Int(fields[2]), Self.channelCounts.contains(channelCount),
            let samplesPerFrame = Int(fields[3]), Self.frameLengths.contains(samplesPerFrame),
            let info = HexDigits.bytes(fields[4])
        else { return nil }
        self.init(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
            decoderSpecificInfo: info)
    }
}

extension AudioConfiguration.Codec {
    /// The codecs with a text form that can be read back.
    fileprivate static let restorable: [Self] = [.aac, .mpegAudio(layer: 3), .ac3, .eac3]

    fileprivate var name: String {
        switch self {
        case .aac: "aac"
        case .mpegAudio(let layer): "mpeg\(layer)"
        case .ac3: "ac3"
        case .eac3: "eac3"
        case .flac: "flac"
        case .alac: "alac"
        case .opus: "opus"
        case .dts: "dts"
        case .smpte302: "s302"
        case .blurayPCM: "bluray"
        }
    }
}
