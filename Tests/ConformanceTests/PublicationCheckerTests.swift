import Support
import TestSupport
import Testing

@testable import Conformance

/// The check of a channel's own output, version by version. `ReplayTests` has the output of captures, which is clean.
@Suite struct PublicationCheckerTests {
    /// Version `number` lists the segments from `number` to `number + 5`, each of a second.
    private static func version(_ number: Int, _ edit: (String) -> String = { $0 }) -> [UInt8] {
        var text = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:1
            #EXT-X-MEDIA-SEQUENCE:\(number)
            #EXT-X-DISCONTINUITY-SEQUENCE:0

            """
        for segment in number..<number + 6 {
            text += "#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:1.000,\nseg-\(segment).m4s\n"
        }
        return Array(edit(text).utf8)
    }

    private static func breaches(_ edit: (Int, String) -> String) -> [String] {
        var checker = PublicationChecker(.boxes)
        return (0..<6).flatMap { number in
            let breaches = checker.append(version(number) { edit(number, $0) }, segment: nil)
            return breaches.map { "\($0.rule.rawValue) ×\($0.count)" }
        }
    }

    @Test func cleanOutputBreaksNothing() { #expect(Self.breaches { $1 } == []) }

    @Test func eachBreachIsReturnedOnce() {
        #expect(Self.breaches { $0 == 3 ? $1.replacing("DURATION:1", with: "DURATION:2") : $1 } == ["5 ×1", "5 ×1"])
        #expect(Self.breaches { $0 >= 2 ? $1.replacing("seg-5.", with: "other-5.") : $1 } == ["8 ×1"])
        #expect(Self.breaches { $0 >= 4 ? $1.replacing("SEQUENCE:\($0)", with: "SEQUENCE:1") : $1 }.first == "6 ×1")
    }

    /// What judging costs by segment does not grow with the playlist; the last version is judged.
    @Test(arguments: [(6, 1000), (23, 1000), (24, 500), (2000, 12)]) func longListsAreJudgedMoreRarely(
        segments: Int, judged: Int
    ) {
        var checker = PublicationChecker(.boxes)
        let versions = (0..<1000).map { _ in checker.isJudged(listing: segments, isLast: false) }
        #expect(versions.count(where: \.self) == judged)
        let isLastJudged = checker.isJudged(listing: segments, isLast: true)
        #expect(isLastJudged)
    }

    /// A day of segments leaves no more behind than a minute of them.
    @Test func memoryIsBounded() {
        var checker = PublicationChecker(.boxes)
        for number in 0..<2000 { #expect(checker.append(Self.version(number), segment: nil) == []) }
        #expect(checker.rememberedSegments <= 300)
    }
}
