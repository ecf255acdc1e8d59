import Media

/// Video sample entry: avc1, hvc1 or mp4v (ISO/IEC 14496-12 §12.1.3, 14496-15 §5.4.2 and §8.4.1, 14496-14 §5.6).
///
/// These types signal that the entry contains the parameter sets. The samples may repeat the same parameter sets.
/// Interlaced video gets no `fiel` box, because that box is QuickTime's and players read the field order from the
/// parameter sets.
struct VideoSampleEntry {
    private let configuration: VideoConfiguration
    private let description: VideoDescription

    init(_ configuration: VideoConfiguration, _ description: VideoDescription) {
        self.configuration = configuration
        self.description = description
    }

    func write(to stsd: inout BoxWriter) throws(MediaError) {
        try stsd.box(type) { (entry: inout BoxWriter) throws(MediaError) in
            writeFields(&entry)
            switch configuration.codec {
            case .h264:
                let record = try AVCDecoderConfigurationRecord(configuration).bytes
                entry.box("avcC") { $0.append(record) }
            case .hevc:
                let record = try HEVCDecoderConfigurationRecord(configuration).bytes
                entry.box("hvcC") { $0.append(record) }
            case .mpeg2:
                let header = try MPEG2SequenceHeader(
                    configuration.sequenceParameterSets.first ?? [], extensions: configuration.pictureParameterSets)
                entry.elementaryStreamDescriptor(
                    header.objectTypeIndication, .video, info: configuration.sequenceHeaders)
            }
            entry.append(configuration.dynamicRangeBoxes)
            writeColor(&entry)
            writePixelAspectRatio(&entry)
        }
    }

    private var type: BoxType {
        switch configuration.codec {
        case .h264: "avc1"
        case .hevc: "hvc1"
        case .mpeg2: "mp4v"
        }
    }

    private func writeFields(_ entry: inout BoxWriter) {
        entry.zeros(6)
        entry.u16(1)  // data_reference_index
        entry.zeros(16)
        entry.u16(UInt16(description.width))
        entry.u16(UInt16(description.height))
        entry.u32(0x0048_0000)  // horizresolution, 72 dpi
        entry.u32(0x0048_0000)  // vertresolution
        entry.u32(0)
        entry.u16(1)  // frame_count
        entry.zeros(32)  // compressorname
        entry.u16(0x0018)  // depth
        entry.u16(0xFFFF)
    }

    /// Writes `colr` (§12.1.5).
    private func writeColor(_ entry: inout BoxWriter) {
        guard let color = description.color else { return }
        entry.box("colr") { colr in
            colr.type("nclx")
            colr.u16(UInt16(color.primaries))
            colr.u16(UInt16(color.transferCharacteristics))
            colr.u16(UInt16(color.matrixCoefficients))
            colr.u8(color.isFullRange ? 0x80 : 0)
        }
    }

    /// Writes `pasp` (§12.1.4).
    private func writePixelAspectRatio(_ entry: inout BoxWriter) {
        guard let ratio = description.sampleAspectRatio else { return }
        entry.box("pasp") { pasp in
            pasp.u32(UInt32(ratio.numerator))
            pasp.u32(UInt32(ratio.denominator))
        }
    }
}

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

/// HEVCDecoderConfigurationRecord, the payload of `hvcC` (ISO/IEC 14496-15 §8.3.3.1). NAL unit lengths have four bytes.
struct HEVCDecoderConfigurationRecord: Equatable, Sendable {
    let bytes: [UInt8]

    private static let section = "ISO/IEC 14496-15 §8.3.3.1"

    /// - Throws: if there is no sequence parameter set, or the first one cannot be parsed.
    init(_ configuration: VideoConfiguration) throws(MediaError) {
        guard let first = configuration.sequenceParameterSets.first else {
            throw MediaError(.badParameterSet(field: "sequenceParameterSetNALUnit"), section: Self.section)
        }
        let parsed = try HEVCSequenceParameterSet(nalUnit: first)
        var writer = BoxWriter()
        writer.u8(1)  // configurationVersion
        Self.append(parsed.profileTierLevel, to: &writer)
        writer.u16(0xF000)  // min_spatial_segmentation_idc: unspecified
        writer.u8(0xFC)  // parallelismType: unknown
        writer.u8(0xFC | UInt8(parsed.chromaFormatIdc))
        writer.u8(0xF8 | UInt8(parsed.bitDepthLumaMinus8))
        writer.u8(0xF8 | UInt8(parsed.bitDepthChromaMinus8))
        writer.u16(0)  // avgFrameRate: unspecified
        let layers = UInt8(parsed.spsMaxSubLayersMinus1 + 1)
        writer.u8(layers << 3 | (parsed.spsTemporalIdNestingFlag ? 4 : 0) | 3)
        try Self.appendArrays(configuration, to: &writer)
        bytes = writer.bytes
    }

    private static func append(_ profile: HEVCProfileTierLevel, to writer: inout BoxWriter) {
        let tier: UInt8 = profile.generalTierFlag ? 0x20 : 0
        writer.u8(UInt8(profile.generalProfileSpace) << 6 | tier | UInt8(profile.generalProfileIdc))
        writer.u32(profile.generalProfileCompatibilityFlags)
        writer.append(profile.generalConstraintIndicatorFlags)
        writer.u8(UInt8(profile.generalLevelIdc))
    }

    private static func appendArrays(
        _ configuration: VideoConfiguration, to writer: inout BoxWriter
    ) throws(MediaError) {
        let arrays = [
            (HEVCVideoParameterSet.nalUnitType, configuration.videoParameterSets),
            (HEVCSequenceParameterSet.nalUnitType, configuration.sequenceParameterSets),
            (HEVCPictureParameterSet.nalUnitType, configuration.pictureParameterSets),
        ].filter { !$0.1.isEmpty }
        writer.u8(UInt8(arrays.count))
        for (type, sets) in arrays {
            writer.u8(0x80 | UInt8(type))  // array_completeness
            writer.u16(UInt16(clamping: sets.count))
            for set in sets { try writer.appendParameterSet(set, section: section) }
        }
    }
}

extension VideoConfiguration {
    /// The sequence header of MPEG-2 video and its extensions, with start codes (ISO/IEC 13818-2 §6.2.2).
    var sequenceHeaders: [UInt8] { (sequenceParameterSets + pictureParameterSets).flatMap { [0, 0, 1] + $0 } }
}
