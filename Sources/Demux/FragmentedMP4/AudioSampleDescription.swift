package import Media

/// The audio coding that a sample entry describes.
package enum AudioSampleDescription: Equatable, Sendable {
    case complete(AudioConfiguration)
    /// A configuration without samples per frame, which is 0 here: the sample durations determine it.
    case needsSampleDurations(AudioConfiguration)
    case needsFrameHeaders(AudioFraming)

    /// - Returns: nil for an unsupported codec.
    /// - Throws: If the decoder configuration is missing, truncated or out of range.
    package init?(_ entry: SampleEntry) throws(MediaError) {
        switch entry.type {
        case "mp4a":
            guard let found = try Self.elementaryStream(entry) else { return nil }
            self = found
        case ".mp3": self = .needsFrameHeaders(.mpeg)
        case "ac-3": self = try Self.ac3(entry.require("dac3"))
        case "ec-3": self = try Self.enhancedAC3(entry.require("dec3"), entry)
        case "Opus": self = try Self.opus(entry.require("dOps"))
        case "fLaC": self = try Self.flac(entry.require("dfLa"))
        default: return nil
        }
    }

    private static func elementaryStream(_ entry: SampleEntry) throws(MediaError) -> Self? {
        let stream = try ElementaryStreamDescriptor(entry.require("esds"))
        switch stream.objectTypeIndication {
        case 0x40, 0x66, 0x67, 0x68: return try aac(stream.decoderSpecificInfo, entry)
        case 0x69, 0x6B: return .needsFrameHeaders(.mpeg)
        default: return nil
        }
    }

    /// Returns an AAC description. The entry's channel count is used only if a program_config_element defines the
    /// channels.
    private static func aac(_ info: [UInt8], _ entry: SampleEntry) throws(MediaError) -> Self {
        let config = try AudioSpecificConfig(info)
        return try checked(
            .aac, sampleRate: config.samplingFrequency.hertz, channelCount: config.channelCount ?? entry.channelCount,
            samplesPerFrame: config.samplesPerFrame, info)
    }

    /// AC3SpecificBox (ETSI TS 102 366 §F.4).
    private static func ac3(_ dac3: ArraySlice<UInt8>) throws(MediaError) -> Self {
        var bits = BitReader(dac3, section: "ETSI TS 102 366 §F.4")
        let fscod = try bits.u(2, "fscod", in: 0...2)
        let bsid = try bits.u(5)
        try bits.skip(3)
        let acmod = try bits.u(3)
        return try checked(
            .ac3, sampleRate: AC3Tables.sampleRates[fscod] >> max(0, bsid - 8),
            channelCount: AC3Tables.channelCounts[acmod] + bits.u(1), samplesPerFrame: 1536, Array(dac3.prefix(3)))
    }

    /// EC3SpecificBox (§F.6): the first independent substream. A sample holds six blocks, whatever the size of a frame.
    private static func enhancedAC3(
        _ dec3: ArraySlice<UInt8>, _ entry: SampleEntry
    ) throws(MediaError) -> Self {
        var bits = BitReader(dec3, section: "ETSI TS 102 366 §F.6")
        try bits.skip(13 + 3)
        let fscod = try bits.u(2)
        try bits.skip(5 + 1 + 1 + 3)
        let acmod = try bits.u(3)
        return try checked(
            .eac3, sampleRate: fscod < 3 ? AC3Tables.sampleRates[fscod] : entry.sampleRate,
            channelCount: AC3Tables.channelCounts[acmod] + bits.u(1), samplesPerFrame: 1536, Array(dec3))
    }

    /// OpusSpecificBox; the clock is 48 kHz for any input rate.
    private static func opus(_ dOps: ArraySlice<UInt8>) throws(MediaError) -> Self {
        var fields = BoxFields(dOps)
        try fields.skip(1)
        let channelCount = Int(try fields.u8())
        try fields.skip(2 + 4 + 2 + 1)
        return try checked(
            .opus, sampleRate: 48_000, channelCount: channelCount, samplesPerFrame: nil, Array(dOps))
    }

    /// FLACSpecificBox: STREAMINFO (RFC 9639 §8.2) and no other metadata.
    private static func flac(_ dfLa: ArraySlice<UInt8>) throws(MediaError) -> Self {
        var fields = BoxFields(dfLa)
        try fields.skip(4 + 4)
        let streamInfo = try fields.bytes(34)
        var bits = BitReader(streamInfo, section: "RFC 9639 §8.2")
        let blockSizes = (least: try bits.u(16), most: try bits.u(16))
        try bits.skip(48)
        return try checked(
            .flac, sampleRate: bits.u(20), channelCount: bits.u(3) + 1,
            samplesPerFrame: blockSizes.least == blockSizes.most ? blockSizes.most : nil,
            [0x80, 0, 0, UInt8(streamInfo.count)] + streamInfo)
    }

    /// - Parameter samplesPerFrame: nil if the sample durations determine it.
    private static func checked(
        _ codec: AudioConfiguration.Codec, sampleRate: Int, channelCount: Int, samplesPerFrame: Int?,
        _ info: [UInt8]
    ) throws(MediaError) -> Self {
        func fault(_ field: String) -> MediaError {
            MediaError(.badParameterSet(field: field), section: "ISO/IEC 14496-12 §12.2.3")
        }
        guard let rate = SampleRate(sampleRate) else { throw fault("samplerate") }
        guard AudioConfiguration.channelCounts.contains(channelCount) else { throw fault("channelcount") }
        guard AudioConfiguration.frameLengths.contains(samplesPerFrame ?? 1) else { throw fault("samplesPerFrame") }
        let configuration = AudioConfiguration(
            codec: codec, sampleRate: rate, channelCount: channelCount, samplesPerFrame: samplesPerFrame ?? 0,
            decoderSpecificInfo: info)
        return samplesPerFrame == nil ? .needsSampleDurations(configuration) : .complete(configuration)
    }
}

