import Foundation
import Playlist
import TestSupport
import Testing

@testable import LiveRing

/// The subtitles beside a ring's segments: what viewers see of them, and what is left of them after whatever ended the
/// process.
struct SubtitleStoreTests {
    /// Held by the suite: it outlives the ring in it.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)

    static func rendition(_ name: String, _ language: String? = "en", more: [(String, String)] = []) -> Rendition {
        var rendition = Rendition(
            type: .subtitles, groupID: "theirs", name: name, uri: "http://upstream.example/s.m3u8")
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

    /// Those about init sections apart: text has none.
    private static func brokenRules(_ ring: DVRRing) -> [String] {
        TestSupport.brokenRules(in: text(ring.snapshot.subtitlePlaylist(0))).filter {
            !$0.hasPrefix("3:") && !$0.hasPrefix("7:")
        }
    }

    private func open(
        _ directory: ScratchDirectory, _ renditions: [Rendition] = [rendition("English")],
        policy: RetentionPolicy = policy
    ) throws -> DVRRing {
        try DVRRing(directory: directory.path, policy: policy, targetDuration: 6, subtitles: renditions)
    }

    @Test func theListSaysWhatTheSegmentsListSays() async throws {
        let ring = try open(directory)
        #expect(ring.snapshot.subtitlePlaylist(0) == nil, "nothing yet")
        for n in 0..<10 {
            try await ring.publish(.numbered(n, isDiscontinuous: n == 7))
            if n < 9 { try await ring.publish(Self.file(n)) }
        }
        let live = try MediaPlaylistParser.parse(try #require(ring.snapshot.livePlaylist))
        let subtitles = try MediaPlaylistParser.parse(try #require(ring.snapshot.subtitlePlaylist(0)))
        #expect(Self.brokenRules(ring).isEmpty)
        #expect(subtitles.mediaSequence == live.mediaSequence && subtitles.targetDuration == live.targetDuration)
        #expect(subtitles.discontinuitySequence == live.discontinuitySequence)
        #expect(subtitles.segments.count == live.segments.count - 1, "the last one's have not come")
        for (text, segment) in zip(subtitles.segments, live.segments) {
            #expect(text.mediaSequence == segment.mediaSequence && text.duration == segment.duration)
            #expect(text.discontinuitySequence == segment.discontinuitySequence && text.map == nil)
            #expect(text.programDateTime == segment.programDateTime)
            let file = try #require(ring.snapshot.subtitleFile(named: text.uri))
            #expect(try directory.read(file.name) == Self.file(Int(text.mediaSequence)).bytes)
        }
    }

    @Test func theMasterListsThem() async throws {
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
        #expect(master.renditions.map(\.language) == ["de", "und"], "a language always")
        #expect(master.renditions.map(\.groupID) == ["subs", "subs"])
        #expect(master.renditions[0].isDefault && master.renditions[0].isAutoselect)
        #expect(master.renditions[0].attributes["CHARACTERISTICS"] == "public.accessibility.x")
        #expect(master.renditions[1].attributes["FORCED"] == "YES" && !master.renditions[1].isDefault)
        let range = RewindRange.between(start: at(0), end: at(12))
        let rewind = try MultivariantPlaylistParser.parse(try #require(ring.snapshot.dvrMasterPlaylist(range)))
        let query = "start=1767355200.000&end=1767355212.000"
        #expect(rewind.variants.map(\.uri) == ["dvr.m3u8?\(query)"])
        #expect(rewind.renditions.first?.uri == "dvr-subs-0.m3u8?\(query)")
    }

    static let requestRows: [(path: String, query: [(name: String, value: String)], request: ResourceRequest)] = [
        ("/subs-0.m3u8", [], .subtitlePlaylist(0)), ("/subs-12.m3u8", [], .subtitlePlaylist(12)),
        ("/dvr-subs-3.m3u8", [("last", "60")], .dvrSubtitlePlaylist(3, .last(milliseconds: 60_000))),
        ("/dvr-master.m3u8", [("delay", "5")], .dvrMasterPlaylist(.delayed(milliseconds: 5000))),
        ("/sub-0-17-0123abcd.vtt", [], .subtitles("sub-0-17-0123abcd.vtt")),
        ("/subs-x.m3u8", [], .notFound(.unknownPath)), ("/subs-99999.m3u8", [], .notFound(.unknownPath)),
        ("/sub-0-17.vtt", [], .notFound(.unknownPath)), ("/sub-0-17-0123abcd.vtt.part", [], .notFound(.unknownPath)),
        ("/dvr-subs-0.m3u8", [("last", "x")], .notFound(.badQuery(name: "last", value: "x"))),
    ]

    @Test(arguments: requestRows.indices) func requestsAreRead(_ index: Int) {
        let row = Self.requestRows[index]
        #expect(ResourceRequest(path: row.path, query: row.query) == row.request)
    }

    @Test(arguments: [
        RewindRange.whole, .last(milliseconds: 90_500), .delayed(milliseconds: 0), .between(start: at(5), end: nil),
        .between(start: nil, end: at(7)), .between(start: at(1), end: at(2)),
        .between(start: ProgramDateTime(millisecondsSince1970: -500), end: at(2)),
    ])
    func aRangeReadsBackFromItsQuery(_ range: RewindRange) throws {
        let query = range.query.split(separator: "&").map { part in
            let sides = part.split(separator: "=")
            return (name: String(sides[0]), value: String(sides[1]))
        }
        #expect(try RewindRange(query: query) == range)
    }

    @Test func aClosedRangeIsClosedOnlyWhenItsSubtitlesHaveCome() async throws {
        let ring = try open(directory, policy: plentiful)
        for n in 0..<8 { try await ring.publish(.numbered(n)) }
        for n in 0..<3 { try await ring.publish(Self.file(n)) }
        let range = RewindRange.between(start: at(0), end: at(24))
        let early = try MediaPlaylistParser.parse(try #require(ring.snapshot.subtitlePlaylist(0, range)))
        #expect(early.segments.count == 3 && !early.hasEndList && early.playlistType == .event)
        try await ring.publish(Self.file(3))
        let whole = try MediaPlaylistParser.parse(try #require(ring.snapshot.subtitlePlaylist(0, range)))
        #expect(whole.segments.count == 4 && whole.hasEndList && whole.playlistType == .vod)
        await ring.end()
        #expect(!text(ring.snapshot.subtitlePlaylist(0)).contains("ENDLIST"), "some are still owed")
        for n in 4..<8 { try await ring.publish(Self.file(n)) }
        #expect(text(ring.snapshot.subtitlePlaylist(0)).hasSuffix("#EXT-X-ENDLIST\n"))
    }

    @Test func theirFilesGoWithTheSegments() async throws {
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
        #expect(sizes.count == 1 && sizes[0] < 40_000, "the journal is shortened")
    }

    /// The limit is for all that grows with the rewind.
    @Test func theyTakeTheirShareOfTheRoom() async throws {
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
        #expect(index.listedBytes + index.retiredBytes <= 42_000, "the newest one's come behind it")
    }

    @Test func aRestartCountsThem() async throws {
        for _ in 0..<2 {
            let ring = try open(directory)
            let start = Int(ring.snapshot.index.nextMediaSequence)
            for n in start..<start + 8 {
                try await ring.publish(.numbered(n))
                try await ring.publish(Self.file(n))
            }
            let sizes = try directory.names.filter {
                !$0.hasPrefix("init-") && $0.contains("-") && !$0.hasSuffix(".m3u8")
            }
            .map { try directory.read($0).count }
            let index = ring.snapshot.index
            #expect(index.listedBytes + index.retiredBytes == UInt64(sizes.reduce(0, +)))
        }
    }

    /// A process may be killed between any two bytes of a rendition's journal, with the segments' whole.
    @Test func aJournalCutAtAnyByteIsUnderstood() async throws {
        do {
            let ring = try open(directory)
            for n in 0..<8 {
                try await ring.publish(.numbered(n, isDiscontinuous: n == 3))
                try await ring.publish(Self.file(n))
            }
        }
        let journal = try directory.read("subs-0.m3u8")
        let sizes = Dictionary(uniqueKeysWithValues: try directory.names.map { ($0, try directory.read($0).count) })
        for cut in 0...journal.count {
            let lines = String(decoding: journal[..<cut], as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let whole = lines.dropLast().count { $0.hasPrefix("sub-") }
            let track = try SubtitleJournal.read(Array(journal[..<cut]), number: 0, path: "", files: sizes)
            try #require(track?.entries.count ?? 0 == whole, "byte \(cut)")
            if whole > 0 { try #require(track?.nextMediaSequence == UInt64(whole), "byte \(cut)") }
            if let track, whole > 0 { try #require(track.rendition.name == "English", "byte \(cut)") }
        }
    }

    @Test func aRestartGoesOn() async throws {
        do {
            let ring = try open(directory, policy: plentiful)
            for n in 0..<8 { try await ring.publish(.numbered(n)) }
            // The process ends owing the last two.
            for n in 0..<6 { try await ring.publish(Self.file(n)) }
        }
        let ring = try open(directory, policy: plentiful)
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [6])
        try await ring.publish(.numbered(8))
        try await ring.publish(Self.file(8))
        let list = try MediaPlaylistParser.parse(try #require(ring.snapshot.subtitlePlaylist(0, .whole)))
        #expect(list.segments.map(\.mediaSequence) == Array(0...8), "no hole")
        let owed = try #require(ring.snapshot.subtitleFile(named: list.segments[7].uri))
        #expect(try directory.read(owed.name) == Array("WEBVTT\n".utf8))
        #expect(Self.brokenRules(ring).isEmpty)
    }

    /// First as it was left, then as the upstream is: the same directory, never without its lock.
    @Test func aRingIsOpenedOnceMoreWhenTheUpstreamIsThere() async throws {
        do {
            let ring = try open(directory, [Self.rendition("A"), Self.rendition("B", "fr")], policy: plentiful)
            try await ring.publish(.numbered(0))
            try await ring.publish(Self.file(0, of: 1))
        }
        let past = try #require(DVRRing.previousRing(in: directory.path))
        #expect(past.targetDuration == 6 && !past.hasEnded && past.lastPublished.mediaSequence == 0)
        let first = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6, subtitles: nil)
        #expect(first.snapshot.subtitles.map(\.number) == [0, 1])
        try await first.publishGap(lasting: 540_000, resumePoint: .after(1))
        let ring = try await first.reopened(
            policy: plentiful, targetDuration: 8, subtitles: [Self.rendition("B", "fr")])
        #expect(ring.targetDuration == 8 && ring.snapshot.index.listed.map(\.isGap) == [false, true])
        #expect(ring.snapshot.subtitles.map(\.number) == [1] && !directory.names.contains("subs-0.m3u8"))
        await #expect(throws: RingError.ended) { try await first.publish(.numbered(2)) }
        try await ring.publish(.numbered(2))
        #expect(throws: RingError.spoolInUse(directory: directory.path)) { try open(directory) }
    }

    @Test func aRenditionIsKnownByItsNameAndLanguage() async throws {
        do {
            let ring = try open(directory, [Self.rendition("A"), Self.rendition("B", "fr")])
            try await ring.publish(.numbered(0))
            try await ring.publish(Self.file(0, of: 0))
            try await ring.publish(Self.file(0, of: 1))
        }
        // A is gone, and B comes second now.
        let ring = try open(directory, [Self.rendition("C", "es"), Self.rendition("B", "fr")])
        #expect(ring.snapshot.subtitles.map(\.number) == [2, 1])
        #expect(!directory.names.contains { $0.hasPrefix("sub-0") || $0.hasPrefix("subs-0") })
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil, 1])
        try await ring.publish(.numbered(1))
        try await ring.publish(Self.file(1, of: 1))
        let names = directory.names.filter { $0.hasPrefix("sub-1-") }
        #expect(names.count == 2)
    }

    @Test func aLostFileIsAGapAndADamagedJournalBeginsAnew() async throws {
        do {
            let ring = try open(directory)
            for n in 0..<7 {
                try await ring.publish(.numbered(n))
                try await ring.publish(Self.file(n))
            }
        }
        let lost = try #require(directory.names.first { $0.hasPrefix("sub-0-4-") })
        try directory.remove(lost)
        do {
            let ring = try open(directory)
            let list = try MediaPlaylistParser.parse(try #require(ring.snapshot.subtitlePlaylist(0, .whole)))
            #expect(list.segments.map(\.isGap) == [false, false, false, false, true, false, false])
            #expect(list.segments[4].uri == lost && ring.snapshot.subtitleFile(named: lost) == nil)
        }
        try directory.write("subs-0.m3u8", Array("<html>\n".utf8))
        let ring = try open(directory)
        #expect(ring.snapshot.index.listed.count == 7, "the picture is none the worse")
        #expect(ring.snapshot.housekeepingError != nil && ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
    }

    @Test func whatBelongsToNothingListedIsPassedOver() async throws {
        let ring = try open(directory)
        try await ring.publish(.numbered(0))
        try await ring.publish(Self.file(5))
        try await ring.publish(Self.file(0, of: 9))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
        try await ring.publish(Self.file(0))
        try await ring.publish(Self.file(0))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [1], "twice is once")
    }

    @Test func aFullDiskCostsSubtitlesNotRewind() async throws {
        let free = FreeSpace(100_000)
        let spool = try SpoolDirectory(directory.path) { free.value }
        let ring = try DVRRing(
            spool: spool, policy: RetentionPolicy(rewind: .seconds(7200), freeReserve: 1000), targetDuration: 6,
            subtitles: [Self.rendition("English")])
        for n in 0..<9 { try await ring.publish(.numbered(n)) }
        free.value = 1001
        await #expect(throws: RingError.self) { try await ring.publish(Self.file(0)) }
        #expect(ring.snapshot.rewindDrops == 0 && ring.snapshot.subtitles.map(\.nextMediaSequence) == [nil])
        free.value = 100_000
        try await ring.publish(Self.file(1))
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [2])
    }
}
