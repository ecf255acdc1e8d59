import Foundation
import Glibc
import Playlist
import Synchronization
import TestSupport
import Testing

@testable import LiveRing
@testable import Support

struct FailingDiskTests {
    /// The suite holds the directory, so that it outlives the ring.
    let directory: ScratchDirectory
    let disk = FailingDisk()

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(90), liveWindow: .zero, freeReserve: 0)
    private static let english = SubtitleStoreTests.rendition("English")

    private func open(_ directory: ScratchDirectory) throws(RingError) -> DVRRing {
        let disk = disk
        let spool = try SpoolDirectory(directory.path, on: FileSystem(fault: { disk.answer($0, $1) }))
        return try DVRRing(
            spool: spool, policy: Self.policy, targetDuration: 6, subtitles: .upstream([Self.english], keepsMade: false)
        )
    }

    /// Segment `n` with its subtitles. Every third begins with another init section.
    private static func publish(_ n: Int, to ring: DVRRing) async -> [RingError] {
        var errors: [RingError] = []
        do throws(RingError) {
            try await ring.publish(.numbered(n, initialization: "init-\(n / 3).mp4"))
            guard let number = ring.snapshot.newest?.mediaSequence else { return [] }
            let bytes = Array("WEBVTT\n\nof \(n)\n".utf8)
            try await ring.publish(NewSubtitles(rendition: 0, mediaSequence: number, bytes: bytes))
        } catch { errors.append(error) }
        return errors
    }

    /// The write that fails, the part of it that is written, and the resulting entries.
    static let rows: [(when: String, fault: FailingDisk.Fault, isListed: Bool, isGap: Bool)] = [
        ("no byte of a segment", .init(file: "seg-", written: 0, code: ENOSPC), true, true),
        ("half a segment", .init(file: "seg-", written: 500, code: ENOSPC), true, true),
        ("the quota of a user", .init(file: "seg-", written: 500, code: EDQUOT), true, true),
        ("a disk that breaks", .init(file: "seg-", written: 999, code: EIO), true, true),
        ("mounted read-only", .init(file: "seg-", written: 0, code: EROFS), true, true),
        ("half an init section", .init(file: "init-", written: 500, code: ENOSPC), true, true),
        ("no byte of a record", .init(file: "ring.m3u8", written: 0, code: ENOSPC), true, true),
        ("half a record", .init(file: "ring.m3u8", written: 500, code: ENOSPC), true, true),
        ("all of a record but its end", .init(file: "ring.m3u8", written: 999, code: EIO), true, true),
        ("everything", .init(file: "", written: 0, code: ENOSPC), true, true),
        ("half of everything", .init(file: "", written: 500, code: ENOSPC), true, true),
        ("no descriptor for a segment", .init(file: "seg-", written: 0, code: EMFILE), true, true),
        ("no descriptor for a record", .init(file: "ring.m3u8", written: 0, code: EMFILE), true, true),
        ("no descriptor in the process", .init(file: "", written: 0, code: EMFILE), true, true),
        ("no descriptor in the system", .init(file: "", written: 0, code: ENFILE), true, true),
        ("half of subtitles", .init(file: "sub-", written: 500, code: ENOSPC), true, false),
        ("half a record of subtitles", .init(file: "subs-", written: 500, code: ENOSPC), true, false),
    ]

    /// The disk fails for three segments. After each, a process that replaces a killed one publishes the same.
    @Test(arguments: rows.indices)
    func diskErrorDuringThreeSegments(row: Int) async throws {
        let (when, fault, isListed, isGap) = Self.rows[row]
        let ring = try open(directory)
        var viewer = ConsistencyViewer()
        for n in 0..<11 {
            disk.fail((6..<9).contains(n) ? fault : nil)
            let errors = await Self.publish(n, to: ring)
            // An init section is written with the first segment of three.
            #expect(errors.isEmpty == !(6..<9).contains(n), "\(when), \(n): \(errors)")
            disk.fail(nil)
            try viewer.look(ring.snapshot, in: directory, "\(when), segment \(n)")
            if [6, 8, 9].contains(n) { try await outlivesAKill(viewer, ring.snapshot, number: n) }
        }
        let listed = ring.snapshot.index.listed
        #expect(listed.map(\.mediaSequence) == Array(0..<(isListed ? 11 : 8)), "\(when): no number is skipped")
        #expect(listed.filter(\.isGap).map(\.mediaSequence) == (isGap ? [6, 7, 8] : []), "\(when)")
        let discontinuities: [UInt64] = isListed && !isGap ? [] : [isListed ? 9 : 6]
        #expect(
            listed.filter(\.isDiscontinuous).map(\.mediaSequence) == discontinuities,
            "\(when): lost media causes a discontinuity")
        #expect(!directory.names.contains { $0.hasSuffix(".part") }, "\(when)")
        #expect(ring.snapshot.housekeepingError == nil, "\(when)")
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [isListed ? 11 : 8], "\(when)")
    }

    /// Checks that a new process with the current files publishes the same and continues.
    private func outlivesAKill(_ viewer: ConsistencyViewer, _ published: RingSnapshot, number: Int) async throws {
        var viewer = viewer
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        let ring = try open(copy)
        try #require(ring.unrecordedSegments == 0 && ring.resumePoint == published.newest?.resumePoint)
        try viewer.look(ring.snapshot, in: copy, "restart after \(number)")
        try #require(ring.snapshot.index.nextMediaSequence == published.index.nextMediaSequence)
        try #require(await Self.publish(number + 1, to: ring).isEmpty)
        try viewer.look(ring.snapshot, in: copy, "one segment after a restart after \(number)")
    }

    /// Random faults and kills.
    @Test(arguments: UInt64(1)...5)
    func randomDiskErrorsAndKills(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var viewer = ConsistencyViewer()
        var ring: DVRRing? = try open(directory)
        for n in 0..<30 {
            disk.fail(Bool.random(using: &random) ? Self.rows.randomElement(using: &random)?.fault : nil)
            if Int.random(in: 0..<6, using: &random) == 0 {
                ring = nil
                do throws(RingError) { ring = try open(directory) } catch {
                    // A ring opens only on a disk that is full, not on one that fails.
                    try #require(!error.isDiskFull)
                    disk.fail(nil)
                    ring = try open(directory)
                }
            }
            let living = try #require(ring)
            _ = await Self.publish(n, to: living)
            disk.fail(nil)
            try viewer.look(living.snapshot, in: directory, "seed \(seed), step \(n)")
            if n.isMultiple(of: 6) { try await outlivesAKill(viewer, living.snapshot, number: n) }
        }
        let living = try #require(ring)
        // Gaps that could not be recorded are listed first.
        let next = living.snapshot.index.nextMediaSequence + UInt64(await living.pendingGaps.count)
        for n in 30..<33 { #expect(await Self.publish(n, to: living).isEmpty) }
        #expect(living.snapshot.index.nextMediaSequence == next + 3)
        #expect(living.snapshot.housekeepingError == nil)
    }

    /// The disk is full when the process starts, and has space again later.
    @Test func diskFullAtStartRecovers() async throws {
        var viewer = ConsistencyViewer()
        do {
            let ring = try open(directory)
            for n in 0..<8 { #expect(await Self.publish(n, to: ring).isEmpty) }
            try viewer.look(ring.snapshot, in: directory, "before")
        }
        let journal = try directory.read("ring.m3u8")
        // An incomplete record, as after a kill.
        try directory.write("ring.m3u8", journal + Array("#EXT-X-PROGRAM-DATE".utf8))
        disk.fail(.init(file: "", written: 0, code: ENOSPC))
        let ring = try open(directory)
        try viewer.look(ring.snapshot, in: directory, "full")
        #expect(ring.snapshot.index.listed.count == 8 && ring.snapshot.housekeepingError?.isDiskFull == true)
        #expect(await Self.publish(8, to: ring).isEmpty == false)
        disk.fail(nil)
        #expect(await Self.publish(9, to: ring).isEmpty)
        try viewer.look(ring.snapshot, in: directory, "empty again")
        #expect(ring.snapshot.newest?.mediaSequence == 9 && ring.snapshot.housekeepingError == nil)
        let read = try RingJournal.read(directory.read("ring.m3u8"), path: "")
        #expect(
            read?.entries.count == 8,
            "six after the rewind was dropped, a gap, and the new one; none after the incomplete record")
    }

    /// A real device without space.
    @Test func fullDeviceRewritesJournal() async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        try directory.remove("ring.m3u8")
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/ring.m3u8", withDestinationPath: "/dev/full")
        // The append fails. The second attempt replaces the link by the whole journal.
        try await ring.publish(.numbered(1))
        #expect(ring.snapshot.newest?.mediaSequence == 1 && ring.snapshot.index.discontinuitySequence == 0)
        #expect(try RingJournal.read(directory.read("ring.m3u8"), path: "")?.entries.count == 2)
    }

    static let refusals: [(when: String, spool: String, prepare: @Sendable (ScratchDirectory) throws -> Void, Int32)] =
        [
            ("a file has the name", "/spool", { try $0.write("spool", [1]) }, ENOTDIR),
            ("the parent directory is missing", "/no/spool", { _ in }, ENOENT),
            ("a name that is too long", "/" + String(repeating: "x", count: 300), { _ in }, ENAMETOOLONG),
        ]

    @Test(arguments: refusals.indices)
    func unwritableDirectoryIsRefused(row: Int) throws {
        let (when, spool, prepare, expected) = Self.refusals[row]
        try prepare(directory)
        let error = #expect(throws: RingError.self, "\(when)") {
            try DVRRing(directory: directory.path + spool, policy: plentiful, targetDuration: 6)
        }
        guard case .system(_, let path, let code) = error else {
            Issue.record("\(when): \(String(describing: error))")
            return
        }
        #expect(path.hasPrefix(directory.path + spool) && code == expected, "\(when): \(path) \(code)")
    }
}

