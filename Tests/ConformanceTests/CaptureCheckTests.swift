import Capture
import Inspect
import TestSupport
import Testing

@testable import Conformance

/// What the rules say of the captures.
struct CaptureCheckTests {
    @Test(arguments: try CaptureFixture.all())
    func verdict(_ capture: CaptureFixture) throws {
        let checker = try CaptureFeed.check(CaptureDirectory(capture.directory))
        print("== \(capture.name): \(checker.report.segments) segments, \(checker.report.versions) versions")
        for finding in checker.report.findings {
            print(
                "  \(finding.rule.rawValue) \(finding.level) \(finding.cause) ×\(finding.count) \(finding.places[0].sequence.map { "#\($0)" } ?? ""): \(finding.message)"
            )
        }
    }
}
