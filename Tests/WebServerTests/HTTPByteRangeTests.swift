import TestSupport
import Testing

@testable import HTTP
@testable import WebServer

@Suite struct HTTPByteRangeTests {
    static let rows: [(when: String, field: String?, byteCount: Int, expected: HTTPByteRange)] = [
        ("no field", nil, 1000, .whole),
        ("first and last", "bytes=0-99", 1000, .part(0..<100)),
        ("one byte", "bytes=7-7", 1000, .part(7..<8)),
        ("open end", "bytes=900-", 1000, .part(900..<1000)),
        ("the whole as a range", "bytes=0-", 1000, .part(0..<1000)),
        ("last after the end", "bytes=900-5000", 1000, .part(900..<1000)),
        ("last beyond any number", "bytes=0-99999999999999999999999", 1000, .part(0..<1000)),
        ("suffix", "bytes=-100", 1000, .part(900..<1000)),
        ("suffix longer than the file", "bytes=-5000", 1000, .part(0..<1000)),
        ("suffix beyond any number", "bytes=-99999999999999999999999", 1000, .part(0..<1000)),
        ("empty suffix", "bytes=-0", 1000, .unsatisfiable),
        ("first at the end", "bytes=1000-", 1000, .unsatisfiable),
        ("first after the end", "bytes=5000-6000", 1000, .unsatisfiable),
        ("first beyond any number", "bytes=99999999999999999999999-", 1000, .unsatisfiable),
        ("any first of an empty file", "bytes=0-", 0, .unsatisfiable),
        ("suffix of an empty file", "bytes=-5", 0, .whole),
        ("unit in capitals", "Bytes=0-9", 1000, .part(0..<10)),
        ("blanks at both ends", "bytes= 0-9\t", 1000, .part(0..<10)),
        ("another unit", "seconds=0-9", 1000, .whole),
        ("several ranges", "bytes=0-9,20-29", 1000, .whole),
        ("backwards", "bytes=9-0", 1000, .whole),
        ("no dash", "bytes=9", 1000, .whole),
        ("no digits", "bytes=-", 1000, .whole),
        ("a sign", "bytes=+1-9", 1000, .whole),
        ("two dashes", "bytes=1--9", 1000, .whole),
        ("no unit", "0-9", 1000, .whole),
        ("only blanks", "  ", 1000, .whole),
    ]

    @Test(arguments: rows)
    func field(when: String, field: String?, byteCount: Int, expected: HTTPByteRange) {
        #expect(HTTPByteRange(field: field, byteCount: byteCount) == expected, "\(when)")
    }

    /// RFC 9110 §14.1.2 with sets: the existing bytes between first and last, both included.
    @Test func partIsTheExistingPartOfTheRange() {
        var random = SeededGenerator(seed: 14)
        for _ in 0..<2000 {
            let byteCount = Int.random(in: 1...50, using: &random)
            let first = Int.random(in: 0...60, using: &random)
            let last = Int.random(in: first...first + 60, using: &random)
            let existing = (first...last).filter { $0 < byteCount }
            switch HTTPByteRange(field: "bytes=\(first)-\(last)", byteCount: byteCount) {
            case .part(let range): #expect(Array(range) == existing)
            case .unsatisfiable: #expect(existing.isEmpty)
            case .whole: Issue.record("bytes=\(first)-\(last) of \(byteCount) was ignored")
            }
        }
    }
}