/// Segments that could not be written are gaps, also if the journal could not be written either.
struct PendingGapTests {
    let directory: ScratchDirectory
    let disk = FailingDisk()

    init() throws { directory = try ScratchDirectory() }

    private func open() throws(RingError) -> DVRRing {
        let disk = disk
        return try DVRRing(
            spool: SpoolDirectory(directory.path, on: FileSystem(fault: { disk.answer($0, $1) })), policy: plentiful,
            targetDuration: 6)
    }

    private static let everything = FailingDisk.Fault(file: "", written: 0, code: EMFILE)

    @Test func gapsHaveTheTimeOfTheSegments() async throws {
        let ring = try open()
        try await ring.publish(.numbered(0))
        disk.fail(Self.everything)
        await #expect(throws: RingError.self) { try await ring.publish(.numbered(1, duration: 450_000)) }
        await #expect(throws: RingError.self) { try await ring.publishGap(lasting: 90_000, resumePoint: .after(2)) }
        #expect(ring.snapshot.index.listed.count == 1)
        disk.fail(nil)
        try await ring.publish(.numbered(3))
        let listed = ring.snapshot.index.listed
        #expect(listed.map(\.isGap) == [false, true, true, false])
        #expect(listed.map(\.duration) == [540_000, 450_000, 90_000, 540_000])
        #expect(listed.map(\.resumePoint) == [.after(0), .after(1), .after(2), .after(3)])
        #expect(listed.map(\.isDiscontinuous) == [false, false, false, true])
        #expect(try RingJournal.read(directory.read("ring.m3u8"), path: "")?.entries.count == 4)
    }

    @Test func endListsTheGaps() async throws {
        let ring = try open()
        try await ring.publish(.numbered(0))
        disk.fail(Self.everything)
        await #expect(throws: RingError.self) { try await ring.publish(.numbered(1)) }
        disk.fail(nil)
        await ring.end()
        #expect(ring.snapshot.index.listed.map(\.isGap) == [false, true])
    }

    @Test func gapsAreBounded() async throws {
        let ring = try open()
        try await ring.publish(.numbered(0))
        disk.fail(Self.everything)
        for n in 1...PendingGap.limit + 50 {
            await #expect(throws: RingError.self) { try await ring.publish(.numbered(n)) }
        }
        disk.fail(nil)
        try await ring.publish(.numbered(2000))
        #expect(ring.snapshot.index.listed.count == PendingGap.limit + 2)
    }

    @Test func ringWithoutASegmentListsNoGap() async throws {
        let ring = try open()
        disk.fail(Self.everything)
        await #expect(throws: RingError.self) { try await ring.publish(.numbered(0)) }
        disk.fail(nil)
        try await ring.publish(.numbered(1))
        #expect(ring.snapshot.index.listed.map(\.isGap) == [false])
    }
}
