import TestSupport
import Testing

@testable import LiveRing
@testable import Support

/// A ring with one reader: its media files are in memory as far as they have room.
struct SpoolMemoryTests {
    /// Segments of 1,024 bytes and a header, of which 8 have room.
    private static func ring(in directory: borrowing ScratchDirectory, segments: Int) async throws -> DVRRing {
        let memory = SpoolMemory(byteLimit: 8_800)
        let ring = try DVRRing(
            directory: directory.path, on: FileSystem(memory: memory), policy: RetentionPolicy(rewind: .seconds(7200)),
            targetDuration: 6)
        for n in 0..<segments { try await ring.publish(.numbered(n, payloadBytes: 1024)) }
        return ring
    }

    private static func stored(_ ring: DVRRing) -> [Bool] {
        ring.snapshot.index.listed.map { ring.snapshot.chunks(of: $0.segment) == nil }
    }

    @Test func whatTheReaderHasNotUsedGoesToTheDirectoryWhenItHasNoRoom() async throws {
        let directory = try ScratchDirectory()
        let ring = try await Self.ring(in: directory, segments: 12)
        #expect(Self.stored(ring) == (0..<12).map { $0 < 4 })
        for (n, entry) in ring.snapshot.index.listed.enumerated() {
            let segment = NewSegment.numbered(n, payloadBytes: 1024)
            let bytes = try ring.snapshot.bytes(of: entry.segment)
            #expect(bytes == segment.header + segment.payload.joined())
            #expect(try ring.snapshot.bytes(of: entry.segment, in: 3..<40) == Array(bytes[3..<40]))
            #expect(try ring.snapshot.bytes(of: entry.segment, in: 1000..<9000) == Array(bytes[1000...]))
            var buffer: [UInt8] = []
            let size = try ring.snapshot.read(entry.segment, into: &buffer)
            #expect(Array(buffer[..<size]) == bytes)
        }
    }

    /// No other process continues the ring, so nothing is written for one.
    @Test func noJournalIsKept() async throws {
        let directory = try ScratchDirectory()
        let ring = try await Self.ring(in: directory, segments: 6)
        try await ring.publishGap(lasting: 90_000, resumePoint: .after(6))
        await ring.end()
        await ring.close()
        #expect(ring.snapshot.index.listed.count == 7 && ring.snapshot.hasEnded)
        #expect(DVRRing.newestNumber(in: directory.path) == nil)
    }

    @Test func whatTheReaderHasUsedIsDropped() throws {
        let memory = SpoolMemory(byteLimit: 64 << 20)
        let chunk = [UInt8](repeating: 1, count: 1 << 20)
        for n in UInt64(0)..<40 { memory.insert(SpoolMemory.File("seg-\(n)", of: n, [chunk[...]])) }
        memory.recordUse(before: 30)
        // The last used ones stay: the ad after a segment may need a frame of it.
        #expect((0..<40).map { memory["seg-\($0)"] != nil } == (0..<40).map { $0 >= 26 })
        #expect(memory.byteCount == 14 << 20)
        #expect(memory.excess(for: SpoolMemory.File("new", of: 40, [chunk[...]])).isEmpty)
        #expect(memory.remove("seg-26") && !memory.remove("seg-26"))
        let large = SpoolMemory.File("new", of: 40, [ArraySlice(repeating: 1, count: 53 << 20)])
        #expect(memory.excess(for: large).map(\.name) == ["seg-27", "seg-28"])
    }
}
