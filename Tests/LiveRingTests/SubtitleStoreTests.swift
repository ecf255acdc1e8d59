import Foundation
import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// Published subtitles, and their recovery after a restart.
struct SubtitleStoreTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)

    static func rendition(_ name: String, _ language: String? = "en", more: [(String, String)] = []) -> Rendition {
        var rendition = Rendition(
            type: .subtitles, groupID: "upstream", name: name, uri: "http://upstream.example/s.m3u8")
        rendition.language = language
        for (name, value) in more {
            rendition.attributes.set(name, to: value, isQuoted: value.contains("."))
        }
        return rendition
    }

    static func file(_ n: Int, of rendition: Int = 0) -> NewSubtitles {
        NewSubtitles(
            rendition: rendition, mediaSequence: UInt64(n), bytes: Array("WEBVTT\n\ncues of \(n), \(rendition)".utf8))
    }

    /// The broken rules, apart from those about init sections, which subtitles do not have.
    static func brokenRules(_ ring: DVRRing) -> [String] {
        TestSupport.brokenRules(in: text(ring.snapshot.livePlaylist(of: .subtitles(0)))).filter {
            !$0.hasPrefix("promise version") && !$0.hasPrefix("promise map")
        }
    }

    func open(
        _ directory: ScratchDirectory, _ renditions: [Rendition] = [rendition("English")],
        policy: RetentionPolicy = policy, keepsMade: Bool = false
    ) throws -> DVRRing {
        try DVRRing(
            directory: directory.path, policy: policy, targetDuration: 6,
            subtitles: .upstream(renditions, keepsMade: keepsMade))
    }

    @Test func subtitlePlaylistMatchesSegmentPlaylist() async throws {
        let ring = try open(directory)
        #expect(ring.snapshot.livePlaylist(of: .subtitles(0)) == nil, "no subtitles yet")
        for n in 0..<10 {
            try await ring.publish(.numbered(n, isDiscontinuous: n == 7))
            if n < 9 { try await ring.publish(Self.file(n)) }
        }
        let live = try MediaPlaylistParser.parse(try #require(ring.snapshot.livePlaylist()))
        let subtitles = try MediaPlaylistParser.parse(try #require(ring.snapshot.livePlaylist(of: .subtitles(0))))
        #expect(Self.brokenRules(ring).isEmpty)
        #expect(subtitles.mediaSequence == live.mediaSequence && subtitles.targetDuration == live.targetDuration)
        #expect(subtitles.discontinuitySequence == live.discontinuitySequence)
        #expect(subtitles.segments.count == live.segments.count - 1, "those of the last segment are pending")
        for (text, segment) in zip(subtitles.segments, live.segments) {
            #expect(text.mediaSequence == segment.mediaSequence && text.duration == segment.duration)
            #expect(text.discontinuitySequence == segment.discontinuitySequence && text.map == nil)
            #expect(text.programDateTime == segment.programDateTime)
            let file = try #require(ring.snapshot.subtitleFile(named: text.uri))
            #expect(try directory.read(file.name) == Self.file(Int(text.mediaSequence)).bytes)
        }
    }

    @Test func masterPlaylistListsSubtitles() async throws {
        let ring = try open(
            directory,
            [
                Self.rendition(
                    "Deutsch", "de",
                    more: [("DEFAULT", "YES"), ("AUTOSELECT", "YES"), ("CHARACTERISTICS", "public.accessibility.x")]),
                Self.rendition("Unknown", nil, more: [("FORCED", "YES")]),
            ])
        try await ring.publish(.numbered(0))
        let master = try MultivariantPlaylistParser.parse(try #require(ring.snapshot.masterPlaylist()))
        #expect(master.variants.first?.subtitles == "subs")
        #expect(master.renditions.map(\.name) == ["Deutsch", "Unknown"])
        #expect(master.renditions.map(\.uri) == ["subs-0.m3u8", "subs-1.m3u8"])
        #expect(master.renditions.map(\.language) == ["de", "und"], "every rendition has a language")
        #expect(master.renditions.map(\.groupID) == ["subs", "subs"])
        #expect(master.renditions[0].isDefault && master.renditions[0].isAutoselect)
        #expect(master.renditions[0].attributes["CHARACTERISTICS"] == "public.accessibility.x")
        #expect(master.renditions[1].attributes["FORCED"] == "YES" && !master.renditions[1].isDefault)
        let range = RewindRange.between(start: at(0), end: at(12))
        let rewind = try MultivariantPlaylistParser.parse(try #require(ring.snapshot.masterPlaylist(range)))
        let query = "start=1767355200.000&end=1767355212.000"
        #expect(rewind.variants.map(\.uri) == ["dvr.m3u8?\(query)"])
        #expect(rewind.renditions.first?.uri == "dvr-subs-0.m3u8?\(query)")
    }

    @Test(arguments: [
        RewindRange.whole, .last(milliseconds: 90_500), .delayed(milliseconds: 0), .between(start: at(5), end: nil),
        .between(start: nil, end: at(7)), .between(start: at(1), end: at(2)),
        .between(start: ProgramDateTime(millisecondsSince1970: -500), end: at(2)),
    ])
    func rangeQueryRoundTrips(_ range: RewindRange) throws {
        let query = range.query.split(separator: "&").map { part in
            let sides = part.split(separator: "=")
            return (name: String(sides[0]), value: String(sides[1]))
        }
        #expect(try RewindRange(query: query) == range)
    }

    @Test func closedRangeWaitsForItsSubtitles() async throws {
        let ring = try open(directory, policy: plentiful)
        for n in 0..<8 { try await ring.publish(.numbered(n)) }
        for n in 0..<3 { try await ring.publish(Self.file(n)) }
        let range = RewindRange.between(start: at(0), end: at(24))
        let early = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(range, of: .subtitles(0))))
        #expect(early.segments.count == 3 && !early.hasEndList && early.playlistType == .event)
        try await ring.publish(Self.file(3))
        let whole = try MediaPlaylistParser.parse(try #require(ring.snapshot.dvrPlaylist(range, of: .subtitles(0))))
        #expect(whole.segments.count == 4 && whole.hasEndList && whole.playlistType == .event)
        await ring.end()
        #expect(!text(ring.snapshot.livePlaylist(of: .subtitles(0))).contains("ENDLIST"), "some are still pending")
        for n in 4..<8 { try await ring.publish(Self.file(n)) }
        #expect(text(ring.snapshot.livePlaylist(of: .subtitles(0))).hasSuffix("#EXT-X-ENDLIST\n"))
    }

    @Test func subtitleFilesLeaveWithSegments() async throws {
        let ring = try open(directory)
        for n in 0..<40 {
            try await ring.publish(.numbered(n))
            try await ring.publish(Self.file(n))
        }
        let oldest = Int(ring.snapshot.index.oldestMediaSequence)
        #expect(oldest > 10)
        let kept = directory.names.filter { $0.hasSuffix(".vtt") }
        #expect(kept.count == 40 - oldest)
        let sizes = directory.names.filter { $0.hasPrefix("subs-") }.map { (try? directory.read($0).count) ?? 0 }
        #expect(sizes.count == 1 && sizes[0] < 40_000, "the journal is compacted")
    }

    /// The byte limit includes everything that grows with the rewind.
    @Test func subtitlesCountAgainstByteLimit() async throws {
        let policy = RetentionPolicy(rewind: nil, byteLimit: 40_000, liveWindow: .zero, freeReserve: 0)
        let ring = try open(directory, policy: policy)
        for n in 0..<60 {
            try await ring.publish(.numbered(n))
            let bytes = [UInt8](repeating: 0x20, count: 1000)
            try await ring.publish(NewSubtitles(rendition: 0, mediaSequence: UInt64(n), bytes: bytes))
        }
        let index = ring.snapshot.index
        let text = directory.names.filter { $0.hasSuffix(".vtt") }.count * 1000
        #expect(text > 10_000 && UInt64(text) < index.listedBytes + index.retiredBytes)
        #expect(index.listedBytes + index.retiredBytes <= 42_000, "those of the newest segment come later")
    }
}
