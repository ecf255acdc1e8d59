import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Random ad markers in any order: no playlist breaks a rule, and two passes give the same result.
struct AdMarkerPropertyTests {
    private static let lines = [
        "", "", "", cueOut, "#EXT-X-CUE-OUT", "#EXT-X-CUE-IN", "#EXT-X-CUE-OUT-CONT:3/30", "#EXT-OATCLS-SCTE35:/DAl",
    ]

    private func line(_ n: Int, _ random: inout SeededGenerator) -> String {
        guard Int.random(in: 0..<3, using: &random) == 0 else { return Self.lines.randomElement(using: &random) ?? "" }
        let start = 6 * Int64(n) + Int64.random(in: -30...30, using: &random)
        var text = "#EXT-X-DATERANGE:ID=\"\(["a", "b", "a-1767355206000"].randomElement(using: &random) ?? "")\""
        if Int.random(in: 0..<6, using: &random) > 0 { text += ",START-DATE=\"\(time(start))\"" }
        if Bool.random(using: &random) { text += ",DURATION=\(Int.random(in: 0...60, using: &random))" }
        if Bool.random(using: &random) { text += ",END-DATE=\"\(time(start + 20))\"" }
        if Bool.random(using: &random) { text += ",PLANNED-DURATION=\(Int.random(in: 0...60, using: &random))" }
        return text
    }

    private func splice(_ n: Int, _ random: inout SeededGenerator) -> [PublishedSpliceCommand] {
        let kinds: [PublishedSpliceCommand.Kind] = [
            .out(autoReturn: true), .out(autoReturn: false), .in(endsAnyEvent: true), .in(endsAnyEvent: false),
            .command, .canceled,
        ]
        guard Int.random(in: 0..<4, using: &random) == 0, let kind = kinds.randomElement(using: &random) else {
            return []
        }
        return [
            LiveRingTests.splice(
                kind, event: .random(in: 0...2, using: &random),
                at: 6 * Int64(n) + .random(in: -3...12, using: &random),
                lasting: Bool.random(using: &random) ? .random(in: 0...40, using: &random) : nil,
                .random(in: 0...255, using: &random))
        ]
    }

    private func versions(seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        var timeline = AdMarkerTimeline(resuming: RingIndex(policy: plentiful, targetDuration: 6))
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(120), freeReserve: 0), targetDuration: 6)
        let isDated = Bool.random(using: &random)
        var texts: [String] = []
        for n in 0..<120 {
            let listed = "#EXTM3U\n#EXTINF:6,\n\(line(n, &random))\n\(line(n, &random))\na"
            let segment = try MediaPlaylistParser.parse(Array(listed.utf8)).segments[0]
            timeline.append(
                UpstreamAdMarkers(mediaSequence: UInt64(n), cueTags: segment.cueTags, dateRanges: segment.dateRanges))
            if n % 37 == 36 { timeline = AdMarkerTimeline(resuming: index) }
            let date = at(6 * Int64(n))
            let inside = date.advanced(byMilliseconds: .random(in: 0...5000, using: &random))
            let placement = AdMarkerPlacement(
                mediaSequence: UInt64(n), date: inside, upstreamDate: isDated ? date : nil)
            var new = NewSegment.numbered(n)
            new.adMarkers = timeline.dequeueMarkers(
                for: AdMarkerTarget(date: date, placements: [placement], splices: splice(n, &random)))
            index.publish(new)
            texts.append(text(PublishedPlaylist(index: index, hasEnded: false).live))
        }
        return texts
    }

    @Test(arguments: UInt64(1)...12)
    func noPlaylistBreaksRules(seed: UInt64) throws {
        let texts = try versions(seed: seed)
        // Only neighbors: the upstream uses IDs again, and those that are not listed any more are forgotten.
        for (number, (old, new)) in zip(texts, texts.dropFirst()).enumerated() {
            // The upstream's own ranges may end before they start.
            let broken = brokenRules(from: old, to: new).filter { !$0.hasPrefix("17/ends-early") }
            try #require(broken.isEmpty, "seed \(seed), segment \(number): \(broken)\n\(new)")
        }
        #expect(texts.count { $0.contains("#EXT-X-DATERANGE") } > 60)
        #expect(try versions(seed: seed) == texts)
    }
}
