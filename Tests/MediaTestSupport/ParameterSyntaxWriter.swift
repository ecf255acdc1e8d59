@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// Writes parameter sets with syntax that the installed encoders do not produce.
struct ParameterSyntaxWriter {
    private var bits: [UInt8] = []

    mutating func u(_ count: Int, _ value: Int) {
        for shift in stride(from: count - 1, through: 0, by: -1) { bits.append(UInt8(value >> shift & 1)) }
    }

    mutating func flags(_ values: Bool...) { bits += values.map { $0 ? 1 : 0 } }

    mutating func ue(_ values: Int...) {
        for value in values {
            let length = Int.bitWidth - (value + 1).leadingZeroBitCount
            u(length - 1, 0)
            u(length, value + 1)
        }
    }

    mutating func se(_ values: Int...) {
        for value in values { ue(value > 0 ? 2 * value - 1 : -2 * value) }
    }

    /// Returns the NAL unit with its header, the stop bit and emulation prevention.
    func nalUnit(header: [UInt8]) -> [UInt8] {
        var padded = bits + [1]
        while padded.count % 8 != 0 { padded.append(0) }
        var (unit, zeros) = (header, 0)
        for start in stride(from: 0, to: padded.count, by: 8) {
            let byte = padded[start..<start + 8].reduce(0) { $0 << 1 | $1 }
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            unit.append(byte)
        }
        return unit
    }
}

extension ParameterSyntaxWriter {
    /// High 4:4:4 with all twelve scaling lists coded, absent or defaulted; picture order count type 1; both HRDs.
    static func h264WithEverything() -> [UInt8] {
        var set = ParameterSyntaxWriter()
        set.u(8, 244)
        set.u(8, 0)
        set.u(8, 31)
        set.ue(7, 3)  // id, 4:4:4
        set.flags(true)  // separate_colour_plane_flag
        set.ue(2, 1)
        set.flags(false, true)
        for list in 0..<12 { set.appendScalingList(list) }
        set.ue(4, 1)  // frame numbers, picture order count type
        set.flags(true)
        set.se(-2, 3)
        set.ue(3)
        set.se(5, -7, 65_536)
        set.ue(4)
        set.flags(true)
        set.ue(119, 33)
        set.flags(false, true, true, true)  // fields, MBAFF, direct 8x8, cropping
        set.ue(1, 2, 3, 4)
        set.flags(true, false, true, true)  // VUI, no aspect ratio, overscan signaled and appropriate
        set.flags(false, true)
        set.ue(1, 5)
        set.flags(false)
        for alternatives in [2, 1] { set.appendDecoder(alternatives) }
        set.flags(true, true, false)  // low delay, pic_struct, no restriction
        return set.nalUnit(header: [0x67])
    }

    private mutating func appendScalingList(_ list: Int) {
        switch list % 3 {
        case 0: flags(false)
        case 1:
            flags(true)
            se(-8)  // the default list
        default:
            flags(true)
            for entry in 0..<(list < 6 ? 16 : 64) { se(entry % 2 == 0 ? 3 : -2) }
        }
    }

    private mutating func appendDecoder(_ alternatives: Int) {
        flags(true)
        ue(alternatives - 1)
        u(4, 3)
        u(4, 5)
        for alternative in 0..<alternatives {
            ue(15_624 + alternative, 0xFFFF_FFFE - alternative)
            flags(alternative == 0)
        }
        for length in [23, 22, 21, 24] { u(5, length) }
    }

    /// Three temporal layers, predicted reference picture sets, long-term pictures, PCM, scaling lists, and an HRD for
    /// sub-pictures. The last fields of the VUI prove that all of it was skipped correctly.
    static func hevcWithEverything() -> [UInt8] {
        var set = ParameterSyntaxWriter()
        set.u(4, 2)
        set.u(3, 2)
        set.flags(true)
        set.appendProfile(2)
        set.ue(3, 1, 1920, 1088)
        set.flags(true)
        set.ue(0, 0, 0, 4, 2, 2, 4)
        set.flags(true)
        for _ in 0..<3 { set.ue(4, 2, 0) }
        set.ue(0, 3, 0, 3, 1, 2)
        set.flags(true, true)
        set.appendScalingLists()
        set.flags(true, true, true)  // AMP, SAO, PCM
        set.u(8, 0x77)
        set.ue(0, 1)
        set.flags(true)
        set.appendReferencePictureSets()
        set.flags(true)
        set.ue(2)
        set.u(18, 0x15555)  // two long-term pictures of 8 + 1 bits
        set.flags(true, true, true)
        set.appendUsability()
        set.flags(false)  // no extension
        return set.nalUnit(header: [0x42, 0x01])
    }

