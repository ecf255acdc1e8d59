import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A restart reads the journal once: before the ring is opened.
struct RestartReadingTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private func publish(_ numbers: Range<Int>, previous: PreviousRing? = nil) async throws {
        let ring = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6, previous: previous)
        for n in numbers { try await ring.publish(.numbered(n)) }
    }

    @Test func ringContinuesWithTheJournalThatWasRead() async throws {
        try await publish(0..<5)
        let previous = try #require(DVRRing.previousRing(in: directory.path))
        let version = try SpoolDirectory(directory.path).version(of: "ring.m3u8")
        let ring = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6, previous: previous)
        #expect(ring.snapshot.index.listed.count == 5 && ring.resumePoint == .after(4))
        #expect(version != nil && previous.dequeueJournal(ifStill: version) == nil, "it was taken")
        try await ring.publish(.numbered(5))
        #expect(try RingJournal.read(directory.read("ring.m3u8"), path: "")?.entries.count == 6)
    }

    @Test func journalThatChangedSinceIsReadAgain() async throws {
        try await publish(0..<5)
        let previous = try #require(DVRRing.previousRing(in: directory.path))
        try await publish(5..<7)
        let ring = try DVRRing(directory: directory.path, policy: plentiful, targetDuration: 6, previous: previous)
        #expect(ring.snapshot.index.listed.count == 7 && ring.resumePoint == .after(6))
    }

    @Test(arguments: [6, 9])
    func reopeningReadsNoJournal(targetDuration: Int) async throws {
        try await publish(0..<5)
        let first = try DVRRing.open(directory)
        try await first.publish(.numbered(5))
        try directory.write("ring.m3u8", Array("no playlist".utf8))
        let ring = try await first.reopened(policy: plentiful, targetDuration: targetDuration, subtitles: .none)
        #expect(ring.snapshot.index.listed == first.snapshot.index.listed)
        #expect(ring.targetDuration == targetDuration && ring.resumePoint == .after(5))
        try await ring.publish(.numbered(6))
        #expect(ring.snapshot.newest?.mediaSequence == 6 && ring.snapshot.newest?.isDiscontinuous == true)
        guard targetDuration > 6 else { return }
        let journal = try #require(try RingJournal.read(directory.read("ring.m3u8"), path: ""))
        #expect(journal.entries.count == 7 && journal.targetDuration == 9, "another head is written as a whole")
    }

    @Test func longerTargetDurationKeepsTheLivePlaylist() async throws {
        try await publish(0..<20)
        let first = try DVRRing.open(directory)
        let before = try MediaPlaylistParser.parse(try #require(first.snapshot.livePlaylist()))
        let ring = try await first.reopened(policy: plentiful, targetDuration: 60, subtitles: .all)
        let after = try MediaPlaylistParser.parse(try #require(ring.snapshot.livePlaylist()))
        #expect(after.mediaSequence == before.mediaSequence && after.segments.map(\.uri) == before.segments.map(\.uri))
        #expect(
            ring.snapshot.index.variantAttributes?.averageBitRate
                == first.snapshot.index.variantAttributes?.averageBitRate)
    }
}
