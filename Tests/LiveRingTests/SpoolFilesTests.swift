import Testing

@testable import LiveRing

/// The files of a directory are found by name and by number, however far their numbers are from each other.
struct SpoolFilesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        let numbers: [UInt64]
        var testDescription: String { when }
    }

    private static let rows: [Row] = [
        Row(when: "numbers that rise", numbers: Array(0..<9000)),
        Row(when: "numbers that fall, from within a page", numbers: Array((5000..<14_000).reversed())),
        Row(when: "numbers on both sides of the first", numbers: [50_000, 40_000, 60_000, 45_000]),
        Row(when: "a number far above the others", numbers: [7, 8, 1 << 40, 9]),
        Row(when: "the first number far above the others", numbers: [1 << 40, 7, 8, 9]),
        Row(when: "none", numbers: []),
    ]

    @Test(arguments: rows) func segmentsAreFound(row: Row) {
        let names = row.numbers.map { SpoolName.segment(mediaSequence: $0, fingerprint: UInt32($0 % 1000)) }
        let files = SpoolFiles(Dictionary(names.map { ($0, 1) }) { first, _ in first })
        #expect(names.allSatisfy(files.contains), "\(row.when)")
        #expect(files.highestMediaSequence == row.numbers.max(), "\(row.when)")
        #expect(!files.contains(SpoolName.segment(mediaSequence: 8, fingerprint: 1)), "\(row.when): another name")
        #expect(!files.hasSegment(39_000, fingerprint: 0) || row.numbers.contains(39_000), "\(row.when)")
        let kept = Set(row.numbers.prefix(2))
        let unneeded = files.unneeded(
            { body in for number in kept { body(number, UInt32(number % 1000)) } },
            { name in SpoolName.mediaSequence(ofSegment: name).map(kept.contains) ?? false })
        #expect(Set(unneeded) == Set(names).subtracting(names.prefix(2)), "\(row.when)")
    }
}