    /// Two layer sets, and timing of 24 000 / 1001.
    static func hevcVideoParameterSet(id: Int, maxSubLayersMinus1: Int = 0) -> [UInt8] {
        var set = ParameterSyntaxWriter()
        set.u(4, id)
        set.u(2, 3)
        set.u(6, 0)
        set.u(3, maxSubLayersMinus1)
        set.flags(maxSubLayersMinus1 == 0)
        set.u(16, 0xFFFF)
        set.appendProfile(maxSubLayersMinus1)
        set.flags(true)
        for _ in 0...maxSubLayersMinus1 { set.ue(4, 2, 0) }
        set.u(6, 1)
        set.ue(1)
        set.flags(true, false)
        set.flags(true)
        set.u(32, 1001)
        set.u(32, 24_000)
        set.flags(false)
        set.ue(0)  // no HRD
        set.flags(false)  // no extension
        return set.nalUnit(header: [0x40, 0x01])
    }

    /// pic_parameter_set_rbsp (§7.3.2.3.1) with cu_qp_delta_enabled_flag and offsets before the last flag.
    static func hevcPictureParameterSet(wavefronts: Bool = false) -> [UInt8] {
        var set = ParameterSyntaxWriter()
        set.ue(0, 3)
        set.u(7, 0b0000011)
        set.ue(2, 0)
        set.se(-4)
        set.flags(false, true, true)
        set.ue(1)
        set.se(-2, 3)
        set.flags(true, true, false, true, false, wavefronts)
        return set.nalUnit(header: [0x44, 0x01])
    }

    /// Writes profile and level of the first sub-layer, and the levels of the others.
    private mutating func appendProfile(_ maxSubLayersMinus1: Int) {
        u(8, 0x22)  // High tier, Main 10
        u(32, 0x2000_0000)
        u(32, 0x9000_0000)
        u(16, 0)
        u(8, 123)
        guard maxSubLayersMinus1 > 0 else { return }
        for layer in 0..<maxSubLayersMinus1 { flags(layer == 0, true) }
        u(2 * (8 - maxSubLayersMinus1), 0)
        for layer in 0..<maxSubLayersMinus1 {
            if layer == 0 {
                u(32, 0x2222_2222)
                u(32, 0)
                u(24, 0)
            }
            u(8, 93 + layer)
        }
    }

    private mutating func appendScalingLists() {
        for sizeId in 0..<4 {
            for matrix in 0..<(sizeId == 3 ? 2 : 6) {
                flags(matrix == 0)
                guard matrix == 0 else {
                    ue(1)
                    continue
                }
                if sizeId > 1 { se(8) }
                for entry in 0..<(sizeId == 0 ? 16 : 64) { se(entry % 2 == 0 ? 1 : -1) }
            }
        }
    }

    /// The number of short-term reference picture sets, and the sets.
    static var referencePictureSets: [UInt8] {
        var set = ParameterSyntaxWriter()
        set.appendReferencePictureSets()
        return set.nalUnit(header: [])
    }

    private mutating func appendReferencePictureSets() {
        ue(3)
        ue(2, 1)  // −1, −3, +2
        ue(0)
        flags(true)
        ue(1)
        flags(false)
        ue(1)
        flags(true)
        flags(true, true)  // predicted, deltaRps = −1
        ue(0)
        flags(true, false, true, true, false, false)  // −2, −4 kept by use_delta_flag, +1, not −1
        flags(true, false)  // predicted, deltaRps = +2
        ue(1)
        flags(true, true, true, true)  // −2 + 2 = 0 is dropped; −2, +3, +2 stay
    }

    private mutating func appendUsability() {
        flags(true)
        u(8, 14)
        flags(false, true)
        u(4, 0b1011)
        flags(true)
        for code in [9, 16, 9] { u(8, code) }
        flags(false, false, false, true, true)  // no fields, frame field information, display window
        ue(1, 2, 3, 4)
        flags(true)
        u(32, 1001)
        u(32, 60_000)
        flags(true)
        ue(0)
        appendDecoders()
        flags(true, true, true, false)
        ue(7, 2, 1, 15, 14)
    }

    private mutating func appendDecoders() {
        flags(true, true, true, true)  // an HRD; NAL, VCL and sub-pictures
        u(8, 98)
        u(5, 7)
        flags(true)
        u(5, 9)
        for scale in [2, 3, 4] { u(4, scale) }
        for length in [23, 15, 5] { u(5, length) }
        flags(true)  // sub-layer 0: fixed rate, two buffers
        ue(0, 1)
        for buffer in 0..<4 {
            ue(100 + buffer, 200, 300, 400)
            flags(true)
        }
        flags(false, false, true)  // sub-layer 1: low delay, so one buffer
        appendBuffers()
        flags(false, true)  // sub-layer 2: fixed within the sequence
        ue(4, 0)
        appendBuffers()
    }

    private mutating func appendBuffers() {
        for _ in 0..<2 {
            ue(1, 2, 3, 4)
            flags(false)
        }
    }
}
