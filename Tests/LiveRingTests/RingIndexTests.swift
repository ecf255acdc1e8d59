import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

struct RingIndexTests {
    static let evictionRows:
        [(when: String, policy: RetentionPolicy, published: Int, listed: Range<UInt64>, live: Range<UInt64>)] = [
            ("the ring fills", RetentionPolicy(rewind: .seconds(60)), 4, 0..<4, 0..<4),
            (
                "the live window is 30 s, but six segments at least", RetentionPolicy(rewind: .seconds(60)), 8, 0..<8,
                2..<8
            ),
            (
                "a longer live window is honoured", .init(rewind: .seconds(60), liveWindow: .seconds(48)), 9, 0..<9,
                1..<9
            ),
            ("rewind is full to the segment", RetentionPolicy(rewind: .seconds(60)), 10, 0..<10, 4..<10),
            ("one more slides", RetentionPolicy(rewind: .seconds(60)), 11, 1..<11, 5..<11),
            (
                "a rewind between whole segments is rounded up", .init(rewind: .seconds(62)), 20, 9..<20,
                14..<20
            ),
            ("a rewind shorter than the live window is the live window", .init(rewind: .zero), 20, 14..<20, 14..<20),
            ("no limit", RetentionPolicy(rewind: nil), 50, 0..<50, 44..<50),
            ("an archive", RetentionPolicy(rewind: .seconds(60), archive: .seconds(240)), 50, 10..<50, 44..<50),
            ("shorter than the rewind", .init(rewind: .seconds(60), archive: .seconds(30)), 50, 40..<50, 44..<50),
            // As many have room as without an archive, and of a longer one all but those of a rewind.
            (
                "an archive that bytes limit", .init(rewind: .seconds(60), archive: .seconds(6000), byteLimit: 1100),
                50,
                39..<50, 44..<50
            ),
            (
                "a longer one", .init(rewind: .seconds(36), archive: .seconds(6000), byteLimit: 3300), 100, 44..<100,
                94..<100
            ),
            // A segment has 53 or 54 bytes: 10 fit into half of the limit.
            (
                "half of the byte limit is for listed segments", .init(rewind: nil, byteLimit: 1100), 30, 20..<30,
                24..<30
            ),
            ("the byte limit keeps the live window", RetentionPolicy(rewind: nil, byteLimit: 1), 30, 24..<30, 24..<30),
        ]

    @Test(arguments: evictionRows)
    func listsWhatThePolicyKeeps(
        when: String, policy: RetentionPolicy, published: Int, listed: Range<UInt64>, live: Range<UInt64>
    ) throws {
        let index = RingIndex.filled(published, policy: policy)
        #expect(index.listed.map(\.mediaSequence) == Array(listed), "\(when)")
        let playlist = try #require(PublishedPlaylist(index: index, hasEnded: false).live)
        #expect(playlist.segments.map(\.mediaSequence) == Array(live), "\(when)")
        #expect(playlist.mediaSequence == live.lowerBound, "\(when)")
        #expect(index.listedTicks == index.listed.reduce(0) { $0 + $1.duration }, "\(when)")
        #expect(index.listedBytes == index.listed.reduce(0) { $0 + $1.storedBytes }, "\(when)")
    }

    /// Segments of 6 s, of which six are listed at least. The letters are the segments from 0 on: `-` is a gap.
    static let gapRows: [(when: String, published: String, live: Int)] = [
        ("a gap in the middle stays", "ooo--ooo", 2), ("a gap would be first, and leaves", "oo--oooooo", 4),
        ("the media before a gap stays", "oo--ooooo", 1), ("the same, with a longer gap", "ooooo----ooo", 4),
        ("until twice the window is listed", "oo--------oooo", 8), ("gaps alone", "oooo------", 4),
        ("gaps alone, from the beginning", "--------", 2), ("gaps at the beginning, too few segments", "--oo", 0),
        ("gaps at the beginning", "--oooooo", 2), ("a gap is last", "oooooooo-", 3),
    ]

