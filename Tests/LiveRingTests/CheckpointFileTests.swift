import Playlist
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A restart with a checkpoint continues like one that reads the whole journal, whatever became of the checkpoint.
struct CheckpointFileTests {
    private static let count = 900

    /// A ring of segments of 6 s, some with ad markers, of which a sixth was evicted if the rewind is short.
    private static func write(_ directory: ScratchDirectory, rewind: Duration? = nil, count: Int = count) async throws {
        let ring = try DVRRing.open(directory, policy: policy(rewind))
        for n in 0..<count {
            var segment = NewSegment.numbered(
                n, isDiscontinuous: n % 300 == 299, initialization: "init-\(["a", "b"][n / 300 % 2]).mp4")
            segment.resumePoint.upstream = UpstreamPosition(
                sourceIndex: 0, mediaSequence: UInt64(n), programDateTime: at(Int64(n)), publishedFrames: "\(n)")
            if n.isMultiple(of: 50) { segment.adMarkers.dateRanges = [.numbered(n, from: at(6 * Int64(n)))] }
            if n.isMultiple(of: 70) { segment.adMarkers.cueTags = [CueTag("#EXT-X-CUE-OUT:30")!] }
            try await ring.publish(segment)
        }
    }

    private static func policy(_ rewind: Duration?) -> RetentionPolicy {
        RetentionPolicy(rewind: rewind, freeReserve: 0)
    }

    private static func copy(_ directory: ScratchDirectory) throws -> ScratchDirectory {
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        return copy
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        var rewind: Duration?
        /// Whether the journal is read after the checkpoint, and not as a whole.
        let isUsed: Bool
        var change: @Sendable (ScratchDirectory) throws -> Void = { _ in }
        var testDescription: String { when }
    }

    private static func read(_ directory: ScratchDirectory) throws -> CheckpointFile.Content {
        try CheckpointFile.read(FileDescriptor("\(directory.path)/\(SpoolName.checkpoint)"))
    }

    private static func change(_ directory: ScratchDirectory, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = try directory.read(SpoolName.checkpoint)
        body(&bytes)
        try directory.write(SpoolName.checkpoint, bytes)
    }

    private static let rows: [Row] = [
        Row(when: "as a kill leaves it", isUsed: true),
        Row(when: "segments were evicted", rewind: .seconds(6 * 350), isUsed: true),
        Row(when: "half of a chunk was written", isUsed: true) { try change($0) { $0.removeLast(100) } },
        Row(when: "nothing but the head was written", isUsed: false) {
            try change($0) { $0.removeLast($0.count - 23) }
        },
        Row(when: "another version wrote it", isUsed: false) { try change($0) { $0[21] = UInt8(ascii: "9") } },
        Row(when: "a byte of its last block changed", isUsed: true) { try change($0) { $0[$0.count - 9] ^= 1 } },
        Row(when: "a byte of its first block changed", isUsed: false) { try change($0) { $0[100] ^= 1 } },
        Row(when: "it is removed", isUsed: false) { try $0.remove(SpoolName.checkpoint) },
        Row(when: "it belongs to another channel", isUsed: false) {
            let name = try #require($0.names.first { $0.hasPrefix("seg-639-") })
            let journal = text(try $0.read("ring.m3u8")).replacing(name, with: "seg-639-00000000.m4s")
            try $0.write("ring.m3u8", Array(journal.utf8))
        },
    ]

    @Test(arguments: rows)
    func restartIsTheSame(row: Row) async throws {
        let directory = try ScratchDirectory()
        try await Self.write(directory, rewind: row.rewind)
        try row.change(directory)
        let plain = try Self.copy(directory)
        if plain.names.contains(SpoolName.checkpoint) { try plain.remove(SpoolName.checkpoint) }
        let read = try #require(try JournalReader.read(in: directory.path)?.journal)
        #expect((read.entries.blockEnd > 0 && read.isFromCheckpoint) == row.isUsed, "\(row.when)")
        let policy = Self.policy(row.rewind)
        let (one, other) = (try DVRRing.open(directory, policy: policy), try DVRRing.open(plain, policy: policy))
        try Self.expectSame(one.snapshot, other.snapshot, "\(row.when)")
        #expect(one.resumePoint == other.resumePoint && one.wasDamaged == other.wasDamaged, "\(row.when)")
        // The rings go on, past another block, and the next process finds the same again.
        for ring in [one, other] {
            for n in Self.count..<Self.count + 150 { try await ring.publish(.numbered(n)) }
        }
        try Self.expectSame(one.snapshot, other.snapshot, "\(row.when), later")
        let last = try DVRRing.open(try Self.copy(directory), policy: policy)
        try Self.expectSame(last.snapshot, one.snapshot, "\(row.when), again")
        let end = try #require(try JournalReader.read(in: directory.path)?.journal)
        #expect(end.isFromCheckpoint, "\(row.when): the file goes on")
    }

    private static func expectSame(_ one: RingSnapshot, _ other: RingSnapshot, _ when: String) throws {
        let (index, expected) = (one.index, other.index)
        try #require(index.listed.map(\.segment) == expected.listed.map(\.segment), "\(when)")
        try #require(index.listed.map(\.isGap) == expected.listed.map(\.isGap), "\(when)")
        #expect(
            one.dvrPlaylist(.whole) == other.dvrPlaylist(.whole) && one.livePlaylist() == other.livePlaylist(),
            "\(when)")
        #expect(one.masterPlaylist() == other.masterPlaylist(), "\(when)")
        #expect(index.files == expected.files, "\(when)")
        #expect(index.listedTicks == expected.listedTicks && index.listedBytes == expected.listedBytes, "\(when)")
    }

    @Test func fileThatIsLostBecomesAGap() async throws {
        let directory = try ScratchDirectory()
        try await Self.write(directory)
        let name = try #require(directory.names.first { $0.hasPrefix("seg-77-") })
        try directory.remove(name)
        for _ in 0..<2 {
            let ring = try DVRRing.open(try Self.copy(directory), policy: Self.policy(nil))
            #expect(ring.snapshot.index.listed.filter(\.isGap).map(\.mediaSequence) == [77])
        }
    }

    /// A ring with a few segments has none, and one whose journal is written as a whole gets another.
    @Test func checkpointFollowsTheJournal() async throws {
        let directory = try ScratchDirectory()
        try await Self.write(directory, count: 300)
        #expect(!directory.names.contains(SpoolName.checkpoint))
        let ring = try DVRRing.open(directory, policy: Self.policy(nil))
        for n in 300..<700 { try await ring.publish(.numbered(n)) }
        let before = try Self.read(directory)
        #expect(before.isWhole && before.blocks.count == (700 - RingEntries.recentCount) / EntryBlock.size)
        await ring.stopSliding()
        let after = try Self.read(directory)
        #expect(after.isWhole && after.blocks.count == before.blocks.count)
        #expect(text(try directory.read("ring.m3u8")).contains(RingJournal.liveWindowStartTag))
    }

    /// Bytes of strangers end in nothing worse than no blocks.
    @Test(arguments: 0..<200 as Range<UInt64>) func changedBytesAreNoBlocks(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let entries = Array(RingIndex.filled(EntryBlock.size).listed)
        var bytes = EntryBlock(entries).bytes(writing: RingJournal.record)
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            bytes[.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
        }
        guard let block = EntryBlock(bytes: bytes[...], reading: RingJournal.entries) else { return }
        #expect((0..<EntryBlock.size).map { block[$0] }.count == EntryBlock.size)
    }
}
