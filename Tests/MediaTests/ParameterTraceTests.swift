import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// Compares synthetic parameter sets field by field with ffmpeg's trace; our property names are the standard's.
@Suite("Synthetic parameter sets, traced by ffmpeg")
struct ParameterTraceTests {
    @Test func h264() throws {
        let units = [ParameterSyntaxWriter.h264WithEverything()]
        let traces = try ParameterFields.traced(units, format: "h264") { _ in [[0x09, 0xF0]] }
        var compared: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try H264SequenceParameterSet(nalUnit: unit)
            compared.formUnion(ParameterFields(of: set).expectEqual(traced))
        }
        #expect(compared.isSuperset(of: ["maxnumrefframes", "framecropleftoffset"]))
    }

    @Test func hevc() throws {
        let units = [ParameterSyntaxWriter.hevcWithEverything()]
        let traces = try ParameterFields.traced(units, format: "hevc", unitsBefore: ParameterFields.unitsBefore)
        var compared: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try HEVCSequenceParameterSet(nalUnit: unit)
            compared.formUnion(ParameterFields(of: set).expectEqual(traced))
        }
        #expect(compared.isSuperset(of: ["spstemporalidnestingflag", "aspectratioidc", "timescale"]))
    }
}
