import Media
import Support

/// The fields of slice_header that all slices of a picture share (ISO/IEC 14496-10 §7.3.3, §7.4.1.2.4). Slices whose
/// fields differ belong to different pictures.
struct H264SliceHeader: Equatable, Sendable {
    private let picParameterSetID: Int
    private let frameNum: Int
    private(set) var isField = false
    private var isBottomField = false
    private let isReference: Bool
    private let isIDR: Bool
    private var idrPicID = 0
    /// pic_order_cnt_lsb and delta_pic_order_cnt_bottom, or delta_pic_order_cnt.
    private var (pictureOrder, bottomOrder) = (0, 0)

    private static let section = "ISO/IEC 14496-10 §7.3.3"
    private static let maxBytes = 40

    /// - Returns: nil if the slice is truncated, if it is no slice with a header, or if its SPS is not known.
    init?(_ slice: ArraySlice<UInt8>, _ sets: H264ParameterSets) {
        guard let header = slice.first, [1, 2, 5].contains(header & 0x1F) else { return nil }
        isReference = header & 0x60 != 0
        isIDR = header & 0x1F == 5
        var bits = BitReader(nalUnit: Array(slice.prefix(Self.maxBytes)), section: Self.section)
        do throws(MediaError) {
            try bits.skip(8)
            _ = try bits.ue("first_mb_in_slice", in: 0...0xFFFF_FFFE)
            _ = try bits.ue("slice_type", in: 0...9)
            picParameterSetID = try bits.ue("pic_parameter_set_id", in: 0...255)
            guard let sequence = sets.sequence(ofPicture: picParameterSetID) else { return nil }
            if sequence.separateColourPlaneFlag { try bits.skip(2) }
            frameNum = try bits.u(sequence.log2MaxFrameNumMinus4 + 4)
            if !sequence.frameMbsOnlyFlag {
                isField = try bits.flag()
                if isField { isBottomField = try bits.flag() }
            }
            if isIDR { idrPicID = try bits.ue("idr_pic_id", in: 0...65_535) }
            try readPictureOrderCount(
                &bits, sequence, hasBottom: !isField && sets.hasBottomFieldOrder(inPicture: picParameterSetID))
        } catch {
            return nil
        }
    }

    private mutating func readPictureOrderCount(
        _ bits: inout BitReader, _ sequence: H264SequenceParameterSet, hasBottom: Bool
    ) throws(MediaError) {
        switch sequence.picOrderCntType {
        case .zero(let log2MaxPicOrderCntLsbMinus4):
            pictureOrder = try bits.u(log2MaxPicOrderCntLsbMinus4 + 4)
        case .one(deltaPicOrderAlwaysZeroFlag: false): pictureOrder = try bits.se("delta_pic_order_cnt")
        case .one, .two: return
        }
        if hasBottom { bottomOrder = try bits.se("delta_pic_order_cnt") }
    }

    /// Whether the slice belongs to the second field of the frame that `first` begins (§3.30): two access units in the
    /// stream and one sample in a file.
    func isSecondField(after first: H264SliceHeader) -> Bool {
        isField && first.isField && frameNum == first.frameNum && isBottomField != first.isBottomField
            && isReference == first.isReference && !isIDR
    }

    /// Whether the slice is an I or SI slice; false if it is truncated.
    static func isIntra(_ slice: ArraySlice<UInt8>) -> Bool {
        var bits = BitReader(nalUnit: Array(slice.prefix(12)), section: section)
        do throws(MediaError) {
            try bits.skip(8)
            _ = try bits.ue("first_mb_in_slice", in: 0...0xFFFF_FFFE)
            return try [2, 4].contains(bits.ue("slice_type", in: 0...9) % 5)
        } catch {
            return false
        }
    }
}

/// The parameter sets that slice headers refer to.
struct H264ParameterSets: Sendable {
    private var sequences: [Int: H264SequenceParameterSet] = [:]
    private var pictures: [Int: (sequence: Int, hasBottomFieldOrder: Bool)] = [:]
    private var lastSequenceBytes: [UInt8] = []
    private var last: H264SequenceParameterSet?

    var allowsFields: Bool { last.map { !$0.frameMbsOnlyFlag } ?? false }

    mutating func insertSequence(_ unit: ArraySlice<UInt8>) {
        StepCounter.add(unit.count)
        guard !lastSequenceBytes.elementsEqual(unit) else { return }
        lastSequenceBytes = Array(unit)
        last = try? H264SequenceParameterSet(nalUnit: lastSequenceBytes)
        if let last { sequences[last.seqParameterSetId] = last }
    }

    private static let maxPictureBytes = 16

    mutating func insertPicture(_ unit: ArraySlice<UInt8>) {
        var bits = BitReader(
            nalUnit: Array(unit.prefix(Self.maxPictureBytes)), section: "ISO/IEC 14496-10 §7.3.2.2")
        do throws(MediaError) {
            try bits.skip(8)
            let id = try bits.ue("pic_parameter_set_id", in: 0...255)
            let sequence = try bits.ue("seq_parameter_set_id", in: 0...31)
            try bits.skip(1)  // entropy_coding_mode_flag
            pictures[id] = (sequence, try bits.flag())
        } catch {}
    }

    /// Returns the sequence of a PPS, or the last one if that PPS is not known.
    func sequence(ofPicture id: Int) -> H264SequenceParameterSet? {
        pictures[id].flatMap { sequences[$0.sequence] } ?? last
    }

    func hasBottomFieldOrder(inPicture id: Int) -> Bool { pictures[id]?.hasBottomFieldOrder ?? false }
}
