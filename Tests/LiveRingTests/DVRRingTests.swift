import Foundation
import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

struct DVRRingTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    @Test func publishedSegmentIsVisibleAndComplete() async throws {
        let ring = try DVRRing.open(directory, firstMediaSequence: 77)
        #expect(ring.snapshot.livePlaylist() == nil)
        #expect(ring.snapshot.masterPlaylist() == nil)
        #expect(ring.resumePoint == nil)
        // More chunks than one writev accepts, including empty ones.
        var segment = NewSegment.numbered(0)
        let arena = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        segment.payload = stride(from: 0, to: 20_000, by: 50).flatMap { [arena[$0..<$0], arena[$0..<($0 + 50)]] }
        try await ring.publish(segment)
        let snapshot = ring.snapshot
        let file = try #require(snapshot.newest.map(\.segment))
        #expect(file.name.hasPrefix("seg-77-"))
        #expect(snapshot.path(of: file) == "\(directory.path)/\(file.name)")
        #expect(try directory.read(file.name) == segment.header + arena)
        #expect(try directory.read("init-a.mp4") == segment.initialization.bytes)
        #expect(snapshot.newest?.isDiscontinuous == false, "a new ring begins without a discontinuity")
        #expect(brokenRules(in: text(snapshot.livePlaylist())).isEmpty)
    }

    static let refusalRows: [(when: String, segment: NewSegment, error: RingError)] = [
        ("no duration", .numbered(0, duration: 0), .badDuration(0, maximum: 584_999)),
        ("EXTINF would round up to 7", .numbered(0, duration: 585_000), .badDuration(585_000, maximum: 584_999)),
        ("a path as name", .numbered(0, initialization: "../init-a.mp4"), .badInitializationName("../init-a.mp4")),
        ("a name of other files", .numbered(0, initialization: "init-.mp4"), .badInitializationName("init-.mp4")),
    ]

    @Test(arguments: refusalRows)
    func refusesInvalidSegments(when: String, segment: NewSegment, error: RingError) async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        let before = ring.snapshot
        await #expect(throws: error, "\(when)") { try await ring.publish(segment) }
        #expect(ring.snapshot.version == before.version, "\(when)")
    }

    @Test func declaresIndependenceOnlyWhileTrue() async throws {
        let ring = try DVRRing.open(directory)
        let promise = "#EXT-X-INDEPENDENT-SEGMENTS"
        try await ring.publish(.numbered(0))
        #expect(text(ring.snapshot.livePlaylist()).contains(promise))
        try await ring.publish(.numbered(1, isIndependent: false))
        #expect(!text(ring.snapshot.livePlaylist()).contains(promise))
        #expect(!String(decoding: try directory.read("ring.m3u8"), as: UTF8.self).contains(promise))
        let journal = try #require(try RingJournal.read(try directory.read("ring.m3u8"), path: ""))
        #expect(journal.entries.map(\.isIndependent) == [true, false], "a restart knows it")
    }

    @Test func longestSegmentIsAccepted() async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0, duration: ring.maximumSegmentDuration))
        #expect(brokenRules(in: text(ring.snapshot.livePlaylist())).isEmpty)
    }

    @Test func failedWriteIsGap() async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        let before = ring.snapshot.livePlaylist()
        // A directory stands where the next file has to go.
        let name = SpoolName.segment(mediaSequence: 1, header: NewSegment.numbered(1).header)
        try FileManager.default.createDirectory(atPath: "\(directory.path)/\(name)", withIntermediateDirectories: false)
        await #expect(throws: RingError.system(.rename, path: "\(directory.path)/\(name)", code: EISDIR)) {
            try await ring.publish(.numbered(1))
        }
        #expect(brokenRules(from: text(before), to: text(ring.snapshot.livePlaylist())).isEmpty)
        #expect(ring.snapshot.newest?.isGap == true, "the lost time is a gap")
        #expect(!directory.names.contains { $0.hasSuffix(".part") })
    }

    @Test func initSectionOfGapStaysWithGap() async throws {
        let policy = RetentionPolicy(rewind: .seconds(60), freeReserve: 0)
        let ring = try DVRRing.open(directory, policy: policy)
        for n in 0..<8 { try await ring.publish(.numbered(n, initialization: "init-a.mp4")) }
        let resumePoint = try #require(ring.snapshot.newest?.resumePoint)
        for _ in 0..<40 {
            try await ring.publishGap(lasting: ring.maximumSegmentDuration, resumePoint: resumePoint)
            let isListed = text(ring.snapshot.dvrPlaylist(.whole)).contains("init-a.mp4")
            #expect(isListed && directory.names.contains("init-a.mp4"))
            #expect(ring.snapshot.index.initializationFile(named: "init-a.mp4") != nil)
        }
        #expect(!directory.names.contains { $0.hasPrefix("seg-") }, "the segments are gone")
        for n in 8..<60 { try await ring.publish(.numbered(n, initialization: "init-b.mp4")) }
        #expect(!directory.names.contains("init-a.mp4"), "no entry lists it any more")
    }

    /// Viewers at the live edge can play to the end, however much media arrives and however short the rewind is.
    @Test(arguments: [nil, Duration.zero])
    func finishedLivePlaylistKeepsSegments(rewind: Duration?) async throws {
        let policy = RetentionPolicy(rewind: rewind, liveWindow: .seconds(30), freeReserve: 0)
        let ring = try DVRRing.open(directory, policy: policy)
        for n in 0..<20 { try await ring.publish(.numbered(n)) }
        let first = try #require(text(ring.snapshot.livePlaylist()).firstMatch(of: /MEDIA-SEQUENCE:(\d+)/)).1
        await ring.stopSliding()
        for n in 20..<60 { try await ring.publish(.numbered(n)) }
        await ring.stopSliding()
        #expect(text(ring.snapshot.livePlaylist()).contains("MEDIA-SEQUENCE:\(first)\n"))
        #expect(text(ring.snapshot.livePlaylist()).contains("seg-59-"))
        await ring.resumeSliding()
        try await ring.publish(.numbered(60))
        #expect(text(ring.snapshot.livePlaylist()).contains("MEDIA-SEQUENCE:55\n"), "it slides again")
    }

    @Test func endIsFinal() async throws {
        do {
            let ring = try DVRRing.open(directory)
            for n in 0..<8 { try await ring.publish(.numbered(n)) }
            let before = text(ring.snapshot.livePlaylist())
            await ring.end()
            #expect(text(ring.snapshot.livePlaylist()) == before + "#EXT-X-ENDLIST\n")
            #expect(text(ring.snapshot.dvrPlaylist(.whole)).hasSuffix("#EXT-X-ENDLIST\n"))
            await #expect(throws: RingError.ended) { try await ring.publish(.numbered(8)) }
            await ring.end()
        }
        let ring = try DVRRing.open(directory)
        #expect(ring.snapshot.hasEnded, "the playlists have ended")
        try await ring.publish(.numbered(8))
        #expect(!ring.snapshot.hasEnded)
        #expect(!text(try directory.read("ring.m3u8")).contains("ENDLIST"))
        #expect(ring.snapshot.newest?.mediaSequence == 8)
    }

    /// The range is in every playlist that it overlaps, of this process and of the next.
    @Test func rangesOfEndAreListed() async throws {
        let range = DateRange.numbered(1, from: at(40), lasting: .seconds(9))
        let over = DateRange.numbered(2, from: at(-40), lasting: .seconds(9))
        let tag = "#EXT-X-DATERANGE:\(range.attributes.text)\n"
        func expectListed(_ ring: DVRRing) {
            for playlist in [text(ring.snapshot.livePlaylist()), text(ring.snapshot.dvrPlaylist(.whole))] {
                #expect(playlist.ranges(of: "#EXT-X-DATERANGE").count == 1 && playlist.contains(tag))
            }
        }
        do {
            let ring = try DVRRing.open(directory)
            for n in 0..<8 { try await ring.publish(.numbered(n)) }
            await ring.end(adding: [range, over])
            #expect(text(ring.snapshot.livePlaylist()).hasSuffix("#EXT-X-ENDLIST\n"))
            expectListed(ring)
        }
        let ring = try DVRRing.open(directory)
        expectListed(ring)
        try await ring.publish(.numbered(8))
        expectListed(ring)
    }

    @Test func readersAndPublisherRunConcurrently() async throws {
        let ring = try DVRRing.open(
            directory, policy: RetentionPolicy(rewind: .seconds(60), freeReserve: 0))
        try await ring.publish(.numbered(0))
        try await withThrowingTaskGroup { group in
            group.addTask { for n in 1..<200 { try await ring.publish(.numbered(n)) } }
            for _ in 0..<3 {
                group.addTask {
                    var version: UInt64 = 0
                    while version < 200 {
                        let snapshot = ring.snapshot
                        #expect(snapshot.version >= version)
                        version = snapshot.version
                        let live = ParsedPlaylist(text(snapshot.livePlaylist()))
                        #expect(live.end == snapshot.index.nextMediaSequence, "one version, one state")
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
