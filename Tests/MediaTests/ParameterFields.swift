import Testing

@testable import MediaTestSupport

/// The fields of a parameter set by name, in lower case and without underscores or indices; the values of one name are
/// in stream order.
struct ParameterFields {
    private var values: [String: [Int]] = [:]

    private init() {}

    /// Every number and flag below `value`, under the name of its property.
    init(of value: Any) { collect(value, name: "") }

    /// - Parameter text: "name=value,value" for each field, separated by spaces.
    init(text: String) {
        for field in text.split(separator: " ") {
            let parts = field.split(separator: "=")
            guard parts.count == 2 else { continue }
            for value in parts[1].split(separator: ",") { append(Int(value) ?? .min, to: String(parts[0])) }
        }
    }

    var names: [String] { Array(values.keys) }

    subscript(name: String) -> [Int]? { values[name] }

    /// - Parameter unitsBefore: returns the NAL units to insert before a unit.
    /// - Returns: The fields that trace_headers reads in each unit.
    static func traced(
        _ units: [[UInt8]], format: String, unitsBefore prefix: ([UInt8]) -> [[UInt8]]
    ) throws -> [ParameterFields] {
        // trace_headers does not always trace the last set of a stream.
        let stream = (units + units.prefix(1)).flatMap { (prefix($0) + [$0]).flatMap { [0, 0, 0, 1] as [UInt8] + $0 } }
        let copying = ["-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-"]
        let arguments = ["-nostdin", "-f", format, "-i", "INPUT"] + copying
        // The stream has no picture, so ffmpeg ends with an error after the trace.
        let lines = try FragmentTool.run("ffmpeg", arguments, input: stream).errors.split(separator: "\n")
        var traces: [ParameterFields] = []
        var isInside = false
        for line in lines {
            if line.hasSuffix("Parameter Set") || line.hasSuffix("Delimiter") {
                isInside = line.hasSuffix("Sequence Parameter Set")
                if isInside { traces.append(ParameterFields()) }
            }
            let fields = line.split(separator: " ")
            guard isInside, fields.count >= 4, fields[fields.count - 2] == "=",
                let value = Int(fields[fields.count - 1])
            else { continue }
            traces[traces.count - 1].append(value, to: String(fields[fields.count - 4]))
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
                // The parts of an array, a tuple, an optional or an enum case count for the property that holds them.
                let isNamed = child.label.map { !$0.hasPrefix(".") && !["some", "zero", "one"].contains($0) } ?? false
                collect(child.value, name: isNamed ? child.label ?? "" : name)
            }
        }
    }

    private mutating func append(_ value: Int, to name: String) {
        let plain = name.prefix { $0 != "[" }.lowercased().filter { $0 != "_" }
        // The timing of HEVC has the names of H.264 here.
        let isTiming = ["vuinumunitsintick", "vuitimescale", "vpsnumunitsintick", "vpstimescale"].contains(plain)
        values[isTiming ? String(plain.dropFirst(3)) : plain, default: []].append(value)
    }
}

extension ParameterFields {
    /// The units before an HEVC sequence parameter set that ffmpeg needs to trace it: a delimiter, and a video
    /// parameter set with the same identifier and sub-layers, which are in the first byte after the header.
    static func unitsBefore(_ unit: [UInt8]) -> [[UInt8]] {
        let (id, layers) = (Int(unit[2] >> 4), Int(unit[2] >> 1 & 7))
        return [
            [0x46, 0x01, 0x50], ParameterSyntaxWriter.hevcVideoParameterSet(id: id, maxSubLayersMinus1: layers),
        ]
    }

    /// Expects equal values for each name in both.
    /// - Returns: The names in both.
    @discardableResult
    func expectEqual(_ theirs: ParameterFields) -> [String] {
        names.filter { theirs[$0] != nil }.map { name in
            #expect(self[name] == theirs[name], "\(name)")
            return name
        }
    }
}
