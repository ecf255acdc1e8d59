import Media
import Playlist
import TestSupport
import Testing

@testable import Conformance

/// Rules of media that no capture has a fault for: facts of a real segment are changed.
@Suite struct MediaRuleTests {
    private static func facts() throws -> SegmentFacts {
        try #require(SegmentReader.read(CaptureFixture.clean.bytes("body/clean-00.ts")))
    }

    private static let segment: ScannedSegment = {
        var segment = ScannedSegment()
        (segment.uri, segment.duration, segment.durationText) = ("http://a.example/0.ts", .seconds(2), "2.000")
        return segment
    }()

    private static func found(_ facts: SegmentFacts, target: Duration = .seconds(2)) -> [String] {
        var log = FindingLog()
        var record = MediaRecord(url: "http://a.example/main.m3u8")
        record.targetDuration = target
        record.append(segment, facts, into: &log)
        record.finish(into: &log)
        return log.sorted.map { "\($0.identifier) \($0.level)" }
    }

    @Test func cleanSegmentHasNoFinding() throws { #expect(Self.found(try Self.facts()) == []) }

    @Test func segmentWithoutRandomAccess() throws {
        var facts = try Self.facts()
        facts.video?.accessTimes = []
        #expect(Self.found(facts) == ["30/none should"])
    }

    /// Groups longer than 2 s are a note, and longer than a segment more.
    @Test(arguments: [(3, "30/interval note"), (12, "30/rare should")]) func longGroup(_ seconds: Int, _ found: String)
        throws
    {
        var facts = try Self.facts()
        let start = try #require(facts.video?.earliest)
        facts.video?.latest = start + .seconds(Int64(seconds))
        facts.video?.accessTimes = [start]
        #expect(Self.found(facts, target: .seconds(6)).contains(found))
    }

    private static let captionRows: [(attributes: String, found: [String])] = [
        ("", ["34/undeclared should"]), (",CLOSED-CAPTIONS=NONE", ["34/none must"]),
        (",CLOSED-CAPTIONS=\"cc\"", []), (",CLOSED-CAPTIONS=\"other\"", ["34/channel should"]),
    ]

    @Test(arguments: captionRows) func declaredCaptions(_ attributes: String, _ found: [String]) throws {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="a",LANGUAGE="en",INSTREAM-ID="CC1"
            #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="other",NAME="a",LANGUAGE="en",INSTREAM-ID="CC3"
            #EXT-X-STREAM-INF:BANDWIDTH=9000000\(attributes)
            main.m3u8

            """
        let master = PlaylistScanner.scan(Array(text.utf8), url: "http://a.example/master.m3u8")
        var facts = try Self.facts()
        facts.video?.captions.insert(cea608: 1)
        var log = FindingLog()
        var record = MediaRecord(url: "http://a.example/main.m3u8")
        record.append(Self.segment, facts, into: &log)
        DeclarationRules(
            variant: master.variants[0], rendition: nil, masterURL: master.url, media: record, targetDuration: nil,
            master: master
        ).judge(into: &log)
        #expect(log.sorted.map { "\($0.identifier) \($0.level)" } == found)
    }

    private static let nameRows: [(url: String, container: SegmentFacts.Container, isRead: Bool)] = [
        ("http://a/main-01.ts", .transportStream, true), ("http://a/main-01.html", .transportStream, true),
        ("http://a/main-01.jpg", .transportStream, false), ("http://a/main-01", .transportStream, false),
        ("http://a/seg?name=main-01", .transportStream, false), ("http://a/main-01.mp4", .transportStream, false),
        ("http://a/seg?name=main-01.ts", .transportStream, true),
        ("http://a/main.ts?token=a.b", .transportStream, true),
        ("http://a/1.m4s", .fragmentedMP4, true), ("http://a/1.mp4?x=1", .fragmentedMP4, true),
        ("http://a/1.vtt", .webVTT, true), ("http://a/1.aac", .packedAudio, true),
        ("http://a/1.ts", .packedAudio, false),
    ]

    /// docs/jellyfin-kodi-fast.md has what ffmpeg did with such names.
    @Test(arguments: nameRows) func segmentName(_ url: String, _ container: SegmentFacts.Container, _ isRead: Bool) {
        #expect((RefusedName.reason(url, container: container) == nil) == isRead)
    }
}
