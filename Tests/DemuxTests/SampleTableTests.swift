import TestSupport
import Testing

@testable import Demux
@testable import Media
@testable import MediaTestSupport

/// Tests valid and malformed sample tables (ISO/IEC 14496-12 §8.6, §8.7).
@Suite struct SampleTableTests {
    /// Boxes of six samples of 3, 5, 7, 9, 11 and 13 bytes, in chunks of two at 100, 200 and 300. Rows replace boxes.
    static let boxes: [BoxType: [UInt32]] = [
        "stts": [0, 2, 4, 40, 2, 20], "stsz": [0, 0, 6, 3, 5, 7, 9, 11, 13], "stsc": [0, 1, 1, 2, 1],
        "stco": [0, 3, 100, 200, 300],
    ]
    static let plain = Table(
        offsets: [100, 103, 200, 207, 300, 311], sizes: [3, 5, 7, 9, 11, 13], durations: [40, 40, 40, 40, 20, 20],
        compositionOffsets: [0, 0, 0, 0, 0, 0], syncSamples: [0, 1, 2, 3, 4, 5])

    struct Table: Equatable, Sendable {
        var offsets: [UInt64]
        var sizes: [UInt32]
        var durations: [UInt32]
        var compositionOffsets: [Int32]
        var syncSamples: [Int]

        func with(_ change: (inout Table) -> Void) -> Table {
            var table = self
            change(&table)
            return table
        }
    }

    static let rows: [(when: String, boxes: [BoxType: [UInt32]?], table: Table)] = [
        ("unchanged boxes", [:], plain),
        ("sync samples", ["stss": [0, 2, 1, 4]], plain.with { $0.syncSamples = [0, 3] }),
        (
            "composition offsets", ["ctts": [0, 2, 1, 80, 5, 0]],
            plain.with { $0.compositionOffsets = [80, 0, 0, 0, 0, 0] }
        ),
        (
            "signed composition offsets in version 1, and in version 0 against the standard",
            ["ctts": [1 << 24, 1, 6, 0xFFFF_FFD8]],
            plain.with { $0.compositionOffsets = [-40, -40, -40, -40, -40, -40] }
        ),
        (
            "one size for all samples", ["stsz": [0, 4, 6]],
            plain.with { table in
                table.sizes = [4, 4, 4, 4, 4, 4]
                table.offsets = [100, 104, 200, 204, 300, 304]
            }
        ),
        (
            "64-bit offsets", ["stco": nil, "co64": [0, 3, 0, 100, 0, 300, 7, 0]],
            plain.with { $0.offsets = [100, 103, 300, 307, 0x7_0000_0000, 0x7_0000_000B] }
        ),
        (
            "chunks of one and of three", ["stsc": [0, 2, 1, 1, 1, 2, 3, 1]],
            plain.with { $0.offsets = [100, 200, 205, 212, 300, 311] }
        ),
        ("more chunks than samples", ["stco": [0, 4, 100, 200, 300, 0xFFFF_FFFF]], plain),
        ("entries for chunks beyond the last", ["stsc": [0, 2, 1, 2, 1, 0xFFFF_FFFF, 2, 1]], plain),
        (
            "entries of no samples and of more samples than the track has",
            ["stts": [0, 3, 0, 1, 4, 40, 0xFFFF_FFFF, 20]], plain
        ),
    ]

    static let faults: [(when: String, boxes: [BoxType: [UInt32]?], fault: MovieFault)] = [
        ("no stts", ["stts": nil], .badTable(box: "stts")),
        ("no sizes", ["stsz": nil], .badTable(box: "stsz")),
        ("no chunks", ["stco": nil], .badTable(box: "stco")),
        ("durations of too few samples", ["stts": [0, 1, 5, 40]], .badTable(box: "stts")),
        ("a truncated stts", ["stts": [0, 2, 4, 40]], .badTable(box: "stts")),
        ("composition offsets of too few samples", ["ctts": [0, 1, 5, 40]], .badTable(box: "ctts")),
        ("truncated sizes", ["stsz": [0, 0, 7, 3, 5, 7, 9, 11, 13]], .badTable(box: "stsz")),
        ("compact sizes", ["stsz": nil, "stz2": [0, 16, 6, 0x3_0005, 0x7_0009, 0xB_000D]], .badTable(box: "stsz")),
        ("a billion samples of one size", ["stsz": [0, 1, 1 << 30]], .tooManySamples(count: 1 << 30)),
        ("a duplicate sync sample", ["stss": [0, 2, 1, 1]], .badTable(box: "stss")),
        ("a sync sample beyond the last sample", ["stss": [0, 1, 7]], .badTable(box: "stss")),
        ("chunks of too few samples", ["stco": [0, 2, 100, 200]], .badTable(box: "stsc")),
        ("chunk numbers that do not increase", ["stsc": [0, 2, 1, 2, 1, 1, 2, 1]], .badTable(box: "stsc")),
        ("a first entry with chunk 2", ["stsc": [0, 1, 2, 2, 1]], .badTable(box: "stsc")),
        ("chunks of no samples", ["stsc": [0, 1, 1, 0, 1]], .badTable(box: "stsc")),
        ("chunks that are not in decoding order", ["stco": [0, 3, 100, 300, 200]], .samplesOutOfOrder),
        ("two sample entries", ["stsc": [0, 2, 1, 2, 1, 2, 2, 2]], .severalSampleEntries),
        ("a sample after the end of the file", ["stco": [0, 3, 100, 200, 999_999_990]], .samplesPastEnd),
        (
            "an offset that overflows",
            ["stco": nil, "co64": [0, 1, 0xFFFF_FFFF, 0xFFFF_FFFF], "stsc": [0, 1, 1, 6, 1]],
            .samplesPastEnd
        ),
    ]

    private static func table(_ replaced: [BoxType: [UInt32]?], fileSize: UInt64) throws -> Table {
        var writer = BoxWriter()
        writer.box("stbl") { stbl in
            for (type, values) in boxes.mapValues(Optional.some).merging(replaced, uniquingKeysWith: { $1 }) {
                if let values { stbl.box(type) { box in for value in values { box.u32(value) } } }
            }
        }
        let samples = try SampleTable(BoxReader.boxes(in: writer.bytes[...])[0], fileSize: fileSize).samples
        return Table(
            offsets: samples.map(\.offset), sizes: samples.map(\.size), durations: samples.map(\.duration),
            compositionOffsets: samples.map(\.compositionOffset),
            syncSamples: samples.indices.filter { samples[$0].isSync })
    }

    @Test(arguments: rows.indices)
    func validTablesAreRead(_ index: Int) throws {
        let row = Self.rows[index]
        #expect(try Self.table(row.boxes, fileSize: 1 << 40) == row.table, "\(row.when)")
    }

    @Test(arguments: faults.indices)
    func malformedTablesAreRejected(_ index: Int) throws {
        let row = Self.faults[index]
        #expect(throws: MediaError.movie(row.fault), "\(row.when)") { try Self.table(row.boxes, fileSize: 1 << 20) }
    }
}
