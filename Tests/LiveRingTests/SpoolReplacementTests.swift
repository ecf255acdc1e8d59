import Foundation
import Testing

@testable import LiveRing

/// A spool's directory that goes away, or becomes another one, while a ring publishes into it.
struct SpoolReplacementTests {
    /// Held by the suite: it outlives the rings in it.
    let parent: ScratchDirectory
    private let files = FileManager.default
    private var path: String { parent.path + "/spool" }
    private var away: String { parent.path + "/away" }

    init() throws { parent = try ScratchDirectory() }

    private func open(firstMediaSequence: UInt64 = 0) throws(RingError) -> DVRRing {
        try DVRRing(
            directory: path, policy: plentiful, targetDuration: 6, firstMediaSequence: firstMediaSequence,
            subtitles: .upstream([SubtitleStoreTests.rendition("English")], keepsMade: false))
    }

    private func publish(_ numbers: Range<Int>, to ring: DVRRing) async throws {
        for n in numbers {
            try await ring.publish(.numbered(n))
            let text = Array("WEBVTT\n\nof \(n)\n".utf8)
            try await ring.publish(NewSubtitles(rendition: 0, mediaSequence: UInt64(n), bytes: text))
        }
    }

    struct Replacement: Sendable, CustomTestStringConvertible {
        let what: String
        /// Whether the three segments in the directory are lost.
        let isLost: Bool
        let happens: @Sendable (_ path: String) throws -> Void

        init(_ what: String, isLost: Bool, _ happens: @escaping @Sendable (String) throws -> Void) {
            (self.what, self.isLost, self.happens) = (what, isLost, happens)
        }

        var testDescription: String { what }
    }

    static let rows = [
        Replacement("it is removed", isLost: true) { try FileManager.default.removeItem(atPath: $0) },
        Replacement("it is removed and made again", isLost: true) {
            try FileManager.default.removeItem(atPath: $0)
            try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false)
        },
        Replacement("an unlocked spool takes its place", isLost: true) {
            try FileManager.default.removeItem(atPath: $0)
            _ = try DVRRing(directory: $0, policy: plentiful, targetDuration: 6)
        },
        Replacement("its lock is removed", isLost: false) {
            try FileManager.default.removeItem(atPath: $0 + "/ring.lock")
        },
    ]

    @Test(arguments: rows) func replacedDirectoryIsReacquired(_ row: Replacement) async throws {
        do {
            let ring = try open()
            try await publish(0..<3, to: ring)
            try row.happens(path)
            try await publish(3..<5, to: ring)
            let snapshot = ring.snapshot
            #expect(snapshot.spoolReplacements == 1)
            #expect(snapshot.index.listed.map(\.mediaSequence) == [0, 1, 2, 3, 4])
            #expect(snapshot.index.listed.map(\.isGap) == [row.isLost, row.isLost, row.isLost, false, false])
            for entry in snapshot.index.listed where !entry.isGap {
                for file in [entry.segment, entry.initialization] {
                    #expect(files.fileExists(atPath: snapshot.path(of: file)), "\(file.name) is whole")
                }
            }
            let text = text(snapshot.dvrPlaylist(.whole, of: .subtitles(0)))
            #expect(text.split(separator: "\n").count { $0 == "#EXT-X-GAP" } == (row.isLost ? 3 : 0))
            #expect(throws: RingError.spoolInUse(directory: path), "no other process may write") { try open() }
        }
        // The next process continues after it.
        let ring = try open()
        #expect(ring.snapshot.index.nextMediaSequence == 5 && ring.snapshot.spoolReplacements == 0)
        #expect(ring.snapshot.index.listed.count { !$0.isGap } == (row.isLost ? 2 : 5))
    }

    /// A child process that was just forked has all open files of its parent until it runs its program.
    @Test func lockEndsWithItsRingThoughAChildHasItsFile() async throws {
        var copy: Int32 = -1
        do {
            let ring = try open()
            for descriptor in Int32(3)..<256 {
                let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                if target == "\(path)/ring.lock" { copy = dup(descriptor) }
            }
            try #require(copy >= 0)
            try await publish(0..<1, to: ring)
        }
        defer { close(copy) }
        #expect(try open().snapshot.index.nextMediaSequence == 1)
    }

    @Test func nothingIsWrittenWithoutLock() async throws {
        let ring = try open()
        try await publish(0..<3, to: ring)
        try files.moveItem(atPath: path, toPath: away)
        do {
            let other = try open(firstMediaSequence: 100)
            for _ in 0..<2 {
                await #expect(throws: RingError.spoolInUse(directory: path)) { try await ring.publish(.numbered(3)) }
            }
            #expect(ring.snapshot.index.listed.count == 3 && ring.snapshot.index.listed.allSatisfy { !$0.isGap })
            let names = try files.contentsOfDirectory(atPath: path)
            #expect(!names.contains { $0.hasSuffix(".m4s") }, "the files belong to the other ring")
            try await publish(100..<101, to: other)
        }
        // The other one ends, and the disk comes back.
        try files.removeItem(atPath: path)
        try files.moveItem(atPath: away, toPath: path)
        try await publish(3..<5, to: ring)
        #expect(ring.snapshot.index.listed.map(\.isGap) == [false, false, false, true, true, false, false])
        #expect(ring.snapshot.spoolReplacements == 0)
    }

    @Test func returningDiskHasGapsForMissedFiles() async throws {
        let ring = try open()
        try await publish(0..<3, to: ring)
        try files.moveItem(atPath: path, toPath: away)
        try await publish(3..<5, to: ring)
        try files.removeItem(atPath: path)
        try files.moveItem(atPath: away, toPath: path)
        try await publish(5..<7, to: ring)
        #expect(ring.snapshot.index.listed.map(\.isGap) == [false, false, false, true, true, false, false])
        #expect(ring.snapshot.spoolReplacements == 2)
    }

    @Test func reopenedRingContinuesInNewDirectory() async throws {
        let ring = try open()
        try await publish(0..<3, to: ring)
        try files.removeItem(atPath: path)
        let next = try await ring.reopened(policy: plentiful, targetDuration: 6, subtitles: .none)
        #expect(next.snapshot.index.nextMediaSequence == 3 && next.resumePoint == .after(2))
        try await next.publish(.numbered(3))
        #expect(next.snapshot.newest?.mediaSequence == 3 && next.snapshot.newest?.isGap == false)
        #expect(throws: RingError.spoolInUse(directory: path)) { try open() }
    }

    @Test func missingParentDirectoryIsRefused() async throws {
        let ring = try open()
        try await publish(0..<2, to: ring)
        try files.moveItem(atPath: parent.path, toPath: parent.path + "-away")
        let missing = RingError.system(.createDirectory, path: path, code: ENOENT)
        await #expect(throws: missing) { try await ring.publish(.numbered(2)) }
        try files.moveItem(atPath: parent.path + "-away", toPath: parent.path)
        try await publish(2..<4, to: ring)
        #expect(ring.snapshot.index.listed.map(\.isGap) == [false, false, true, false, false])
    }
}
