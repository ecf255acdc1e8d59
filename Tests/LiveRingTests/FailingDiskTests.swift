import Foundation
import Glibc
import Playlist
import Synchronization
import TestSupport
import Testing

@testable import LiveRing

/// A disk that refuses writes when a test says so.
final class FailingDisk: Sendable {
    struct Fault: Sendable, Equatable {
        /// With which the name of a file begins.
        var file: String
        /// Of its bytes, in thousandths, so many are written.
        var written: Int
        var code: Int32
    }

    private let fault = Mutex<Fault?>(nil)

    func fail(_ fault: Fault?) { self.fault.withLock { $0 = fault } }

    func answer(_ name: String, _ byteCount: Int) -> (written: Int, code: Int32)? {
        fault.withLock { $0 }.flatMap { name.hasPrefix($0.file) ? (byteCount * $0.written / 1000, $0.code) : nil }
    }
}

/// A viewer who forgets nothing: all that was told once holds for ever, whichever process says it.
struct ConsistencyViewer {
    private var lists: [String: String] = [:]
    private var files: [String: [UInt8]] = [:]
    private var clock: UInt64 = 0

    /// Looks at every list and at every file that one names.
    mutating func look(_ snapshot: RingSnapshot, in directory: ScratchDirectory, _ when: String) throws {
        let subtitles = snapshot.subtitles.map(\.number)
        let now = [("live", snapshot.livePlaylist), ("dvr", snapshot.dvrPlaylist(.whole))]
        try compare(now + subtitles.map { ("subs-\($0)", snapshot.subtitlePlaylist($0, .whole)) }, when)
        for entry in snapshot.index.listed where !entry.isGap {
            for file in [entry.segment, entry.initialization] { try fetch(file, in: directory, when) }
        }
        for track in snapshot.subtitles {
            for (_, file) in track.files { try fetch(file, in: directory, when) }
        }
        let mark = snapshot.edge?.resumePoint.videoDecodeTime ?? 0
        try #require(mark >= clock, "\(when): the clock went back")
        clock = mark
    }

    private mutating func compare(_ now: [(name: String, list: [UInt8]?)], _ when: String) throws {
        for (name, bytes) in now {
            guard let bytes else { continue }
            var broken = lists[name].map { brokenRules(from: $0, to: text(bytes)) } ?? brokenRules(in: text(bytes))
            // Text has no init sections, and may lag behind the picture by more than the shortest list.
            if name.hasPrefix("subs") { broken.removeAll { ["3:", "7:", "11"].contains($0.prefix(2)) } }
            try #require(broken.isEmpty, "\(when), \(name): \(broken)")
            lists[name] = text(bytes)
        }
    }

    private mutating func fetch(_ file: SpoolFile, in directory: ScratchDirectory, _ when: String) throws {
        let bytes = try directory.read(file.name)
        try #require(
            bytes.count == file.byteCount && files[file.name, default: bytes] == bytes, "\(when): \(file.name)")
        files[file.name] = bytes
    }
}

struct FailingDiskTests {
    /// Held by the suite: it outlives the ring in it.
    let directory: ScratchDirectory
    let disk = FailingDisk()

    init() throws { directory = try ScratchDirectory() }

    private static let policy = RetentionPolicy(rewind: .seconds(90), liveWindow: .zero, freeReserve: 0)
    private static let english = SubtitleStoreTests.rendition("English")

    private func open(_ directory: ScratchDirectory) throws(RingError) -> DVRRing {
        let disk = disk
        let spool = try SpoolDirectory(directory.path, fault: { disk.answer($0, $1) })
        return try DVRRing(spool: spool, policy: Self.policy, targetDuration: 6, subtitles: [Self.english])
    }

    /// Segment `n` with its subtitles. Every third begins with another init section.
    private static func publish(_ n: Int, to ring: DVRRing) async -> [RingError] {
        var errors: [RingError] = []
        do throws(RingError) {
            try await ring.publish(.numbered(n, initialization: "init-\(n / 3).mp4"))
            guard let number = ring.snapshot.edge?.mediaSequence else { return [] }
            let bytes = Array("WEBVTT\n\nof \(n)\n".utf8)
            try await ring.publish(NewSubtitles(rendition: 0, mediaSequence: number, bytes: bytes))
        } catch { errors.append(error) }
        return errors
    }

