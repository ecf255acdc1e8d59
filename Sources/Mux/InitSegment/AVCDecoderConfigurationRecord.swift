import Media

/// AVCDecoderConfigurationRecord, the payload of `avcC` (ISO/IEC 14496-15 §5.3.3.1). NAL unit lengths have four bytes.
struct AVCDecoderConfigurationRecord: Equatable, Sendable {
    let bytes: [UInt8]

    private static let section = "ISO/IEC 14496-15 §5.3.3.1"
    /// Profiles whose records have no chroma format: Baseline, Main and Extended.
    private static let profilesWithoutChromaFormat: Set<Int> = [66, 77, 88]

    /// - Throws: if there is no sequence parameter set, it cannot be parsed, or there are more sets than fit.
    init(_ configuration: VideoConfiguration) throws(MediaError) {
        guard let first = configuration.sequenceParameterSets.first else {
            throw MediaError(.badParameterSet(field: "sequenceParameterSetNALUnit"), section: Self.section)
        }
        let parsed = try H264SequenceParameterSet(nalUnit: first)
        var writer = BoxWriter()
        writer.u8(1)  // configurationVersion
        writer.append(first[1...3])
        writer.u8(0xFC | 3)  // lengthSizeMinusOne
        try Self.append(configuration.sequenceParameterSets, maximum: 31, countMask: 0xE0, to: &writer)
        try Self.append(configuration.pictureParameterSets, maximum: 255, countMask: 0, to: &writer)
        if !Self.profilesWithoutChromaFormat.contains(parsed.profileIdc) {
            writer.u8(0xFC | UInt8(parsed.chromaFormatIdc))
            writer.u8(0xF8 | UInt8(parsed.bitDepthLumaMinus8))
            writer.u8(0xF8 | UInt8(parsed.bitDepthChromaMinus8))
            writer.u8(0)  // numOfSequenceParameterSetExt
        }
        bytes = writer.bytes
    }

    /// Appends the number of `sets` and the sets.
    /// - Parameter countMask: reserved bits in the byte with the number of sets.
    private static func append(
        _ sets: [[UInt8]], maximum: Int, countMask: UInt8, to writer: inout BoxWriter
    ) throws(MediaError) {
        guard sets.count <= maximum else {
            throw MediaError(.badParameterSet(field: "numOfParameterSets"), section: section)
        }
        writer.u8(countMask | UInt8(sets.count))
        for set in sets { try writer.appendParameterSet(set, section: section) }
    }
}

extension BoxWriter {
    /// Appends a NAL unit, prefixed with its length in two bytes.
    mutating func appendParameterSet(_ nalUnit: [UInt8], section: String) throws(MediaError) {
        guard let size = UInt16(exactly: nalUnit.count) else {
            throw MediaError(.badParameterSet(field: "parameterSetLength"), section: section)
        }
        u16(size)
        append(nalUnit)
    }
}
