import Testing

/// The fields of a parameter set by name, in lower case and without underscores or indices; the values of one name in
/// the order in which they stand.
struct ParameterFields {
    private var values: [String: [Int]] = [:]

    private init() {}

    /// Every number and flag below `value`, under the name of its property.
    init(of value: Any) { collect(value, name: "") }

    /// - Parameter text: "name=value,value" for each, spaces between.
    init(text: String) {
        for field in text.split(separator: " ") {
            let parts = field.split(separator: "=")
            guard parts.count == 2 else { continue }
            for value in parts[1].split(separator: ",") { append(Int(value) ?? .min, to: String(parts[0])) }
        }
    }

    var names: [String] { Array(values.keys) }

    subscript(name: String) -> [Int]? { values[name] }

    /// - Parameter prefix: gives the NAL units that stand in front of a unit.
    /// - Returns: for each unit what trace_headers reads in it.
    static func traced(
        _ units: [[UInt8]], format: String, behind prefix: ([UInt8]) -> [[UInt8]]
    ) throws -> [ParameterFields] {
        // The last set of a stream that ends there is not always traced.
        let stream = (units + units.prefix(1)).flatMap { (prefix($0) + [$0]).flatMap { [0, 0, 0, 1] as [UInt8] + $0 } }
        let copying = ["-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"]
        let arguments = ["-nostdin", "-f", format, "-i", "INPUT"] + copying
        // There is no picture in the stream, so it ends in an error, behind the trace.
        let lines = try FragmentTool.run("ffmpeg", arguments, input: stream).errors.split(separator: "\n")
        var traces: [ParameterFields] = []
        var isInside = false
        for line in lines {
            if line.hasSuffix("Parameter Set") || line.hasSuffix("Delimiter") {
                isInside = line.hasSuffix("Sequence Parameter Set")
                if isInside { traces.append(ParameterFields()) }
            }
            let words = line.split(separator: " ")
            guard isInside, words.count >= 4, words[words.count - 2] == "=", let value = Int(words[words.count - 1])
            else { continue }
            traces[traces.count - 1].append(value, to: String(words[words.count - 4]))
        }
        try #require(traces.count >= units.count, "\(lines.last ?? "")")
        return Array(traces.prefix(units.count))
    }

    private mutating func collect(_ value: Any, name: String) {
        switch value {
        case let number as Int: append(number, to: name)
        case let flag as Bool: append(flag ? 1 : 0, to: name)
        default:
            for child in Mirror(reflecting: value).children {
                // The parts of an array, a tuple, an optional or an enum case stand for the property that holds them.
                let isNamed = child.label.map { !$0.hasPrefix(".") && !["some", "zero", "one"].contains($0) } ?? false
                collect(child.value, name: isNamed ? child.label ?? "" : name)
            }
        }
    }

    private mutating func append(_ value: Int, to name: String) {
        let plain = name.prefix { $0 != "[" }.lowercased().filter { $0 != "_" }
        // ffmpeg leaves the "value" out of this one.
        let known = plain == "gapsinframenumallowedflag" ? "gapsinframenumvalueallowedflag" : plain
        values[known, default: []].append(value)
    }
}

extension ParameterFields {
    /// What stands in front of an HEVC sequence parameter set so that ffmpeg traces it: a delimiter, and a video
    /// parameter set with its id and its sub-layers, which stand in the first byte behind the header.
    static func unitsBefore(_ unit: [UInt8]) -> [[UInt8]] {
        let (id, layers) = (Int(unit[2] >> 4), Int(unit[2] >> 1 & 7))
        return [
            [0x46, 0x01, 0x50], ParameterSyntaxWriter.hevcVideoParameterSet(id: id, maxSubLayersMinus1: layers),
        ]
    }

    /// Each name that is met in both has the same values.
    /// - Returns: the names met in both.
    @discardableResult
    func expectEqual(_ theirs: ParameterFields) -> [String] {
        names.filter { theirs[$0] != nil }.map { name in
            #expect(self[name] == theirs[name], "\(name)")
            return name
        }
    }

    /// What ffmpeg reads and we do not hold under its name: headers, presence of what is an optional here, counts of
    /// what is an array here, and the flags held as one byte.
    func expectNothingUnread(of theirs: ParameterFields) {
        let implied: Set = [
            "forbiddenzerobit", "nalrefidc", "nalunittype", "reservedzero2bits", "framecroppingflag", "cpbcntminus1",
            "numrefframesinpicordercntcycle", "bitstreamrestrictionflag", "picordercnttype", "rbspstoponebit",
            "rbspalignmentzerobit",
        ]
        let unread = theirs.names.filter { name in
            self[name] == nil && !implied.contains(name) && !name.hasSuffix("presentflag")
                && !name.hasPrefix("constraintset")
        }
        #expect(unread.isEmpty, "\(unread)")
    }
}
