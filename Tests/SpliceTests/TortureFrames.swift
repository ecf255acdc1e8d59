@testable import Demux
@testable import Media
@testable import MediaTestSupport
@testable import Mux
@testable import Splice
@testable import Transcode

/// One access unit: its parameter sets, and the NAL units that are published.
struct TortureAccessUnit {
    var sets: [[UInt8]]
    var media: [[UInt8]]

    /// Returns the access unit in byte stream format.
    func stream(isHEVC: Bool) -> [UInt8] {
        ElementarySamples.stream([isHEVC ? [0x46, 0x01, 0x50] : ElementarySamples.delimiter] + sets + media)
    }
}

// Payloads of video and audio frames: valid wherever framing parses them, each with the label of its frame.
extension TortureProgram {
    private static let videoSet = ParameterSyntaxWriter.hevcVideoParameterSet(id: 0)
    private static let hevcPictureSets = [false, true].map {
        ParameterSyntaxWriter.hevcPictureParameterSet(wavefronts: $0)
    }
    var sequenceSet: [UInt8] { (isHEVC ? hevcRows : h264Rows)[parameterSets].nalUnit }

    /// - Parameter isLater: whether the frame follows `pictureParameterSetChange`.
    func pictureParameterSet(isLater: Bool) -> [UInt8] {
        if isHEVC { return Self.hevcPictureSets[isLater ? 1 : 0] }
        return [0x68, isLater ? 0xCE : 0xEE, 0x3C, 0x80]
    }

    func pictureParameterSet(at index: Int) -> [UInt8] {
        pictureParameterSet(isLater: pictureParameterSetChange.map { index >= $0 } ?? false)
    }

    /// Returns the parameter sets in force at frame `index`, in the order of their kinds.
    func sets(at index: Int) -> [[UInt8]] {
        (isHEVC ? [Self.videoSet] : []) + [sequenceSet, pictureParameterSet(at: index)]
    }

    /// Returns the access units of frame `index`: two if its fields are coded separately.
    func units(_ index: Int) -> [TortureAccessUnit] {
        let sets = isGroupStart(index) ? sets(at: index) : []
        if isHEVC { return [TortureAccessUnit(sets: sets, media: [hevcSlice(index)])] }
        let recovery = isGroupStart(index) && !isIDR(index) ? [ElementarySamples.recoveryPoint] : []
        guard let scan else { return [TortureAccessUnit(sets: sets, media: recovery + [plainSlice(index)])] }
        var isFrame = false
        if case .frames = scan { isFrame = true }
        if case .mixed = scan { isFrame = index % 3 == 0 }
        let first = TortureAccessUnit(sets: sets, media: recovery + [slice(index, isFrame: isFrame, isBottom: false)])
        return isFrame
            ? [first] : [first, TortureAccessUnit(sets: [], media: [slice(index, isFrame: false, isBottom: true)])]
    }

    /// Returns a frame in byte stream format.
    func accessUnit(_ index: Int) -> [UInt8] { units(index).flatMap { $0.stream(isHEVC: isHEVC) } }

    /// Returns the end of the sample of frame `index`, with NAL unit lengths: all but its parameter sets.
    ///
    /// - Parameter beginsPeriod: whether decoding begins here; a CRA picture then becomes BLA_N_LP.
    func published(_ index: Int, beginsPeriod: Bool) -> [UInt8] {
        units(index).flatMap { $0.media }.flatMap { unit in
            let isCleanAccess = isHEVC && unit[0] == 21 << 1
            return NALUnitLength.bytes(unit.count)
                + (isCleanAccess && beginsPeriod ? [18 << 1] + unit.dropFirst() : unit)
        }
    }

    private func body(_ index: Int) -> [UInt8] {
        [UInt8](repeating: 0x33, count: 24) + TortureFrameLabel.bytes(serial, index)
    }

    /// An I slice at the start of a group, else a P slice. Leading pictures are no reference pictures.
    private func plainSlice(_ index: Int) -> [UInt8] {
        [isIDR(index) ? 0x65 : isReference(index) ? 0x41 : 0x01, isGroupStart(index) ? 0x88 : 0x98] + body(index)
    }