    @Test(arguments: gapRows) func livePlaylistBeginsAfterGaps(when: String, published: String, live: Int) throws {
        var index = RingIndex(policy: RetentionPolicy(rewind: nil), targetDuration: 6)
        var starts: [UInt64] = []
        for (n, kind) in published.enumerated() {
            var entry = index.entry(for: .numbered(n), afterInterruption: false)
            entry.isGap = kind == "-"
            _ = index.publish(entry)
            starts.append(try #require(PublishedPlaylist(index: index, hasEnded: false).live).mediaSequence)
        }
        #expect(starts.last == UInt64(live), "\(when): \(starts)")
        #expect(starts == starts.sorted(), "\(when): \(starts)")
        // A range of time begins with its first media.
        let playlist = PublishedPlaylist(index: index, hasEnded: false)
        let range = try #require(playlist.rewind(.between(start: at(0), end: nil)))
        #expect(range.mediaSequence == (published.hasPrefix("--o") ? 2 : 0), "\(when)")
    }

    /// An archive of 40 segments with a rewind of 10: `dvr.m3u8` lists the rewind, a range all of it, and a file stays as long
    /// after it left the archive as `dvr.m3u8` is.
    @Test func archiveIsReachedByRangesOnly() throws {
        let policy = RetentionPolicy(rewind: .seconds(60), archive: .seconds(240), freeReserve: 0)
        let index = RingIndex.filled(100, policy: policy)
        let playlist = PublishedPlaylist(index: index, hasEnded: false)
        #expect(try #require(playlist.rewind(.whole)).segments.map(\.mediaSequence) == Array(90..<100))
        let range = RewindRange.between(start: at(6 * 60), end: at(6 * 90))
        #expect(try #require(playlist.rewind(range)).segments.map(\.mediaSequence) == Array(60..<90))
        let last = RewindRange.last(milliseconds: 180_000)
        #expect(try #require(playlist.rewind(last)).segments.count == 30)
        #expect((9...11).contains(index.retired.count), "\(index.retired.count)")
        #expect(policy.retains(span: .seconds(240)) && !policy.retains(span: .seconds(241)))
    }

    /// With 10 listed segments of 6 s, a file stays for 6 s plus the longest playlist (briefly 11 segments) after removal.
    @Test func keepsFileWhileViewersMayFetchIt() {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(60)), targetDuration: 6)
        var removedAt: [String: Int] = [:]
        var deletedAt: [String: Int] = [:]
        for n in 0..<60 {
            let before = index.listed.map(\.segment.name)
            let deleted = index.publish(.numbered(n))
            let after = Set(index.listed.map(\.segment.name))
            for name in before where !after.contains(name) { removedAt[name] = n }
            for file in deleted { deletedAt[file.name] = n }
        }
        #expect(deletedAt.count > 30)
        for (name, deleted) in deletedAt {
            #expect(deleted - (removedAt[name] ?? 0) == 12, "\(name)")
            #expect(index.segmentFile(named: name) == nil)
        }
    }

    @Test func findsOnlyFetchableFilesByName() {
        let index = RingIndex.filled(15, policy: RetentionPolicy(rewind: .seconds(60)))
        for entry in index.entries { #expect(index.segmentFile(named: entry.segment.name) == entry.segment) }
        #expect(index.entries.count == 15)
        #expect(index.listed.count == 10)
        let edge = SpoolName.segment(mediaSequence: 14, header: [])
        #expect(index.segmentFile(named: edge) == nil, "the number exists with another fingerprint")
        #expect(index.segmentFile(named: SpoolName.segment(mediaSequence: 15, header: [])) == nil)
        #expect(index.segmentFile(named: "seg-18446744073709551615-00000000.m4s") == nil)
        #expect(index.initializationFile(named: "init-a.mp4")?.byteCount == 10)
        #expect(index.initializationFile(named: "init-b.mp4") == nil)
    }

    /// Audio-only files, which are served as audio/mp4, also after recovery from the journal.
    @Test func recognizesAudioOnlyFiles() throws {
        var index = RingIndex(policy: plentiful, targetDuration: 6)
        index.publish(.numbered(0, format: VariantAttributesTests.program))
        index.publish(.numbered(1, initialization: "init-b.mp4", format: VariantAttributesTests.radio))
        let journal = try #require(
            try RingJournal.read(Array(RingJournal(index, hasEnded: false).text.utf8), path: "ring.m3u8"))
        var recovered = RingIndex(policy: plentiful, targetDuration: 6)
        for entry in journal.entries { recovered.replay(entry) }
        for known in [index, recovered] {
            let names = known.listed.flatMap { [$0.segment.name, $0.initialization.name] }
            #expect(names.map(known.isAudioOnly) == [false, false, true, true])
            #expect(!known.isAudioOnly("seg-2-00000000.m4s") && !known.isAudioOnly("init-c.mp4"))
        }
    }

    @Test func initSectionLeavesWithLastUse() {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(36)), targetDuration: 6)
        index.publish(.numbered(0, initialization: "init-b.mp4"))
        var deletedWith: [String: [String]] = [:]
        for n in 1..<30 {
            let deleted = index.publish(.numbered(n)).map(\.name)
            for name in deleted where name.hasPrefix("init") { deletedWith[name] = deleted }
        }
        let first = SpoolName.segment(mediaSequence: 0, header: NewSegment.numbered(0).header)
        #expect(deletedWith == ["init-b.mp4": [first, "init-b.mp4"]])
    }

    @Test func aShorterPolicyTakesEffectInBoundedSteps() {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(60)), targetDuration: 6)
        for entry in RingIndex.filled(100).listed { index.replay(entry) }
        #expect(index.listed.count == 100)
        var counts: [Int] = []
        for n in 100..<114 {
            let deleted = index.publish(.numbered(n))
            #expect(deleted.count <= RetentionPolicy.evictionsPerPublish)
            counts.append(index.listed.count)
        }
        #expect(counts == [93, 86, 79, 72, 65, 58, 51, 44, 37, 30, 23, 16, 10, 10])
    }

    @Test func fullDiskDropsRewindAndKeepsChannel() {
        var index = RingIndex.filled(100, policy: RetentionPolicy(rewind: .seconds(120)))
        let held = index.files
        let unneeded = Set(index.dropOldest(freeing: .max, keeping: .zero).files.map(\.name))
        #expect(index.listed.map(\.mediaSequence) == Array(94..<100))
        #expect(unneeded == held.subtracting(index.files))
        #expect(index.retiredBytes == 0)
        #expect(index.dropOldest(freeing: .max, keeping: .zero).files.isEmpty, "there is no more rewind")
        index.publish(.numbered(100))
        #expect(index.listed.map(\.mediaSequence) == Array(94..<101), "the rewind grows again")
    }

    static let discontinuityRows: [(when: String, at: [Int], published: Int, sequence: UInt64, tags: Int)] = [
        ("none", [], 20, 0, 0),
        ("the very first segment", [0], 3, 0, 1),
        ("inside the playlist", [17], 20, 0, 1),
        ("before the first segment listed: still a tag", [14], 20, 0, 1),
        ("just slid out", [13], 20, 1, 0),
        ("two slid out, two listed", [3, 4, 15, 19], 20, 2, 2),
        ("every segment", Array(0..<20), 20, 14, 6),
    ]

    @Test(arguments: discontinuityRows)
    func countsDiscontinuities(when: String, at: [Int], published: Int, sequence: UInt64, tags: Int) throws {
        var index = RingIndex(policy: RetentionPolicy(rewind: .seconds(36)), targetDuration: 6)
        for n in 0..<published { index.publish(.numbered(n, isDiscontinuous: at.contains(n))) }
        let live = ParsedPlaylist(text(PublishedPlaylist(index: index, hasEnded: false).live))
        #expect(live.discontinuitySequence == sequence, "\(when)")
        #expect(live.segments.count { $0.isDiscontinuous } == tags, "\(when)")
        #expect(live.segments.last?.discontinuityNumber == UInt64(at.count), "\(when)")
    }
}

extension RingIndex {
    /// The names of all files that have to be in the spool.
    var files: Set<String> {
        sharedFiles.union(entries.lazy.filter { !$0.isGap }.map(\.segment.name))
            .union(entries.lazy.flatMap(\.playableTracks).map(\.segment.name))
    }
}
