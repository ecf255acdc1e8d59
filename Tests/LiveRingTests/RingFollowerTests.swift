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
