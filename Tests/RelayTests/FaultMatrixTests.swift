import ChannelTestSupport
import Foundation
import Playlist
import TestSupport
import Testing
import Tracker

@testable import liverelay

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
        let names = lines.compactMap { $0.firstMatch(of: /\[`(\w+)`\]/).map { String($0.1) } }
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

    @Test func faultsDocumentIsUpToDate() async throws {
        var text = Self.introduction
        for family in FaultFamily.all {
            text +=
                "\n## \(family.name)\n\n| \(family.heading) | what liverelay did | standstill | lost | duplicates |\n"
            text += "|---|---|---|---|---|\n"
            for scene in family.scenes { text += try await FaultRowCache.shared.row(of: scene).line }
        }
        try expectGolden(text + Self.refusals, at: PackageRoot.url.appending(path: "docs/faults.md"))
    }

    private static var refusals: String {
        let head = """

            ## A spool that cannot be used

            Found at the start, or when the channel is joined. A full disk is none of these: liverelay waits for room.

            | `--spool /spool` | exit status | what liverelay says |
            |---|---|---|

            """
        return SpoolErrorCase.all.reduce(head) { text, row in
            "\(text)| \(row.situation) | \(row.error.exit.rawValue) | \(row.error.line) |\n"
        }
    }

    private static let introduction = """
        # Responses to faults

        Each row is a capture under [Captures](../Captures), replayed through the whole pipeline on a virtual clock. The \
        tests write this page (`GOLDEN=write ./test --filter FaultMatrixTests`) and fail when it is out of date. \
        *Standstill* is the longest time for which `live.m3u8` had the same last segment, minus that segment's duration. \
        *Lost* and *duplicates* are counted by the numbers that are drawn into the frames, in what ffmpeg decodes from \
        everything that was published. No row has a duplicate frame.

        The rows of [the disk and the process](#the-disk-and-the-process) relay one capture, \
        [ssai_tagged](../Captures/ssai_tagged/README.md), whose upstream has dates and is healthy. Several processes relay \
        it on one spool, one after the other. While none runs, the live edge stands still. Between two processes the spool \
        is damaged as a kill, a power cut or a bad disk damages it. Frames *of the rewind* were published in their time, \
        and are lost to later viewers. `Tests/Kill/run` kills real processes at any moment.

        """
}
