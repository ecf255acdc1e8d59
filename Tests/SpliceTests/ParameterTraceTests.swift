import Testing

@testable import Splice

/// Field by field against ffmpeg's own reading of the same bytes: the names of our properties are the standard's.
@Suite("Parameter sets, traced by ffmpeg")
struct ParameterTraceTests {
    @Test func h264() throws {
        let units = h264Rows.map(\.nalUnit) + [ParameterSyntaxWriter.h264WithEverything()]
        let traces = try ParameterFields.traced(units, format: "h264") { _ in [[0x09, 0xF0]] }
        var met: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try H264SequenceParameterSet(nalUnit: unit)
            #expect(set.vuiFault == nil)
            met.formUnion(compare(ParameterFields(of: set), traced))
            expectNothingUnread(ParameterFields(of: set), traced)
        }
        #expect(met.isSuperset(of: ["deltascale", "offsetforrefframe", "cpbsizevalueminus1", "timescale"]))
    }

    @Test func hevc() throws {
        // x265 writes one flag too many without a clock, which ffmpeg's tracer refuses.
        let rows = hevcRows.filter { $0.name != "without VUI clock" }
        let units = rows.map(\.nalUnit) + [ParameterSyntaxWriter.hevcWithEverything()]
        let traces = try ParameterFields.traced(units, format: "hevc") { unit in
            // Id and sub-layers stand in the first byte behind the header; ffmpeg wants them said alike.
            let (id, layers) = (Int(unit[2] >> 4), Int(unit[2] >> 1 & 7))
            return [
                [0x46, 0x01, 0x50],
                ParameterSyntaxWriter.hevcVideoParameterSet(id: id, maxSubLayersMinus1: layers),
            ]
        }
        var met: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try HEVCSequenceParameterSet(nalUnit: unit)
            #expect(set.vuiFault == nil)
            met.formUnion(compare(ParameterFields(of: set), traced))
        }
        #expect(met.isSuperset(of: ["minspatialsegmentationidc", "defdispwinleftoffset", "vuitimescale"]))
    }

    /// - Returns: the names met in both.
    private func compare(_ ours: ParameterFields, _ theirs: ParameterFields) -> [String] {
        ours.names.filter { theirs[$0] != nil }.map { name in
            #expect(ours[name] == theirs[name], "\(name)")
            return name
        }
    }

    /// What ffmpeg reads and we do not hold under its name: headers, presence of what is an optional here, counts of
    /// what is an array here, and the flags held as one byte.
    private func expectNothingUnread(_ ours: ParameterFields, _ theirs: ParameterFields) {
        let implied: Set = [
            "forbiddenzerobit", "nalrefidc", "nalunittype", "reservedzero2bits", "framecroppingflag", "cpbcntminus1",
            "numrefframesinpicordercntcycle", "bitstreamrestrictionflag", "picordercnttype", "rbspstoponebit",
            "rbspalignmentzerobit",
        ]
        let unread = theirs.names.filter { name in
            ours[name] == nil && !implied.contains(name) && !name.hasSuffix("presentflag")
                && !name.hasPrefix("constraintset")
        }
        #expect(unread.isEmpty)
    }
}
