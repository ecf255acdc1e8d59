import Media

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
        let segmentation = parsed.vui?.minSpatialSegmentationIdc ?? 0
        writer.u16(0xF000 | UInt16(segmentation))
        writer.u8(0xFC | (segmentation == 0 ? 0 : Self.parallelismType(configuration.pictureParameterSets)))
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

    /// Value of parallelismType: 1 slices, 2 tiles, 3 wavefronts, 0 mixed or unknown.
    private static func parallelismType(_ pictureParameterSets: [[UInt8]]) -> UInt8 {
        var types: Set<UInt8> = []
        for nalUnit in pictureParameterSets {
            guard let set = parsed(nalUnit) else { return 0 }
            switch (set.tilesEnabledFlag, set.entropyCodingSyncEnabledFlag) {
            case (true, true): return 0
            case (true, false): types.insert(2)
            case (false, true): types.insert(3)
            case (false, false): types.insert(1)
            }
        }
        return types.count == 1 ? types.first ?? 0 : 0
    }

    /// Parses a picture parameter set; nil on errors, because parallelismType is only a hint for decoders.
    private static func parsed(_ nalUnit: [UInt8]) -> HEVCPictureParameterSet? {
        do throws(MediaError) { return try HEVCPictureParameterSet(nalUnit: nalUnit) } catch { return nil }
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
