@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// A stream of H.264 whose GOPs are open and whose leading pictures are reference pictures, as of broadcast encoders; x264
/// has none that need them.
///
/// Each GOP is, in decoding order, an I picture with a recovery point, three leading pictures, a P picture and four
/// B pictures. Without the leading pictures three values of frame_num are missing. A decoder that fills the gap has
/// other lists of reference pictures, and the B pictures are predicted from the wrong one.
struct ReferenceBFrames {
    /// Size in macroblocks.
    let side: Int
    private static let leadingCount = 3
    private static let ticksPerFrame: Int64 = 3600
    private static let firstDecode: Int64 = 900_000

    var configuration: VideoConfiguration {
        VideoConfiguration(
            codec: .h264, sequenceParameterSets: [sequenceParameterSet],
            pictureParameterSets: [Self.pictureParameterSet])
    }

    /// Returns GOPs as transport streams; GOP 0 has no leading pictures if it begins with an IDR picture.
    func segments(_ gops: Range<Int>) -> [[UInt8]] {
        let muxer = TransportStreamMuxer(TransportProgram(video: .h264, audio: .aac), audioChanges: 0)
        return gops.map { gop in
            let samples = samples(of: gop)
            let times = samples.map(\.decodeTime)
            let range = times[0]..<(times[times.count - 1] + Ticks(Self.ticksPerFrame))
            var media = TransportMedia(decoding: range, presentationStart: samples[0].presentationTime)
            media.video = samples
            var buffer: [UInt8] = []
            return muxer.segment(media, in: &buffer).bytes
        }
    }

    /// 9 pictures a GOP; POC counts fields.
    private func samples(of gop: Int) -> [TransportMedia.VideoSample] {
        let (number, order) = (5 * gop, 18 * gop)
        let intra = order + 2 * Self.leadingCount
        let color = UInt8(40 + 20 * (gop % 8))
        var pictures: [(order: Int, units: [[UInt8]])] = [
            (
                intra,
                [
                    sequenceParameterSet, Self.pictureParameterSet, [6, 6, 1, 0xC4, 0x80],
                    slice(.intra, number: number, order: intra, isReference: true, color: color),
                ]
            )
        ]
        for index in 0..<Self.leadingCount {
            let (number, order) = (number + 1 + index, order + 2 * index)
            pictures.append((order, [slice(.predicted, number: number, order: order, isReference: true)]))
        }
        let last = intra + 10
        pictures.append(
            (last, [slice(.predicted, number: number + 4, order: last, isReference: true, color: color + 10)]))
        for order in stride(from: intra + 2, to: last, by: 2) {
            pictures.append((order, [slice(.bipredicted, number: number + 5, order: order, isReference: false)]))
        }
        return pictures.enumerated().map { index, picture in
            let payload = picture.units.flatMap { unit -> [UInt8] in
                [0, 0, UInt8(unit.count >> 8), UInt8(unit.count & 0xFF)] + unit
            }
            return TransportMedia.VideoSample(
                decodeTime: Ticks(Self.firstDecode + Int64(9 * gop + index) * Self.ticksPerFrame),
                presentationTime: Ticks(Self.firstDecode + Int64(picture.order / 2 + 1) * Self.ticksPerFrame),
                isRandomAccessPoint: index == 0, payload: payload[...])
        }
    }
}

// MARK: - Syntax

extension ReferenceBFrames {
    private enum SliceType: Int {
        case predicted = 5
        case bipredicted, intra
    }

    private var sequenceParameterSet: [UInt8] {
        var bits = BitWriter()
        bits.append(0x4D_00_1E, bits: 24)
        // log2_max_frame_num 8, log2_max_pic_order_cnt_lsb 8, four reference frames
        for value in [0, 4, 0, 4, 4] { bits.appendGolomb(value) }
        bits.append(0, bits: 1)
        for value in [side - 1, side - 1] { bits.appendGolomb(value) }
        bits.append(0b1100, bits: 4)
        return Self.unit(0x67, bits)
    }

    private static var pictureParameterSet: [UInt8] {
        var bits = BitWriter()
        for value in [0, 0] { bits.appendGolomb(value) }
        bits.append(0, bits: 2)
        for value in [0, 0, 0] { bits.appendGolomb(value) }
        bits.append(0, bits: 3)
        for value in [0, 0, 0] { bits.appendGolomb(value) }
        // deblocking_filter_control_present_flag
        bits.append(0b100, bits: 3)
        return unit(0x68, bits)
    }

    /// A picture of I_PCM macroblocks of one color; without a color a copy of the first reference picture: of the first list
    /// by skipped macroblocks, in a B picture of the second list.
    private func slice(
        _ type: SliceType, number: Int, order: Int, isReference: Bool, color: UInt8? = nil
    ) -> [UInt8] {
        var bits = BitWriter()
        for value in [0, type.rawValue, 0] { bits.appendGolomb(value) }
        bits.append(number & 0xFF, bits: 8)
        bits.append(order & 0xFF, bits: 8)
        if type == .bipredicted { bits.append(1, bits: 1) }
        if type != .intra {
            // One picture in each list, in the initial order.
            bits.append(1, bits: 1)
            for _ in 0..<(type == .bipredicted ? 2 : 1) { bits.appendGolomb(0) }
            bits.append(0, bits: type == .bipredicted ? 2 : 1)
        }
        if isReference { bits.append(0, bits: 1) }
        // slice_qp_delta, disable_deblocking_filter_idc
        for value in [0, 1] { bits.appendGolomb(value) }
        appendMacroblocks(type, color: color, to: &bits)
        return Self.unit(isReference ? 0x61 : 0x01, bits)
    }

    private func appendMacroblocks(_ type: SliceType, color: UInt8?, to bits: inout BitWriter) {
        guard color != nil || type == .bipredicted else { return bits.appendGolomb(side * side) }
        for _ in 0..<(side * side) {
            if type != .intra { bits.appendGolomb(0) }
            guard let color else {
                // B_L1_16x16 without motion or residual
                for value in [2, 0, 0, 0] { bits.appendGolomb(value) }
                continue
            }
            bits.appendGolomb(type == .intra ? 25 : 30)
            bits.align()
            for _ in 0..<384 { bits.append(Int(color), bits: 8) }
        }
    }

    /// A NAL unit with rbsp_trailing_bits and emulation prevention.
    private static func unit(_ header: UInt8, _ payload: BitWriter) -> [UInt8] {
        var payload = payload
        payload.append(1, bits: 1)
        var (bytes, zeros) = ([header], 0)
        for byte in payload.bytes {
            if zeros == 2, byte <= 3 {
                bytes.append(3)
                zeros = 0
            }
            bytes.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return bytes
    }
}

extension BitWriter {
    /// ue(v)
    fileprivate mutating func appendGolomb(_ value: Int) {
        let length = Int.bitWidth - (value + 1).leadingZeroBitCount
        append(0, bits: length - 1)
        append(value + 1, bits: length)
    }
}
