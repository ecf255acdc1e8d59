import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

struct RingFollowerTests {
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    @Test func showsWhatAnotherProcessPublishes() async throws {
        var follower = RingFollower(of: directory.path, policy: plentiful)
        let nothing = follower.nextSnapshot()
        #expect(nothing?.version == nil, "nothing is there")
        let ring = try DVRRing.open(directory)
        var versions: [UInt64] = []
        for n in 0..<70 {
            try await ring.publish(.numbered(n))
            let next = follower.nextSnapshot()
            let found = try #require(next)
            versions.append(found.version)
            #expect(found.livePlaylist() == ring.snapshot.livePlaylist(), "segment \(n)")
            #expect(found.dvrPlaylist(.whole) == ring.snapshot.dvrPlaylist(.whole), "segment \(n)")
            let unchanged = follower.nextSnapshot()
            #expect(unchanged?.version == nil, "nothing has changed")
        }
        #expect(zip(versions, versions.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// Following costs what is published, not what is stored.
    @Test func readsEachByteOnce() async throws {
        let ring = try DVRRing.open(directory)
        for n in 0..<10 { try await ring.publish(.numbered(n)) }
        var follower = RingFollower(of: directory.path, policy: plentiful)
        _ = follower.nextSnapshot()
        let before = try directory.read("ring.m3u8").count
        for n in 10..<400 {
            try await ring.publish(.numbered(n))
            let next = follower.nextSnapshot()
            #expect(next?.livePlaylist() == ring.snapshot.livePlaylist(), "segment \(n)")
        }
        let published = try directory.read("ring.m3u8").count - before
        #expect(follower.appendedByteCount - published <= 400 * 64)
        #expect(follower.wholeReads == 1)
        await ring.end()
        let end = follower.nextSnapshot()
        #expect(end?.hasEnded == true && follower.wholeReads == 2, "the journal was replaced")
        let nothing = follower.nextSnapshot()
        #expect(nothing?.version == nil)
    }

    @Test func incompleteRecordIsReadWhenItIsComplete() async throws {
        let ring = try DVRRing.open(directory)
        for n in 0..<3 { try await ring.publish(.numbered(n)) }
        let whole = try directory.read("ring.m3u8")
        try await ring.publish(.numbered(3))
        let record = try directory.read("ring.m3u8").dropFirst(whole.count)
        await ring.close()
        // What another process sees while the record is being written.
        try directory.write("ring.m3u8", whole)
        var follower = RingFollower(of: directory.path, policy: plentiful)
        _ = follower.nextSnapshot()
        for count in [20, record.count - 1] {
            try directory.write("ring.m3u8", whole + record.prefix(count))
            let part = follower.nextSnapshot()
            #expect(part?.version == nil, "\(count) bytes of a record")
        }
        try directory.write("ring.m3u8", whole + record)
        let next = follower.nextSnapshot()
        #expect(next?.index.nextMediaSequence == 4 && follower.wholeReads == 1)
    }

    @Test func subtitlesAreFollowed() async throws {
        let ring = try DVRRing(
            directory: directory.path, policy: plentiful, targetDuration: 6,
            subtitles: .upstream([SubtitleStoreTests.rendition("English")], keepsMade: false))
        var follower = RingFollower(of: directory.path, policy: plentiful)
        for n in 0..<40 {
            try await ring.publish(.numbered(n))
            if n > 0 { try await ring.publish(SubtitleStoreTests.file(n - 1)) }
            let next = follower.nextSnapshot()
            let found = try #require(next)
            let expected = ring.snapshot
            #expect(found.livePlaylist(of: .subtitles(0)) == expected.livePlaylist(of: .subtitles(0)), "segment \(n)")
            #expect(found.index.listedBytes == expected.index.listedBytes, "segment \(n)")
        }
        #expect(follower.wholeReads <= 3, "the ring, a new rendition, and its first subtitles")
    }

    /// The journal is written in a directory that somebody else reads, and evicted segments are no gaps at its beginning.
    @Test func showsARingThatSlides() async throws {
        var follower = RingFollower(of: directory.path, policy: plentiful)
        let ring = try DVRRing(
            directory: directory.path, policy: RetentionPolicy(rewind: .seconds(60), freeReserve: 0), targetDuration: 6)
        for n in 0..<40 { try await ring.publish(.numbered(n)) }
        let next = follower.nextSnapshot()
        let found = try #require(next)
        #expect(!found.index.listed.contains { $0.isGap })
        #expect(found.livePlaylist() == ring.snapshot.livePlaylist())
    }

    @Test func closedRingCanBeContinuedWhileItIsRead() async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        #expect(throws: RingError.self) { _ = try DVRRing.open(directory) }
        await ring.close()
        let next = try DVRRing.open(directory)
        try await next.publish(.numbered(1))
        await #expect(throws: RingError.ended) { try await ring.publish(.numbered(2)) }
        await ring.close()
        #expect(throws: RingError.self, "closing again releases nothing") { _ = try DVRRing.open(directory) }
        let old = try #require(ring.snapshot.newest)
        #expect(try ring.snapshot.bytes(of: old.segment).isEmpty == false)
        #expect(next.snapshot.index.nextMediaSequence == 2)
    }

    @Test func laterFormatIsRefused() async throws {
        #expect(throws: Never.self) { try DVRRing.checkFormat(in: directory.path) }
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        await ring.close()
        #expect(throws: Never.self) { try DVRRing.checkFormat(in: directory.path) }
        let text = String(decoding: try directory.read("ring.m3u8"), as: UTF8.self)
        let later = text.replacing(/#LIVERELAY-SPOOL:[^\n]*/, with: "#LIVERELAY-SPOOL:VERSION=99")
        #expect(later != text)
        try directory.write("ring.m3u8", Array(later.utf8))
        try? directory.remove("ring.checkpoint")
        #expect(throws: RingError.self) { try DVRRing.checkFormat(in: directory.path) }
        try directory.write("ring.m3u8", Array("no playlist".utf8))
        #expect(throws: Never.self, "a damaged journal is set aside") { try DVRRing.checkFormat(in: directory.path) }
    }
}