    /// What is written when, how much of it before the disk refuses, and what is listed in its place.
    static let rows: [(when: String, fault: FailingDisk.Fault, isListed: Bool, isGap: Bool)] = [
        ("no byte of a segment", .init(file: "seg-", written: 0, code: ENOSPC), true, true),
        ("half a segment", .init(file: "seg-", written: 500, code: ENOSPC), true, true),
        ("the quota of a user", .init(file: "seg-", written: 500, code: EDQUOT), true, true),
        ("a disk that breaks", .init(file: "seg-", written: 999, code: EIO), true, true),
        ("mounted read-only", .init(file: "seg-", written: 0, code: EROFS), true, true),
        ("half an init section", .init(file: "init-", written: 500, code: ENOSPC), true, true),
        ("no byte of a record", .init(file: "ring.m3u8", written: 0, code: ENOSPC), false, false),
        ("half a record", .init(file: "ring.m3u8", written: 500, code: ENOSPC), false, false),
        ("all of a record but its end", .init(file: "ring.m3u8", written: 999, code: EIO), false, false),
        ("everything", .init(file: "", written: 0, code: ENOSPC), false, false),
        ("half of everything", .init(file: "", written: 500, code: ENOSPC), false, false),
        ("half of subtitles", .init(file: "sub-", written: 500, code: ENOSPC), true, false),
        ("half a record of subtitles", .init(file: "subs-", written: 500, code: ENOSPC), true, false),
    ]

    /// Three segments meet the fault. After each a process that is killed is followed by one that shows what was shown.
    @Test(arguments: rows.indices)
    func fullAndThenEmptyAgain(row: Int) async throws {
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
        #expect(listed.map(\.mediaSequence) == Array(0..<(isListed ? 11 : 8)), "\(when): no number is passed over")
        #expect(listed.filter(\.isGap).map(\.mediaSequence) == (isGap ? [6, 7, 8] : []), "\(when)")
        let seams: [UInt64] = isListed && !isGap ? [] : [isListed ? 9 : 6]
        #expect(listed.filter(\.isDiscontinuous).map(\.mediaSequence) == seams, "\(when): what was lost is a seam")
        #expect(!directory.names.contains { $0.hasSuffix(".part") }, "\(when)")
        #expect(ring.snapshot.housekeepingError == nil, "\(when)")
        #expect(ring.snapshot.subtitles.map(\.nextMediaSequence) == [isListed ? 11 : 8], "\(when)")
    }

    /// The next process finds the files as they are now, shows the same and goes on.
    private func outlivesAKill(_ viewer: ConsistencyViewer, _ shown: RingSnapshot, number: Int) async throws {
        var viewer = viewer
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        let ring = try open(copy)
        try #require(ring.unrecordedSegments == 0 && ring.resumePoint == shown.edge?.resumePoint)
        try viewer.look(ring.snapshot, in: copy, "restart behind \(number)")
        try #require(ring.snapshot.index.nextMediaSequence == shown.index.nextMediaSequence)
        try #require(await Self.publish(number + 1, to: ring).isEmpty)
        try viewer.look(ring.snapshot, in: copy, "after a restart behind \(number)")
    }

