import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A disk without room: what is removed, and what is published. A segment has 6 s and 1013 bytes, or 1014.
struct FullDiskTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let when: String
        var policy = RetentionPolicy(rewind: .seconds(7200))
        var byteCount: UInt64 = 10_000_000
        var freeing = SimulatedDisk.Freeing.atOnce
        /// The segments before, and what other programs leave free then; negative: as much less than the reserve and a segment.
        var before = 100
        let free: Int64
        /// The segments after, and those that are listed in the end.
        var after = 1
        let listed: ClosedRange<Int>
        var drops = 1
        var commits = 0
        var testDescription: String { when }
    }

    private static let rows: [Row] = [
        Row(when: "there is room", free: 1_002_000, listed: 101...101, drops: 0),
        Row(when: "8 bytes are missing", free: -8, listed: 92...92),
        Row(
            when: "8 bytes are missing, and then as many as are written", free: -8, after: 10, listed: 92...92, drops: 2
        ),
        Row(when: "half of the rewind is missing", free: 950_000, listed: 42...44),
        Row(when: "more than the rewind is missing: the live window stays", free: 500_000, listed: 7...7),
        Row(
            when: "more than the rewind is missing, and the live window is long",
            policy: .init(rewind: .seconds(7200), liveWindow: .seconds(60)), free: 500_000, listed: 11...11),
        Row(
            when: "a small disk: a tenth of it stays free of the rewind, and the live window is written",
            byteCount: 200_000,
            before: 0, free: 10_000, after: 9, listed: 7...7, drops: 2),
        Row(when: "no byte is free", free: 0, listed: 7...7),
        Row(
            when: "a disk of 100 GiB has no byte free", byteCount: 100 << 30, free: 0, listed: 7...7),
        Row(
            when: "an archive loses its oldest", policy: .init(rewind: .seconds(60), archive: .seconds(7200)), free: -8,
            listed: 92...92),
        Row(
            when: "bytes are free with the next commit", freeing: .withCommit, free: -8, after: 6, listed: 97...97,
            commits: 1),
        Row(
            when: "bytes are free with the next commit, and none is free", freeing: .withCommit, free: 0, listed: 7...7,
            commits: 1),
        Row(when: "bytes are free some time", freeing: .later, free: -8, after: 6, listed: 97...97, commits: 1),
    ]

    @Test(arguments: rows) func removesTheOldest(row: Row) async throws {
        let directory = try ScratchDirectory()
        let disk = SimulatedDisk(directory, byteCount: row.byteCount, freeing: row.freeing)
        let ring = try DVRRing(
            directory: directory.path, on: disk.fileSystem, policy: row.policy, targetDuration: 6)
        func segment(_ n: Int) -> NewSegment { .numbered(n, payloadBytes: 1000) }
        for n in 0..<row.before { try await ring.publish(segment(n)) }
        let needed = min(1 << 30, Int64(row.byteCount / 10)) + Int64(segment(row.before).storedByteCount)
        disk.leave(UInt64(row.free < 0 ? needed + row.free : row.free))
        for n in row.before..<row.before + row.after { try await ring.publish(segment(n)) }
        let listed = ring.snapshot.index.listed
        #expect(row.listed.contains(listed.count), "\(listed.count)")
        #expect(
            !listed.contains { $0.isGap || $0.isDiscontinuous }
                && ring.snapshot.newest?.mediaSequence == UInt64(row.before + row.after - 1))
        #expect(ring.snapshot.rewindDrops == row.drops)
        #expect(disk.commits == row.commits)
        #expect(directory.names.count { $0.hasPrefix("seg-") } == listed.count)
        #expect(ring.snapshot.housekeepingError == nil)
    }

    @Test func nothingIsPublishedWithoutRoom() async throws {
        let directory = try ScratchDirectory()
        let disk = SimulatedDisk(directory, byteCount: 100_000)
        let ring = try DVRRing(
            directory: directory.path, on: disk.fileSystem, policy: .init(rewind: .seconds(7200)), targetDuration: 6)
        for n in 0..<20 { try await ring.publish(.numbered(n)) }
        let size = UInt64(NewSegment.numbered(20).byteCount)
        // What is removed is taken by others at once.
        for n in 20..<22 {
            disk.leave(0)
            let large = NewSegment.numbered(n, payloadBytes: 5000)
            let error = await #expect(throws: RingError.self) { try await ring.publish(large) }
            #expect(error?.isDiskFull == true)
        }
        #expect(ring.snapshot.index.listed.map(\.mediaSequence) == Array(14...21), "the channel continues")
        #expect(ring.snapshot.index.listed.map(\.isGap) == Array(repeating: false, count: 6) + [true, true])
        #expect(ring.snapshot.newest?.resumePoint == .after(21), "its clocks continue")
        #expect(!directory.names.contains { $0.hasSuffix(".part") })
        disk.leave(size)
        try await ring.publish(.numbered(22))
        #expect(ring.snapshot.newest?.mediaSequence == 22)
        #expect(ring.snapshot.newest?.isDiscontinuous == true, "lost media causes a discontinuity")
    }

    /// Killed at any time, the next process lists what is there, and nothing earlier.
    @Test func restartBeginsWhereTheRewindDoes() async throws {
        let directory = try ScratchDirectory()
        let disk = SimulatedDisk(directory, byteCount: 10_000_000)
        func open() throws(RingError) -> DVRRing {
            try DVRRing(
                directory: directory.path, on: disk.fileSystem, policy: .init(rewind: .seconds(7200)), targetDuration: 6
            )
        }
        var numbers: [UInt64] = []
        do {
            let ring = try open()
            for n in 0..<100 { try await ring.publish(.numbered(n, payloadBytes: 1000)) }
            disk.leave(950_000)
            try await ring.publish(.numbered(100, payloadBytes: 1000))
            numbers = ring.snapshot.index.listed.map(\.mediaSequence)
        }
        let ring = try open()
        #expect(ring.snapshot.index.listed.map(\.mediaSequence) == numbers)
        #expect(!ring.snapshot.index.listed.contains { $0.isGap } && numbers.count < 50)
    }

    static let reserves: [(byteCount: UInt64, reserve: UInt64)] = [
        (256 << 20, 26_843_545), (600 << 20, 62_914_560), (10 << 30, 1 << 30), (4 << 40, 1 << 30),
    ]

    @Test(arguments: reserves) func reserveIsAPartOfASmallFileSystem(byteCount: UInt64, reserve: UInt64) {
        #expect(FileSystemSpace(freeBytes: 0, byteCount: byteCount).reserve == reserve)
    }
}
