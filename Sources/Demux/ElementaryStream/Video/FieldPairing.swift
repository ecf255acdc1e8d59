import Media

/// Finds the two fields of a frame that are coded as separate pictures (ISO/IEC 14496-10 §3.30, §7.4.3): they are two
/// access units in the stream and one sample in a file.
struct FieldPairing: Sendable {
    struct Field: Equatable, Sendable {
        let frameNum: Int
        let isBottom: Bool
        let isReference: Bool
        let isIDR: Bool

        /// Whether `next` is the second field of the frame that this field begins.
        func isCompleted(by next: Field) -> Bool {
            frameNum == next.frameNum && isBottom != next.isBottom && isReference == next.isReference && !next.isIDR
        }
    }

    private var sequenceBytes: [UInt8] = []
    /// The sequence parameter set if it allows fields; nil for frames only, or before any set.
    private var sequence: H264SequenceParameterSet?

    init() {}

    /// - Parameter unit: the latest sequence parameter set.
    mutating func setSequenceParameterSet(_ unit: ArraySlice<UInt8>) {
        guard !sequenceBytes.elementsEqual(unit) else { return }
        sequenceBytes = Array(unit)
        sequence = nil
        guard let parsed = try? H264SequenceParameterSet(nalUnit: sequenceBytes), !parsed.frameMbsOnlyFlag else {
            return
        }
        sequence = parsed
    }

    /// Parses the field of a slice; nil if the slice belongs to a frame or is truncated.
    func field(_ slice: ArraySlice<UInt8>) -> Field? {
        guard let sequence, let header = slice.first else { return nil }
        var bits = BitReader(nalUnit: Array(slice.prefix(24)), section: "ISO/IEC 14496-10 §7.3.3")
        do throws(MediaError) {
            try bits.skip(8)
            for name: StaticString in ["first_mb_in_slice", "slice_type", "pic_parameter_set_id"] {
                _ = try bits.ue(name, in: 0...0xFFFF_FFFE)
            }
            if sequence.separateColourPlaneFlag { try bits.skip(2) }
            let frameNum = try bits.u(sequence.log2MaxFrameNumMinus4 + 4)
            guard try bits.flag() else { return nil }  // field_pic_flag
            return Field(
                frameNum: frameNum, isBottom: try bits.flag(), isReference: header & 0x60 != 0,
                isIDR: header & 0x1F == 5)
        } catch {
            return nil
        }
    }
}
