import Foundation
import TestSupport
import Testing

@testable import Media
@testable import MediaTestSupport
@testable import Mux

/// Parameter sets of encoders with every field that ffmpeg's trace_headers reads in them.
/// `Tests/Fixtures/ParameterSets.txt` holds a title, the NAL unit and the fields of each.
struct ParameterTableRow: CustomTestStringConvertible, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case h264 = "H.264 SPS"
        case hevc = "HEVC SPS"
        case hevcVideo = "HEVC VPS"
    }

    let kind: Kind
    let name: String
    let nalUnit: [UInt8]
    /// "name=value,value" in the order of the syntax.
    let text: String

    var fields: ParameterFields { ParameterFields(text: text) }
    var testDescription: String { "\(kind.rawValue): \(name)" }

    static let all = Result {
        let file = PackageRoot.url.appending(path: "Tests/Fixtures/ParameterSets.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n\n").map { entry in
            let lines = entry.split(separator: "\n").map(String.init)
            try #require(lines.count == 3)
            let title = try #require(lines[0].firstRange(of: ": "))
            return ParameterTableRow(
                kind: try #require(Kind(rawValue: String(lines[0][..<title.lowerBound]))),
                name: String(lines[0][title.upperBound...]), nalUnit: bytes(lines[1]), text: lines[2])
        }
    }

    static func of(_ kind: Kind) throws -> [ParameterTableRow] { try all.get().filter { $0.kind == kind } }
}

@Suite("Parameter sets, field by field")
struct ParameterTableTests {
    @Test func manyDistinctSets() throws {
        let rows = try ParameterTableRow.all.get()
        #expect(Set(rows.map(\.nalUnit)).count == rows.count)
        #expect(try ParameterTableRow.of(.h264).count >= 75)
        #expect(try ParameterTableRow.of(.hevc).count >= 40)
        #expect(try ParameterTableRow.of(.hevcVideo).count >= 12)
    }

    @Test(arguments: try ParameterTableRow.of(.h264))
    func h264(row: ParameterTableRow) throws {
        let set = try H264SequenceParameterSet(nalUnit: row.nalUnit)
        let (ours, theirs) = (ParameterFields(of: set), row.fields)
        ours.expectEqual(theirs)
        #expect((set.vui != nil) == (theirs["vuiparameterspresentflag"] == [1]))
        let flags = (0..<6).map { theirs["constraintset\($0)flag"]?.first ?? 0 }
        #expect(set.constraintSetFlags >> 2 == flags.reduce(0) { $0 << 1 | $1 })
    }

    @Test(arguments: try ParameterTableRow.of(.hevc))
    func hevc(row: ParameterTableRow) throws {
        let set = try HEVCSequenceParameterSet(nalUnit: row.nalUnit)
        ParameterFields(of: set).expectEqual(row.fields)
        expectEqual(set.profileTierLevel, row.fields)
        #expect((set.vui != nil) == (row.fields["vuiparameterspresentflag"] == [1]))
    }

    @Test(arguments: try ParameterTableRow.of(.hevcVideo))
    func hevcVideo(row: ParameterTableRow) throws {
        let set = try HEVCVideoParameterSet(nalUnit: row.nalUnit)
        let theirs = row.fields
        ParameterFields(of: set).expectEqual(theirs)
        #expect((set.timing != nil) == (theirs["vpstiminginfopresentflag"] == [1]))
    }

    /// Compares the flags that are stored as bits.
    private func expectEqual(_ profile: HEVCProfileTierLevel, _ theirs: ParameterFields) {
        let compatibility = (0..<32).map { Int(profile.generalProfileCompatibilityFlags >> UInt32(31 - $0) & 1) }
        #expect(theirs["generalprofilecompatibilityflag"] == compatibility)
        let constraints = [
            "progressivesource", "interlacedsource", "nonpackedconstraint", "frameonlyconstraint",
            "max12bitconstraint", "max10bitconstraint", "max8bitconstraint", "max422chromaconstraint",
            "max420chromaconstraint", "maxmonochromeconstraint", "intraconstraint", "onepictureonlyconstraint",
            "lowerbitrateconstraint",
        ]
        let isRangeExtension = theirs["generalmax12bitconstraintflag"] != nil
        for (index, name) in constraints.prefix(isRangeExtension ? constraints.count : 4).enumerated() {
            let bit = Int(profile.generalConstraintIndicatorFlags[index / 8] >> UInt8(7 - index % 8) & 1)
            #expect(theirs["general\(name)flag"] == [bit], "\(name)")
        }
    }

    /// The table agrees with the installed ffmpeg.
    @Test(arguments: [ParameterTableRow.Kind.h264, .hevc])
    func asTraced(kind: ParameterTableRow.Kind) throws {
        let rows = try ParameterTableRow.of(kind)
        let traces = try ParameterFields.traced(rows.map(\.nalUnit), format: kind == .h264 ? "h264" : "hevc") { unit in
            kind == .h264 ? [[0x09, 0xF0]] : ParameterFields.unitsBefore(unit)
        }
        for (row, traced) in zip(rows, traces) {
            let held = row.fields
            for name in held.names { #expect(held[name] == traced[name], "\(row.name): \(name)") }
        }
    }
}
