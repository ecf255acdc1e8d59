/// A configuration as one word, for what has to outlive the process: `aac/48000/2/1024/1190`.
extension AudioConfiguration {
    /// Codec, rate in Hz, channels, samples a frame, and what the decoder has to know, in hexadecimal digits.
    package var text: String {
        let info = decoderSpecificInfo.map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
        return "\(codec.name)/\(sampleRate)/\(channelCount)/\(samplesPerFrame)/\(info)"
    }

    /// Nil for what `text` does not write.
    package init?(text: String) {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count == 5, let codec = Codec.restorable.first(where: { $0.name == fields[0] }),
            let sampleRate = Int(fields[1]), sampleRate > 0, let channelCount = Int(fields[2]),
            let samplesPerFrame = Int(fields[3]), samplesPerFrame > 0, let info = Self.bytes(fields[4])
        else { return nil }
        self.init(
            codec: codec, sampleRate: sampleRate, channelCount: channelCount, samplesPerFrame: samplesPerFrame,
            decoderSpecificInfo: info)
    }

    private static func bytes(_ digits: Substring) -> [UInt8]? {
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

extension AudioConfiguration.Codec {
    /// Those that can be written, hence remembered.
    fileprivate static let restorable: [Self] = [.aac, .mpegAudio(layer: 3), .ac3, .eac3, .flac, .alac, .opus]

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