    /// Returns a slice with the header that a sequence parameter set for fields requires (ISO/IEC 14496-10 §7.3.3).
    private func slice(_ index: Int, isFrame: Bool, isBottom: Bool) -> [UInt8] {
        var header = ParameterSyntaxWriter()
        header.ue(0, isGroupStart(index) && !isBottom ? 7 : 5, 0)
        header.u(Self.frameNumberBits, frameNumber(index) % 16)
        header.flags(!isFrame)
        if !isFrame { header.flags(isBottom) }
        let isIDR = isIDR(index) && !isBottom
        return header.nalUnit(header: [isIDR ? 0x65 : isReference(index) ? 0x41 : 0x01]) + body(index)
    }

    private func isReference(_ index: Int) -> Bool { isGroupStart(index) || presented(index) >= index }

    /// Reference frames since the group began.
    private func frameNumber(_ index: Int) -> Int { (index - index % group..<index).count(where: isReference) }

    /// The sequence parameter set of `h264Rows` for fields.
    static let fieldRow = 3
    private static let frameNumberBits =
        ((try? H264SequenceParameterSet(nalUnit: h264Rows[fieldRow].nalUnit))?.log2MaxFrameNumMinus4 ?? 0) + 4

    private func hevcSlice(_ index: Int) -> [UInt8] {
        // TRAIL_R, and IDR_W_RADL, CRA, RADL_N and RASL_N.
        var type: UInt8 = 1
        if isGroupStart(index) {
            type = isIDR(index) ? 19 : 21
        } else if isLeading(index) {
            type = start(ofGroup: index / group) == .open ? 8 : 6
        }
        // first_slice_segment_in_pic_flag is set.
        return [type << 1, 0x01, 0x88] + body(index)
    }

    func audioFrame(_ index: Int) -> [UInt8] {
        guard !isLayer3 else {
            // 128 kbit/s at 48 kHz, stereo: 384 bytes.
            return [0xFF, 0xFB, 0x94, 0x00] + [UInt8](repeating: 0, count: 372) + TortureFrameLabel.bytes(serial, index)
        }
        let body = [UInt8](repeating: 0x21, count: 12) + TortureFrameLabel.bytes(serial, index)
        let byteCount = 7 + body.count
        let head: [UInt8] = [
            0xFF, 0xF1, 0x40 | frequencyIndex << 2 | channels >> 2,
            (channels & 3) << 6 | UInt8(byteCount >> 11),
            UInt8(byteCount >> 3 & 0xFF), UInt8(byteCount & 7) << 5 | 0x1F, 0xFC,
        ]
        return head + body
    }

    /// Returns a frame without the header that its sample entry replaces.
    func audioSample(_ index: Int) -> [UInt8] { isLayer3 ? audioFrame(index) : Array(audioFrame(index).dropFirst(7)) }
}

/// Program and index of a frame, in the last eight bytes of its payload, none of which looks like a start code.
struct TortureFrameLabel: Hashable, Comparable, Sendable {
    var serial: Int
    var index: Int

    init(_ serial: Int, _ index: Int) { (self.serial, self.index) = (serial, index) }

    static func bytes(_ serial: Int, _ index: Int) -> [UInt8] {
        let value = serial << 16 | index
        return (0..<8).map { 0x40 | UInt8(value >> (28 - 4 * $0) & 15) }
    }

    init?(_ payload: ArraySlice<UInt8>) {
        guard payload.count >= 8, payload.suffix(8).allSatisfy({ $0 & 0xF0 == 0x40 }) else {
            return nil
        }
        let value = payload.suffix(8).reduce(0) { $0 << 4 | Int($1 & 15) }
        (serial, index) = (value >> 16, value & 0xFFFF)
    }

    static func < (left: Self, right: Self) -> Bool {
        (left.serial, left.index) < (right.serial, right.index)
    }
}
