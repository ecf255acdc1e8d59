import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

@Suite("Parameter sets")
struct ParameterSetTests {
    @Test("x264 parameter sets agree with ffprobe", arguments: h264Rows)
    func h264(_ row: ParameterSetRow) throws {
        let configuration = VideoConfiguration(
            codec: .h264, sequenceParameterSets: [row.nalUnit], pictureParameterSets: [])
        #expect(try summary(VideoDescription(configuration)) == row.expected)
    }

    @Test("x265 parameter sets agree with ffprobe", arguments: hevcRows)
    func hevc(_ row: ParameterSetRow) throws {
        let configuration = VideoConfiguration(
            codec: .hevc, sequenceParameterSets: [row.nalUnit], pictureParameterSets: [])
        #expect(try summary(VideoDescription(configuration)) == row.expected)
    }

    private func summary(_ video: VideoDescription) -> String {
        let shape = video.sampleAspectRatio.map { "\($0.numerator):\($0.denominator)" } ?? "-"
        let rate = video.frameRate.map { "\($0.numerator)/\($0.denominator)" } ?? "-"
        let color =
            video.color.map {
                "\($0.primaries)/\($0.transferCharacteristics)/\($0.matrixCoefficients)"
                    + ($0.isFullRange ? " full" : " limited")
            } ?? "-"
        return "\(video.width)x\(video.height) sar \(shape) rate \(rate) colour \(color) \(video.codecString)"
    }

    @Test("a predicted reference picture set follows §7.4.8")
    func referencePictureSets() throws {
        var bits = BitReader(ParameterSyntaxWriter.referencePictureSets[...], section: "ISO/IEC 23008-2 §7.3.7")
        var sets: [HEVCReferencePictureSet] = []
        for _ in 0..<(try bits.ue("num_short_term_ref_pic_sets", in: 3...3)) {
            sets.append(try HEVCReferencePictureSet(&bits, previous: sets.last))
        }
        #expect(sets.map(\.deltaPocs) == [[-1, -3, 2], [-2, -4, 1], [-2, 2, 3]])
    }

    @Test("VPS timing is used if the SPS has none")
    func timingOfVideoParameterSet() throws {
        let untimed = try #require(hevcRows.first { $0.name == "without VUI clock" })
        let clock = ParameterSyntaxWriter.hevcVideoParameterSet(id: 0)
        let rates = try [untimed, hevcRows[0]].map { row in
            try VideoDescription(
                VideoConfiguration(
                    codec: .hevc, videoParameterSets: [clock], sequenceParameterSets: [row.nalUnit],
                    pictureParameterSets: [])
            ).frameRate
        }
        #expect(rates == [.init(24_000, 1001), .init(25, 1)])
    }

    @Test(
        "a VUI that ends early is dropped before its timing, and the SPS is kept", arguments: [(12, true), (16, false)])
    func truncatedUsabilityInformation(missing: Int, hasTiming: Bool) throws {
        let cut = Array(bytes(h264Rows[36].hex).dropLast(missing))
        let set = try H264SequenceParameterSet(nalUnit: cut)
        #expect((set.vui?.timing != nil) == hasTiming)
        #expect(set.width == 640)
    }

    @Test("truncated sets and flipped bits never trap, and sizes stay in range")
    func damage() throws {
        var sets = (h264Rows + hevcRows).enumerated().filter { $0.offset % 8 == 0 }.map(\.element.nalUnit)
        sets += [ParameterSyntaxWriter.h264WithEverything(), ParameterSyntaxWriter.hevcWithEverything()]
        var thrown = 0
        for set in sets {
            let prefixes = set.indices.map { Array(set[..<$0]) }
            let flipped = (8..<set.count * 8).map { bit in
                var copy = set
                copy[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                return copy
            }
            for damaged in prefixes + flipped { thrown += isRefused(damaged, isHEVC: set[0] == 0x42) ? 1 : 0 }
        }
        #expect(thrown > 1000)
    }

    private func isRefused(_ nalUnit: [UInt8], isHEVC: Bool) -> Bool {
        let configuration = VideoConfiguration(
            codec: isHEVC ? .hevc : .h264, sequenceParameterSets: [nalUnit], pictureParameterSets: [])
        do throws(MediaError) {
            let video = try VideoDescription(configuration)
            #expect((1...65_535).contains(video.width) && (1...65_535).contains(video.height))
            _ = try InitWriter.write(video: configuration, audio: nil)
            return false
        } catch {
            return true
        }
    }

    static let refusals: [(when: String, hex: String, reason: MediaError.Reason)] = [
        ("empty", "", .truncated),
        ("a picture parameter set", "68ce3c80", .badParameterSet(field: "nal_unit_type")),
        ("a header and a profile", "6742", .truncated),
        ("an id of 32", "6742001e0420", .badParameterSet(field: "seq_parameter_set_id")),
        ("chroma format 4", "6764001e9580", .badParameterSet(field: "chroma_format_idc")),
        ("an unterminated Exp-Golomb code", "6742001e0000000000", .badParameterSet(field: "seq_parameter_set_id")),
    ]

    @Test("the error names the malformed field", arguments: refusals)
    func refusal(when: String, hex: String, reason: MediaError.Reason) {
        let error = #expect(throws: MediaError.self, "\(when)") {
            try H264SequenceParameterSet(nalUnit: bytes(hex))
        }
        #expect(error?.reason == reason, "\(when)")
        #expect(error?.section == "ISO/IEC 14496-10 §7.3.2.1.1")
    }
}
