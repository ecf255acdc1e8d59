import Media
import Support

/// The fields of a slice segment header that all slice segments of a picture share (ISO/IEC 23008-2 §7.4.2.4.5, §7.4.7.1).
struct HEVCSliceHeader: Equatable, Sendable {
    /// The NAL unit header: type, layer and temporal sub-layer.
    private let unitHeader: [UInt8]
    private let pictureParameterSetID: Int
    private var picOrderCntLsb: Int?

    private static let maxBytes = 40

    /// - Returns: nil if the slice is truncated, or if its parameter sets are not known.
    init?(_ slice: ArraySlice<UInt8>, _ sets: HEVCParameterSets) {
        guard slice.count > 2 else { return nil }
        unitHeader = Array(slice.prefix(2))
        let type = Int(unitHeader[0] >> 1 & 0x3F)
        var bits = BitReader(nalUnit: Array(slice.prefix(Self.maxBytes)), section: "ISO/IEC 23008-2 §7.3.6.1")
        do throws(MediaError) {
            try bits.skip(16)
            let isFirst = try bits.flag()
            if (16...23).contains(type) { try bits.skip(1) }  // no_output_of_prior_pics_flag
            pictureParameterSetID = try bits.ue("slice_pic_parameter_set_id", in: 0...63)
            guard let (sequence, picture) = sets.active(inPicture: pictureParameterSetID) else { return nil }
            var isDependent = false
            if !isFirst {
                if picture.dependentSliceSegmentsEnabledFlag { isDependent = try bits.flag() }
                try bits.skip(sequence.sliceSegmentAddressBits)
            }
            guard !isDependent, type != 19, type != 20 else { return }
            try bits.skip(picture.numExtraSliceHeaderBits)
            _ = try bits.ue("slice_type", in: 0...2)
            if picture.outputFlagPresentFlag { try bits.skip(1) }
            if sequence.separateColourPlaneFlag { try bits.skip(2) }
            picOrderCntLsb = try bits.u(sequence.log2MaxPicOrderCntLsbMinus4 + 4)
        } catch {
            return nil
        }
    }

    func isSamePicture(as other: HEVCSliceHeader) -> Bool {
        unitHeader == other.unitHeader && pictureParameterSetID == other.pictureParameterSetID
            && (picOrderCntLsb == nil || other.picOrderCntLsb == nil || picOrderCntLsb == other.picOrderCntLsb)
    }
}

/// The parameter sets that slice segment headers refer to.
struct HEVCParameterSets: Sendable {
    private var sequences: [Int: HEVCSequenceParameterSet] = [:]
    private var pictures: [Int: HEVCPictureParameterSet] = [:]
    /// The sets inserted last, by kind; they are repeated with every random access point.
    private var lastBytes: (sequence: [UInt8], picture: [UInt8]) = ([], [])

    mutating func insertSequence(_ unit: ArraySlice<UInt8>) {
        StepCounter.add(unit.count)
        guard !lastBytes.sequence.elementsEqual(unit) else { return }
        lastBytes.sequence = Array(unit)
        let parsed = try? HEVCSequenceParameterSet(nalUnit: lastBytes.sequence)
        if let parsed { sequences[parsed.spsSeqParameterSetId] = parsed }
    }

    mutating func insertPicture(_ unit: ArraySlice<UInt8>) {
        StepCounter.add(unit.count)
        guard !lastBytes.picture.elementsEqual(unit) else { return }
        lastBytes.picture = Array(unit)
        let parsed = try? HEVCPictureParameterSet(nalUnit: lastBytes.picture)
        if let parsed { pictures[parsed.ppsPicParameterSetId] = parsed }
    }

    func active(inPicture id: Int) -> (HEVCSequenceParameterSet, HEVCPictureParameterSet)? {
        guard let picture = pictures[id], let sequence = sequences[picture.ppsSeqParameterSetId] else { return nil }
        return (sequence, picture)
    }
}

extension HEVCSequenceParameterSet {
    /// Size of slice_segment_address in bits: Ceil(Log2(PicSizeInCtbsY)).
    fileprivate var sliceSegmentAddressBits: Int { Int.bitWidth - (picSizeInCtbs - 1).leadingZeroBitCount }
}
