import Foundation
import TestSupport
import Testing

@testable import LiveRing

/// Recovery after the end of an earlier process.
struct RingRecoveryTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(48), liveWindow: .zero, freeReserve: 0)

    /// The snapshots after each of ten segments in a ring of eight, with a discontinuity.
    private static func writeRing(_ directory: ScratchDirectory, count: Int = 10) async throws -> [RingSnapshot] {
        let ring = try DVRRing.open(directory, policy: policy)
        var snapshots = [ring.snapshot]
        for n in 0..<count {
            try await ring.publish(
                .numbered(n, isDiscontinuous: n == 3, initialization: n < 3 ? "init-a.mp4" : "init-b.mp4"))
            snapshots.append(ring.snapshot)
        }
        return snapshots
    }

    @Test func continuesAfterLastSegment() async throws {
        let snapshots = try #require(try await Self.writeRing(directory).last)
        let ring = try DVRRing.open(directory)
        #expect(ring.resumePoint == .after(9))
        #expect(ring.snapshot.index.listed == snapshots.index.listed)
        #expect(
            ring.snapshot.livePlaylist() == snapshots.livePlaylist()
                || ring.snapshot.index.policy != snapshots.index.policy
        )
        try await ring.publish(.numbered(10))
        let entry = try #require(ring.snapshot.newest)
        #expect(entry.mediaSequence == 10)
        #expect(entry.isDiscontinuous, "a restart causes a discontinuity in any case")
        #expect(entry.discontinuitySequence == 2)
        try await ring.publish(.numbered(11))
        #expect(ring.snapshot.newest?.isDiscontinuous == false, "and only once")
    }

    /// Writing the journal of days anew takes seconds, so an intact one is extended. Nothing may follow an incomplete
    /// record, so that one is written anew.
    @Test(arguments: [(0, true), (1, false), (200, false)])
    func intactJournalIsNotWrittenAnew(cutBytes: Int, isKept: Bool) async throws {
        _ = try await Self.writeRing(directory, count: 6)
        let journal = try directory.read("ring.m3u8")
        try directory.write("ring.m3u8", Array(journal.dropLast(cutBytes)))
        let file = try fileNumber(of: "ring.m3u8")
        do { _ = try DVRRing.open(directory, policy: Self.policy) }
        #expect(try (fileNumber(of: "ring.m3u8") == file) == isKept)
        let ring = try DVRRing.open(directory, policy: Self.policy)
        try await ring.publish(.numbered(6))
        let read = try RingJournal.read(try directory.read("ring.m3u8"), path: "")
        #expect(read?.isDamaged == false && read?.entries.last?.mediaSequence == ring.snapshot.newest?.mediaSequence)
    }

    private func fileNumber(of name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(name)")
        return (attributes[.systemFileNumber] as? NSNumber)?.intValue
    }

    /// A process may be killed between any two bytes.
    @Test func journalTruncatedAtAnyByteIsRead() async throws {
        let snapshots = try await Self.writeRing(directory)
        let journal = try directory.read("ring.m3u8")
        let sizes = try directory.names.map { ($0, try directory.read($0).count) }
        for cut in 0...journal.count {
            let whole = Self.wholeRecords(journal[..<cut])
            let found = try RingRecovery(
                RingJournal.read(Array(journal[..<cut]), path: ""), path: "",
                files: SpoolFiles(Dictionary(uniqueKeysWithValues: sizes)),
                policy: Self.policy, targetDuration: 6, firstMediaSequence: 0)
            // Without an intact record the file names give the numbers, unless the head has a larger one.
            try #require(found.index.nextMediaSequence == UInt64(whole) || whole == 0, "byte \(cut)")
            try #require(whole > 0 || [0, 10].contains(found.index.nextMediaSequence), "byte \(cut)")
            try #require(found.index.listed == snapshots[whole].index.listed, "byte \(cut)")
            try #require(found.resumePoint == (whole > 0 ? .after(whole - 1) : nil), "byte \(cut)")
            try #require(!found.hasEnded)
        }
    }

    /// The same with real files, at some of the bytes: the first and the last of a record among them.
    @Test func truncatedRingContinues() async throws {
        let snapshots = try await Self.writeRing(directory)
        let journal = try directory.read("ring.m3u8")
        let files = try directory.names.subtracting(["ring.m3u8", "ring.lock"]).map { ($0, try directory.read($0)) }
        let ends = journal.indices.filter { $0 > 0 && journal[$0 - 1] == UInt8(ascii: "\n") }
        let cuts = Set(ends.flatMap { [$0 - 1, $0, $0 + 1] } + stride(from: 0, through: journal.count, by: 211))
        for cut in cuts where cut <= journal.count {
            let crashed = try ScratchDirectory()
            try crashed.write("ring.m3u8", Array(journal[..<cut]))
            try crashed.write("seg-10-0badc0de.m4s.part", [0])
            for (name, bytes) in files { try crashed.write(name, bytes) }
            try await Self.judge(crashed, snapshots, cut: cut, whole: Self.wholeRecords(journal[..<cut]))
        }
    }

    /// URI lines with their end, counted without the code under test.
    private static func wholeRecords(_ bytes: ArraySlice<UInt8>) -> Int {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().count { $0.hasPrefix("seg-") }
    }

    private static func judge(
        _ directory: ScratchDirectory, _ snapshots: [RingSnapshot], cut: Int, whole: Int
    ) async throws {
        let ring = try DVRRing.open(directory, policy: policy)
        let found = ring.snapshot
        if whole > 0 {
            try #require(found.index.listed == snapshots[whole].index.listed, "byte \(cut)")
            try #require(found.livePlaylist() == snapshots[whole].livePlaylist(), "byte \(cut)")
            try #require(ring.resumePoint == .after(whole - 1), "byte \(cut)")
        }
        // Files of more than one record say that their segments were listed.
        try #require(ring.unrecordedSegments == ((1..<9).contains(whole) ? 10 - whole : 0), "byte \(cut)")
        try await ring.publishUnrecordedGaps((whole..<10).prefix(ring.unrecordedSegments).map { .after($0) })
        let next = ring.snapshot.index.nextMediaSequence
        try #require(next == (whole == 9 ? 9 : 10), "byte \(cut): no number comes back")
        let present = directory.names.subtracting(["ring.m3u8", "ring.lock", "ring.m3u8.damaged"])
        try #require(present == ring.snapshot.index.files, "byte \(cut): every listed file is there and no other")
        try await ring.publish(.numbered(whole))
        let broken = brokenRules(from: text(snapshots[whole].livePlaylist()), to: text(ring.snapshot.livePlaylist()))
        try #require(whole == 0 || broken.isEmpty, "byte \(cut): \(broken)")
        try #require(ring.snapshot.newest?.mediaSequence == next, "byte \(cut)")
    }

    enum Loss: Sendable { case missing, short, long, zeros, initMissing, initShort }

    static let lossRows: [(when: String, loss: Loss, of: [UInt64], listed: Range<UInt64>, gaps: [UInt64])] = [
        ("nothing", .missing, [], 0..<10, []),
        ("the oldest: the playlist begins later", .missing, [0, 1], 2..<10, []),
        ("one in the middle: a gap under its old number", .missing, [4], 0..<10, [4]),
        ("cut short is lost as well", .short, [4], 0..<10, [4]),
        ("longer than it was: not what was published", .long, [4], 0..<10, [4]),
        ("of its length, without its bytes, as on a thin volume that is full", .zeros, [8, 9], 0..<10, [8, 9]),
        ("the newest, as after a power loss: its number stays in use", .short, [8, 9], 0..<10, [8, 9]),
        ("oldest and newest", .short, [0, 9], 1..<10, [9]),
        ("all", .missing, Array(0..<10), 10..<10, []),
        ("the init section of all", .initMissing, [], 10..<10, []),
        ("the init section cut short", .initShort, [], 10..<10, []),
    ]

    @Test(arguments: lossRows)
    func filesLostFromTheSpool(
        when: String, loss: Loss, of: [UInt64], listed: Range<UInt64>, gaps: [UInt64]
    ) async throws {
        do {
            let ring = try DVRRing.open(directory)
            for n in 0..<10 { try await ring.publish(.numbered(n)) }
            for entry in ring.snapshot.index.listed where of.contains(entry.mediaSequence) {
                if loss == .missing { try directory.remove(entry.segment.name) }
                if loss == .short { try directory.write(entry.segment.name, [1, 2, 3]) }
                if loss == .zeros {
                    try directory.write(entry.segment.name, Array(repeating: 0, count: entry.segment.byteCount))
                }
                if loss == .long { try directory.write(entry.segment.name, Array(repeating: 1, count: 1000)) }
            }
            if loss == .initMissing { try directory.remove("init-a.mp4") }
            if loss == .initShort { try directory.write("init-a.mp4", [1, 2, 3]) }
        }
        let ring = try DVRRing.open(directory)
        let index = ring.snapshot.index
        #expect(index.listed.map(\.mediaSequence) == Array(listed), "\(when)")
        #expect(index.listed.filter(\.isGap).map(\.mediaSequence) == gaps, "\(when)")
        #expect(index.nextMediaSequence == 10, "\(when)")
        let dvr = text(ring.snapshot.dvrPlaylist(.whole))
        #expect(dvr.split(separator: "\n").count { $0 == "#EXT-X-GAP" } == gaps.count, "\(when)")
        for entry in index.listed where entry.isGap {
            #expect(index.segmentFile(named: entry.segment.name) == nil, "\(when)")
        }
        try await ring.publish(.numbered(10))
        #expect(ring.snapshot.newest?.mediaSequence == 10, "\(when)")
        #expect(try directory.read("init-a.mp4") == Array("init-a.mp4".utf8), "\(when)")
    }

    static let foreignRows: [(when: String, journal: String)] = [
        ("a foreign playlist", "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n"),
        ("no playlist", "<html>\n"),
        (
            "an own journal with a foreign head",
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"init-a.mp4\"\n#EXTINF:6,\nseg-0-00000000.m4s\n"
        ),
    ]

    @Test(arguments: foreignRows)
    func unreadableJournalIsSetAside(when: String, journal: String) async throws {
        try directory.write("ring.m3u8", Array(journal.utf8))
        try directory.write("seg-5-00000000.m4s", [1])
        try directory.write("holiday.mp4", [1])
        let ring = try DVRRing.open(directory)
        #expect(ring.wasDamaged, "\(when)")
        #expect(ring.snapshot.index.nextMediaSequence == 6, "\(when)")
        #expect(try directory.read("ring.m3u8.damaged") == Array(journal.utf8), "\(when)")
        #expect(directory.names == ["ring.m3u8", "ring.m3u8.damaged", "ring.lock", "holiday.mp4"], "\(when)")
        try await ring.publish(.numbered(6))
        #expect(ring.snapshot.newest?.mediaSequence == 6, "\(when)")
    }

    /// Their spools are whole, and belong to another version.
    @Test(arguments: ["1", "3"]) func journalOfAnotherVersionIsNotChanged(version: String) throws {
        let journal = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#LIVERELAY-SPOOL:\(version)\n"
        try directory.write("ring.m3u8", Array(journal.utf8))
        try directory.write("seg-0-00000000.m4s", [1])
        #expect(throws: RingError.unknownJournalFormat(path: "\(directory.path)/ring.m3u8", found: version)) {
            try DVRRing.open(directory)
        }
        #expect(try directory.read("ring.m3u8") == Array(journal.utf8))
        #expect(directory.names == ["ring.m3u8", "ring.lock", "seg-0-00000000.m4s"])
    }

    static let tornHeads: [(when: String, journal: [UInt8])] = [
        ("empty", []), ("one byte", [0x23]), ("zeros, as after a power loss", Array(repeating: 0, count: 512)),
        ("only the first line", Array("#EXTM3U\n".utf8)),
        ("a head without its last line", Array("#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n#LIVERE".utf8)),
    ]

    @Test(arguments: tornHeads)
    func lostJournalContinuesAfterExistingFiles(when: String, journal: [UInt8]) async throws {
        try directory.write("ring.m3u8", journal)
        try directory.write("seg-41-01234567.m4s", [1])
        try directory.write("holiday.mp4", [1])
        let ring = try DVRRing.open(directory, firstMediaSequence: 7)
        #expect(ring.snapshot.index.nextMediaSequence == 42, "\(when)")
        #expect(
            directory.names.subtracting(["ring.m3u8.damaged"]) == ["ring.m3u8", "ring.lock", "holiday.mp4"],
            "\(when): only files of the ring are removed")
    }

    @Test func twoProcessesCannotShareASpool() async throws {
        do {
            let ring = try DVRRing.open(directory)
            #expect(throws: RingError.spoolInUse(directory: directory.path)) { try DVRRing.open(directory) }
            try await ring.publish(.numbered(0))
        }
        #expect(throws: Never.self) { try DVRRing.open(directory) }
    }

    static let targetRows: [(asked: Int, inForce: Int)] = [(6, 6), (4, 6), (8, 8)]

    @Test(arguments: targetRows)
    func publishedTargetDurationStays(asked: Int, inForce: Int) async throws {
        do { try await DVRRing.open(directory).publish(.numbered(0)) }
        let ring = try DVRRing.open(directory, targetDuration: asked)
        #expect(ring.targetDuration == inForce)
        #expect(ring.maximumSegmentDuration == Int64(inForce) * 90_000 + 44_999)
    }

    @Test func journalIsCompacted() async throws {
        let ring = try DVRRing.open(directory, policy: RetentionPolicy(rewind: .seconds(36), freeReserve: 0))
        var largest = 0
        for n in 0..<400 {
            try await ring.publish(.numbered(n))
            largest = max(largest, try directory.read("ring.m3u8").count)
        }
        #expect(largest < 60_000)
        #expect(directory.names.count < 20)
        #expect(ring.snapshot.housekeepingError == nil)
    }
}
