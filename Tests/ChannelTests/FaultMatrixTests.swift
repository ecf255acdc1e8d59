import ChannelTestSupport
import Foundation
import Playlist
import TestSupport
import Testing
import Tracker

@testable import Support

@Suite struct FaultMatrixTests {
    static let scenes = FaultFamily.all.flatMap(\.scenes)

    /// The channel ends, all available frames are published, and none is published twice or out of order.
    @Test(arguments: scenes) func channelSurvivesFault(_ scene: FaultScene) async throws {
        let row = try await FaultRowCache.shared.row(of: scene)
        #expect(row.result.end == .drained)
        #expect(!row.presented.isEmpty && row.duplicates == 0)
        #expect(row.missing == scene.framesLost)
    }

    @Test func everyFaultCaptureIsInTheMatrix() throws {
        let text = try String(contentsOf: PackageRoot.url.appending(path: "Captures/README.md"), encoding: .utf8)
        let table = try #require(text.components(separatedBy: "in which an upstream misbehaves").dropFirst().first)
        let lines = table.split(separator: "\n").drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        let names = lines.flatMap { $0.matches(of: /\[`(\w+)`\]/) }.map { String($0.1) }
        #expect(names.count > 10)
        #expect(Set(names).subtracting(Self.scenes.map(\.capture.name)) == [])
    }

    /// Restarts included. A gap for lost segments may be longer than they were.
    @Test(arguments: scenes) func numbersAndDatesNeverGoBack(_ scene: FaultScene) async throws {
        let versions = try await FaultRowCache.shared.row(of: scene).result.versions
        for (old, new) in zip(versions, versions.dropFirst()) {
            let known = Dictionary(uniqueKeysWithValues: old.segments.map { ($0.mediaSequence, $0) })
            #expect(new.mediaSequence >= old.mediaSequence)
            #expect((new.segments.last?.mediaSequence ?? 0) >= (old.segments.last?.mediaSequence ?? 0))
            for segment in new.segments {
                guard let before = known[segment.mediaSequence] else { continue }
                #expect(segment.discontinuitySequence >= before.discontinuitySequence)
                #expect(segment.uri == before.uri || segment.isGap)
            }
        }
        let edges = versions.compactMap { $0.segments.last?.programDateTime?.millisecondsSince1970 }
        #expect(edges == edges.sorted())
    }

    /// Everything from the heading on is written by this test.
    @Test func faultsDocumentIsUpToDate() async throws {
        let file = PackageRoot.url.appending(path: "docs/failover.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let heading = try #require(document.firstRange(of: "\n## Responses to faults\n"))
        var text = document[..<heading.lowerBound] + Self.introduction
        for family in FaultFamily.all {
            text += "\n### \(family.name)\n\n| \(family.heading) | response | standstill (s), lost |\n"
            text += "|---|---|---|\n"
            for (outcome, faults) in try await Self.outcomes(of: family) {
                text += "| \(faults.joined(separator: " ")) | \(outcome) |\n"
            }
        }
        try expectGolden(String(text), at: file)
    }

    /// The outcomes of a family's faults, in their order. Faults with one outcome share a row.
    private static func outcomes(of family: FaultFamily) async throws -> [(outcome: String, faults: [String])] {
        var outcomes: [(outcome: String, faults: [String])] = []
        for scene in family.scenes {
            let row = try await FaultRowCache.shared.row(of: scene)
            if let index = outcomes.firstIndex(where: { $0.outcome == row.outcome }) {
                outcomes[index].faults.append(row.fault)
            } else {
                outcomes.append((row.outcome, [row.fault]))
            }
        }
        return outcomes
    }

    private static let introduction = """

        ## Responses to faults

        `FaultMatrixTests` replays a capture of each fault on a virtual clock, and writes these tables. *Standstill* \
        is the longest time for which `live.m3u8` had the same last segment, minus that segment's duration. Frames *of \
        the rewind* were published before they were lost. No frame is published twice.

        """
}
