import Foundation
import TestSupport
import Testing

private let rows: [(when: String, expected: String?, actual: String, says: String?)] = [
    ("the same", expected: "a\nb\n", actual: "a\nb\n", says: nil),
    ("no such file", expected: nil, actual: "a", says: "is not there."),
    (
        "another line", expected: "a\nb\nc\n", actual: "a\nx\nc\n",
        says: "differs from line 2 on (- the file, 4 lines; + actual, 4 lines):\n  a\n- b\n- c\n- \n+ x\n+ c\n+ "
    ),
    (
        "a line feed less at the end", expected: "a\n", actual: "a",
        says: "differs from line 2 on (- the file, 2 lines; + actual, 1 lines):\n  a\n- "
    ),
    (
        "another kind of line end", expected: "a\n", actual: "a\r\n",
        says: "differs from line 1 on (- the file, 2 lines; + actual, 2 lines):\n- a\n- \n+ a␍\n+ "
    ),
]

@Suite("Texts kept in files") struct GoldenTests {
    @Test(arguments: rows)
    func difference(when: String, expected: String?, actual: String, says: String?) {
        #expect(goldenDifference(expected: expected, actual: actual) == says, "\(when)")
    }

    @Test("A file that is not there is an issue", .enabled(if: ProcessInfo.processInfo.environment["GOLDEN"] == nil))
    func missingFile() {
        withKnownIssue { try expectGolden("a", at: PackageRoot.url.appending(path: "Captures/none/expected/a.txt")) }
    }

    @Test("Every capture names bodies that are there, and no body is without an exchange")
    func capturesAreWhole() throws {
        let captures = try CaptureFixture.all()
        #expect(captures.contains(.clean))
        for capture in captures {
            let index = String(decoding: try capture.bytes("index.json"), as: UTF8.self)
            let named = Set(index.matches(of: /"(?:body|stream)": "([^"]+)"/).map { String($0.1) })
            let folder = capture.file("body").path
            let stored = try FileManager.default.contentsOfDirectory(atPath: folder).map { "body/\($0)" }
            // A linked folder has the bodies of several captures.
            let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: folder)) != nil
            #expect(isLink ? named.isSubset(of: stored) : named == Set(stored), "\(capture)")
        }
    }
}
