import Media

/// Extracts AAC frames from AudioMuxElements (ISO/IEC 14496-3 §1.7.3, LATM): one program with one layer whose frames
/// state their length, as broadcasters send it.
struct LATMReader: Sendable {
    private static let section = "ISO/IEC 14496-3 §1.7.3"

    private var mux: (configuration: AudioConfiguration, framesPerElement: Int)?

    var configuration: AudioConfiguration? { mux?.configuration }

    mutating func frames(_ element: ArraySlice<UInt8>) throws(MediaError) -> [[UInt8]] {
        var bits = BitReader(element, section: Self.section)
        if try !bits.flag() { mux = try Self.streamMux(&bits) }  // useSameStreamMux
        var frames: [[UInt8]] = []
        for _ in 0..<(mux?.framesPerElement ?? 0) {
            let length = try Self.payloadLength(&bits)
            guard length * 8 <= bits.bitsLeft else { throw bits.fault(.truncated) }
            var frame: [UInt8] = []
            frame.reserveCapacity(length)
            for _ in 0..<length { frame.append(UInt8(try bits.u(8))) }
            frames.append(frame)
        }
        return frames
    }

    private static func payloadLength(_ bits: inout BitReader) throws(MediaError) -> Int {
        var length = 0
        while true {
            let part = try bits.u(8)
            length += part
            if part != 255 { return length }
        }
    }

    private static func streamMux(_ bits: inout BitReader) throws(MediaError) -> (AudioConfiguration, Int) {
        let version = try bits.u(1)
        if version == 1 {
            _ = try bits.u(1, "audioMuxVersionA", in: 0...0)
            _ = try value(&bits)  // taraBufferFullness
        }
        _ = try bits.u(1, "allStreamsSameTimeFraming", in: 1...1)
        let frames = try bits.u(6) + 1
        _ = try bits.u(4, "numProgram", in: 0...0)
        _ = try bits.u(3, "numLayer", in: 0...0)
        let configuration = try specificConfig(&bits, version: version)
        _ = try bits.u(3, "frameLengthType", in: 0...0)
        try bits.skip(8)  // latmBufferFullness
        if try bits.flag() { try skipOtherDataLength(&bits, version: version) }
        if try bits.flag() { try bits.skip(8) }  // crcCheckSum
        return (configuration, frames)
    }

    private static func specificConfig(
        _ bits: inout BitReader, version: Int
    ) throws(MediaError) -> AudioConfiguration {
        guard version == 1 else { return try EmbeddedAudioSpecificConfig(&bits).configuration }
        let size = try value(&bits)
        let before = bits.bitsLeft
        let embedded = try EmbeddedAudioSpecificConfig(&bits)
        let used = before - bits.bitsLeft
        guard size >= used else { throw bits.fault(.badParameterSet(field: "ascLen")) }
        try bits.skip(size - used)
        return embedded.configuration
    }

    private static func skipOtherDataLength(_ bits: inout BitReader, version: Int) throws(MediaError) {
        if version == 1 {
            _ = try value(&bits)
            return
        }
        while try bits.flag() { try bits.skip(8) }  // otherDataLenEsc
        try bits.skip(8)
    }

    private static func value(_ bits: inout BitReader) throws(MediaError) -> Int {
        let bytes = try bits.u(2) + 1
        return try bits.u(8 * bytes)
    }
}

/// An AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) that begins at any bit and does not state its length.
private struct EmbeddedAudioSpecificConfig {
    let configuration: AudioConfiguration

    init(_ bits: inout BitReader) throws(MediaError) {
        var copy = BitWriter()
        var objectType = try Self.objectType(&copy, &bits)
        let sampleRate = try Self.frequency(&copy, &bits)
        let channels = try copy.copy(4, from: &bits)
        if objectType == 5 || objectType == 29 {  // SBR, before the configuration that it extends
            _ = try Self.frequency(&copy, &bits)
            objectType = try Self.objectType(&copy, &bits)
        }
        guard (1...4).contains(objectType), (0...7).contains(channels) else {
            throw bits.fault(.badParameterSet(field: "audioObjectType"))
        }
        let isShort = try copy.copy(1, from: &bits) == 1  // frameLengthFlag
        if try copy.copy(1, from: &bits) == 1 { try copy.copy(14, from: &bits) }  // dependsOnCoreCoder
        try copy.copy(1, from: &bits)  // extensionFlag
        let channelCount =
            channels == 0
            ? try ProgramConfigElement.copy(&bits, into: &copy) : AudioSpecificConfig.channelCounts[channels]
        configuration = AudioConfiguration(
            codec: .aac, sampleRate: sampleRate, channelCount: channelCount,
            samplesPerFrame: isShort ? 960 : 1024, decoderSpecificInfo: copy.bytes)
    }

    private static func objectType(_ copy: inout BitWriter, _ bits: inout BitReader) throws(MediaError) -> Int {
        let short = try copy.copy(5, from: &bits)
        return short == 31 ? try 32 + copy.copy(6, from: &bits) : short
    }

    private static func frequency(_ copy: inout BitWriter, _ bits: inout BitReader) throws(MediaError) -> SampleRate {
        let index = try copy.copy(4, from: &bits)
        let escaped = index == 15 ? try copy.copy(24, from: &bits) : nil
        guard let rate = AudioSpecificConfig.samplingFrequency(index: index, escaped: escaped) else {
            throw bits.fault(.badParameterSet(field: "samplingFrequency"))
        }
        return rate
    }
}

/// The synchronization layer of MPEG-4 audio (ISO/IEC 14496-3 §1.7.2, AudioSyncStream): eleven bits of syncword and
/// thirteen bits of length before one AudioMuxElement.
enum LOAS {
    static let headerSize = 3
    /// A placeholder: the header does not describe the audio inside, so all headers have the same format.
    private static let format = AudioFrameHeader.Format(
        codec: .aac, sampleRate: 48_000, channelCount: 2, samplesPerFrame: 1024)

    static func header(_ bytes: [UInt8], at offset: Int, end: Int) -> AudioFrameHeader.Outcome {
        guard bytes[offset] == 0x56, bytes[offset + 1] & 0xE0 == 0xE0 else { return .none }
        guard offset + headerSize <= end else { return .needsMore }
        let size = headerSize + (Int(bytes[offset + 1] & 0x1F) << 8 | Int(bytes[offset + 2]))
        return size > headerSize
            ? .frame(AudioFrameHeader(size: size, headerSize: headerSize, format: format)) : .none
    }
}
