import Testing

@testable import Splice

/// Field by field against ffmpeg's own reading of the same bytes: the names of our properties are the standard's.
@Suite("Parameter sets, traced by ffmpeg")
struct ParameterTraceTests {
    @Test func h264() throws {
        let units = h264Rows.map(\.nalUnit) + [ParameterSyntaxWriter.h264WithEverything()]
        let traces = try trace(units, format: "h264") { _ in [[0x09, 0xF0]] }
        var met: Set<String> = []
        for (unit, traced) in zip(units, traces) {
            let set = try H264SequenceParameterSet(nalUnit: unit)
            #expect(set.vuiFault == nil)
            met.formUnion(compare(fields(of: set), traced))
            expectNothingUnread(fields(of: set), traced)
        }
        #expect(met.isSuperset(of: ["deltascale", "offsetforrefframe", "cpbsizevalueminus1", "timescale"]))
    }

    @Test func hevc() throws {
        // x265 writes one flag too many without a clock, which ffmpeg's tracer refuses.
        let rows = hevcRows.filter { $0.name != "without VUI clock" }
        let units = rows.map(\.nalUnit) + [ParameterSyntaxWriter.hevcWithEverything()]
        let traces = try trace(units, format: "hevc") { unit in
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
            met.formUnion(compare(fields(of: set), traced))
        }
        #expect(met.isSuperset(of: ["minspatialsegmentationidc", "defdispwinleftoffset", "vuitimescale"]))
    }

    // MARK: Ours

    typealias Fields = [String: [Int]]

    /// Every number and flag below `value` by name, those of one name in the order of declaration.
    private func fields(of value: Any) -> Fields {
        var fields: Fields = [:]
        collect(value, name: "", into: &fields)
        return fields
    }

    private func collect(_ value: Any, name: String, into fields: inout Fields) {
        switch value {
        case let number as Int: fields[name, default: []].append(number)
        case let flag as Bool: fields[name, default: []].append(flag ? 1 : 0)
        default:
            for child in Mirror(reflecting: value).children {
                let isNamed = child.label.map { !$0.hasPrefix(".") && !["some", "zero", "one"].contains($0) } ?? false
                collect(child.value, name: isNamed ? plain(child.label ?? "") : name, into: &fields)
            }
        }
    }

    /// Lower case, no underscores, no index.
    private func plain(_ name: String) -> String {
        let known = name.prefix { $0 != "[" }.lowercased().filter { $0 != "_" }
        // ffmpeg leaves the "value" out of this one.
        return known == "gapsinframenumallowedflag" ? "gapsinframenumvalueallowedflag" : known
    }

    // MARK: Theirs

    /// - Parameter prefix: gives the NAL units that stand in front of a unit.
    /// - Returns: for each unit what trace_headers reads in it.
    private func trace(
        _ units: [[UInt8]], format: String, behind prefix: ([UInt8]) -> [[UInt8]]
    ) throws -> [Fields] {
        // The last set of a stream that ends there is not always traced.
        let stream = (units + units.prefix(1)).flatMap { (prefix($0) + [$0]).flatMap { [0, 0, 0, 1] as [UInt8] + $0 } }
        let copying = ["-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"]
        let arguments = ["-nostdin", "-f", format, "-i", "INPUT"] + copying
        // There is no picture in the stream, so it ends in an error, behind the trace.
        let lines = try FragmentTool.run("ffmpeg", arguments, input: stream).errors.split(separator: "\n")
        var traces: [Fields] = []
        var isInside = false
        for line in lines {
            if line.hasSuffix("Parameter Set") || line.hasSuffix("Delimiter") {
                isInside = line.hasSuffix("Sequence Parameter Set")
                if isInside { traces.append([:]) }
            }
            let words = line.split(separator: " ")
            guard isInside, words.count >= 4, words[words.count - 2] == "=", let value = Int(words[words.count - 1])
            else { continue }
            traces[traces.count - 1][plain(String(words[words.count - 4])), default: []].append(value)
        }
        try #require(traces.count >= units.count, "\(lines.last ?? "")")
        return Array(traces.prefix(units.count))
    }

    // MARK: Both

    /// - Returns: the names met in both.
    private func compare(_ ours: Fields, _ theirs: Fields) -> [String] {
        ours.keys.filter { theirs[$0] != nil }.map { name in
            #expect(ours[name] == theirs[name], "\(name)")
            return name
        }
    }

    /// What ffmpeg reads and we do not hold under its name: headers, presence of what is an optional here, counts of
    /// what is an array here, and the flags held as one byte.
    private func expectNothingUnread(_ ours: Fields, _ theirs: Fields) {
        let implied: Set = [
            "forbiddenzerobit", "nalrefidc", "nalunittype", "reservedzero2bits", "framecroppingflag", "cpbcntminus1",
            "numrefframesinpicordercntcycle", "bitstreamrestrictionflag", "picordercnttype", "rbspstoponebit",
            "rbspalignmentzerobit",
        ]
        let unread = theirs.keys.filter { name in
            ours[name] == nil && !implied.contains(name) && !name.hasSuffix("presentflag")
                && !name.hasPrefix("constraintset")
        }
        #expect(unread.isEmpty)
    }
}
