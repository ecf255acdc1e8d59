import Testing

@testable import Demux
@testable import Media
@testable import Mux
@testable import Splice
@testable import Transcode

/// What no encoder at hand writes, field by field against ffmpeg's own reading of the same bytes: the names of our
/// properties are the standard's.
@Suite("Parameter sets made up, traced by ffmpeg")
struct ParameterTraceTests {
    @Test func h264() throws {
        let units = [ParameterSyntaxWriter.h264WithEverything()]
        let traces = try ParameterFields.traced(units, format: "h264") { _ in [[0x09, 0xF0]] }
        var met: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try H264SequenceParameterSet(nalUnit: unit)
            #expect(set.vuiFault == nil)
            met.formUnion(ParameterFields(of: set).expectEqual(traced))
            ParameterFields(of: set).expectNothingUnread(of: traced)
        }
        #expect(met.isSuperset(of: ["deltascale", "offsetforrefframe", "cpbsizevalueminus1"]))
    }

    @Test func hevc() throws {
        let units = [ParameterSyntaxWriter.hevcWithEverything()]
        let traces = try ParameterFields.traced(units, format: "hevc", behind: ParameterFields.unitsBefore)
        var met: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try HEVCSequenceParameterSet(nalUnit: unit)
            #expect(set.vuiFault == nil)
            met.formUnion(ParameterFields(of: set).expectEqual(traced))
        }
        #expect(met.isSuperset(of: ["minspatialsegmentationidc", "defdispwinleftoffset", "vuitimescale"]))
    }
}