    /// Faults and kills in any order.
    @Test(arguments: UInt64(1)...5)
    func whateverTheDiskDoes(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var viewer = ConsistencyViewer()
        var ring: DVRRing? = try open(directory)
        for n in 0..<30 {
            disk.fail(Bool.random(using: &random) ? Self.rows.randomElement(using: &random)?.fault : nil)
            if Int.random(in: 0..<6, using: &random) == 0 {
                ring = nil
                do throws(RingError) { ring = try open(directory) } catch {
                    // Only a disk that is full at the start is waited for.
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
        let next = living.snapshot.index.nextMediaSequence
        for n in 30..<33 { #expect(await Self.publish(n, to: living).isEmpty) }
        #expect(living.snapshot.index.nextMediaSequence == next + 3)
        #expect(living.snapshot.housekeepingError == nil)
    }

    /// A disk that is full when the process starts, and empties while it runs.
    @Test func aFullDiskAtTheStartIsWaitedFor() async throws {
        var viewer = ConsistencyViewer()
        do {
            let ring = try open(directory)
            for n in 0..<8 { #expect(await Self.publish(n, to: ring).isEmpty) }
            try viewer.look(ring.snapshot, in: directory, "before")
        }
        let journal = try directory.read("ring.m3u8")
        // As a kill leaves it.
        try directory.write("ring.m3u8", journal + Array("#EXT-X-PROGRAM-DATE".utf8))
        disk.fail(.init(file: "", written: 0, code: ENOSPC))
        let ring = try open(directory)
        try viewer.look(ring.snapshot, in: directory, "full")
        #expect(ring.snapshot.index.listed.count == 8 && ring.snapshot.housekeepingError?.isDiskFull == true)
        #expect(await Self.publish(8, to: ring).isEmpty == false)
        disk.fail(nil)
        #expect(await Self.publish(9, to: ring).isEmpty)
        try viewer.look(ring.snapshot, in: directory, "empty again")
        #expect(ring.snapshot.edge?.mediaSequence == 8 && ring.snapshot.housekeepingError == nil)
        let read = try RingJournal.read(directory.read("ring.m3u8"), path: "")
        #expect(
            read?.entries.count == 7,
            "six, for which the rewind was given up, and the new one: none behind what was torn")
    }

    /// What the system itself says of a device that takes nothing.
    @Test func aDeviceThatIsFull() async throws {
        let ring = try DVRRing.open(directory)
        try await ring.publish(.numbered(0))
        try directory.remove("ring.m3u8")
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/ring.m3u8", withDestinationPath: "/dev/full")
        // The record does not go there; with the second try the whole journal comes, as a file again.
        try await ring.publish(.numbered(1))
        #expect(ring.snapshot.edge?.mediaSequence == 1 && ring.snapshot.index.discontinuitySequence == 0)
        #expect(try RingJournal.read(directory.read("ring.m3u8"), path: "")?.entries.count == 2)
    }

    static let refusals: [(when: String, spool: String, prepare: @Sendable (ScratchDirectory) throws -> Void, Int32)] =
        [
            ("a file stands there", "/spool", { try $0.write("spool", [1]) }, ENOTDIR),
            ("the directory around it is missing", "/no/spool", { _ in }, ENOENT),
            ("a name that no file has", "/" + String(repeating: "x", count: 300), { _ in }, ENAMETOOLONG),
        ]

    @Test(arguments: refusals.indices)
    func aPlaceThatCannotBeWrittenIsRefused(row: Int) throws {
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

/// Dates come from the upstream or from the wall, and both may jump: order, eviction and numbers do not depend on them.
struct WallClockJumpTests {
    static let rows: [(when: String, hours: Int64)] = [
        ("no jump", 0), ("an hour forward", 1), ("an hour back", -1), ("ten years back", -87_600),
    ]

    @Test(arguments: rows.indices)
    func aJumpChangesNothingButDates(row: Int) async throws {
        let (when, hours) = Self.rows[row]
        let directory = try ScratchDirectory()
        let policy = RetentionPolicy(rewind: .seconds(60), freeReserve: 0)
        func publish(_ range: Range<Int>, to ring: DVRRing) async throws {
            for n in range {
                let date = at(6 * Int64(n) + (n < 8 ? 0 : 3600 * hours))
                try await ring.publish(.numbered(n, isDiscontinuous: n == 8, at: date))
            }
        }
        let ring = try DVRRing.open(directory, policy: policy)
        try await publish(0..<14, to: ring)
        let index = ring.snapshot.index
        #expect(index.listed.map(\.mediaSequence) == Array(4..<14), "\(when): an age is the media's own")
        #expect(index.retired.map(\.entry.mediaSequence) == Array(0..<4), "\(when)")
        let copy = try ScratchDirectory()
        for name in directory.names where name != SpoolName.lock { try copy.write(name, directory.read(name)) }
        let next = try DVRRing.open(copy, policy: policy)
        #expect(next.snapshot.index.listed == index.listed && next.resumePoint == .after(13), "\(when)")
        try await publish(14..<20, to: next)
        #expect(next.snapshot.index.listed.map(\.mediaSequence) == Array(10..<20), "\(when)")
        #expect(brokenRules(in: text(next.snapshot.dvrPlaylist(.whole))).isEmpty, "\(when)")
    }
}
