import Foundation
import TestSupport
import Testing
import Tracker

@testable import liverelay

@Suite struct FaultMatrixTests {
    static let scenes = FaultFamily.all.flatMap(\.scenes)

    /// The channel comes to its end, nothing of it is shown twice or back to front, and all that was there is shown.
    @Test(arguments: scenes) func everyFaultIsSurvived(_ scene: FaultScene) async throws {
        let row = try await FaultRows.shared.of(scene)
        #expect(row.published.end == .drained)
        #expect(!row.shown.isEmpty && row.repeated == 0 && row.missed == 0)
    }

    @Test func everyCaptureOfAFaultIsInTheMatrix() throws {
        let text = try String(contentsOf: PackageRoot.url.appending(path: "Captures/README.md"), encoding: .utf8)
        let table = try #require(text.components(separatedBy: "in which an upstream misbehaves").dropFirst().first)
        let lines = table.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        let names = lines.compactMap { $0.firstMatch(of: /\[`(\w+)`\]/).map { String($0.1) } }
        #expect(names.count > 10)
        #expect(Set(names).subtracting(Self.scenes.map(\.capture.name)) == [])
    }

    @Test func theDocumentSaysWhatHappens() async throws {
        var text = Self.introduction
        for family in FaultFamily.all {
            text += "\n## \(family.name)\n\n| what the upstream did | what liverelay did | still | lost | twice |\n"
            text += "|---|---|---|---|---|\n"
            for scene in family.scenes { text += try await FaultRows.shared.of(scene).line }
        }
        try expectGolden(text, at: PackageRoot.url.appending(path: "docs/faults.md"))
    }

    private static let introduction = """
        # What becomes of an upstream's faults

        Each row is a capture under [Captures](../Captures), replayed through the whole line on a virtual clock; the \
        tests write this page (`GOLDEN=write ./test --filter FaultMatrixTests`) and fail when it is no longer true. \
        *Still* is the longest time for which the last segment of `live.m3u8` was the last one, beyond what it lasts \
        itself. *Lost* and *twice* are counted by the number that each picture bears, in what ffmpeg decodes of all that \
        was published: no row has a picture twice.

        """
}