extension SampleEntry {
    fileprivate var channelCount: Int {
        if case .audio(let channels, _) = format { Int(channels) } else { 0 }
    }

    fileprivate var sampleRate: Int {
        if case .audio(_, let sampleRate) = format { Int(sampleRate) } else { 0 }
    }
}

/// The coding fields of an ES_Descriptor (ISO/IEC 14496-1 §7.2.6.5), the payload of `esds`.
private struct ElementaryStreamDescriptor: Equatable, Sendable {
    let objectTypeIndication: UInt8
    let decoderSpecificInfo: [UInt8]

    private enum Tag {
        static let elementaryStream: UInt8 = 3
        static let decoderConfig: UInt8 = 4
        static let decoderSpecificInfo: UInt8 = 5
    }

    init(_ esds: ArraySlice<UInt8>) throws(MediaError) {
        var fields = BoxFields(esds)
        try fields.skip(4)
        var stream = BoxFields(try fields.descriptor(Tag.elementaryStream))
        try stream.skip(2)
        let flags = try stream.u8()
        if flags & 0x80 != 0 { try stream.skip(2) }  // dependsOn_ES_ID
        if flags & 0x40 != 0 { try stream.skip(Int(stream.u8())) }  // URL
        if flags & 0x20 != 0 { try stream.skip(2) }  // OCR_ES_ID
        var decoder = BoxFields(try stream.descriptor(Tag.decoderConfig))
        objectTypeIndication = try decoder.u8()
        try decoder.skip(12)
        decoderSpecificInfo = decoder.rest.isEmpty ? [] : Array(try decoder.descriptor(Tag.decoderSpecificInfo))
    }
}

extension BoxFields {
    /// Reads the body of the next descriptor, which must have the given tag (ISO/IEC 14496-1 §8.3.3). A body that is
    /// longer than the remaining bytes ends with them.
    fileprivate mutating func descriptor(_ tag: UInt8) throws(MediaError) -> ArraySlice<UInt8> {
        guard try u8() == tag else {
            throw MediaError(.badParameterSet(field: "esds"), offset: index, section: "ISO/IEC 14496-1 §7.2.6.5")
        }
        var length = 0
        for _ in 0..<4 {
            let byte = try u8()
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return try bytes(min(length, rest.count))
    }
}
