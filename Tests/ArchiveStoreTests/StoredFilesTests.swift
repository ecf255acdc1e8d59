import Foundation
import Media
import StoreTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import LiveRing

/// An hour of one writer with a segment of boxes and its init section, in a store.
private struct StoredSegment {
    let store: MemoryStore
    let files: StoredFiles
    let cache: CopyCache
    let segment: SpoolFile
    let initialization: SpoolFile
    let bytes: [UInt8]
    let object: String
    let reported = Reports()
    private let directory: String

    final class Reports: Sendable {
        let errors = Mutex<[StoreError]>([])
    }

    /// - Parameter payload: bytes of media.
    init(payload: Int = 4000) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "stored-\(UUID().uuidString)").path()
        store = try MemoryStore()
        let reported = reported
        let client = try store.client(report: { error in reported.errors.withLock { $0.append(error) } })
        let header = Self.box("styp", 8) + Self.box("moof", 100) + Self.box("mdat", payload).prefix(8)
        bytes = header + [UInt8](repeating: 7, count: payload)
        segment = SpoolFile(
            name: SpoolName.segment(mediaSequence: 5, header: Array(header)), byteCount: bytes.count)
        let section = Self.box("ftyp", 8) + Self.box("moov", 40)
        initialization = SpoolFile(name: "init-\(ContentHash.hexName(of: section)).mp4", byteCount: section.count)
        object = "\(Hexadecimal.encode(try #require(SHA256.digest(of: bytes)))).m4s"
        var index = head
        var entry = RingEntry.numbered(5, initialization: initialization.name)
        entry.segment = segment
        index.append(entry, isLost: false)
        index.append(ArchiveIndex.Object(name: object, files: [segment]))
        let key = IndexKey(hour: IndexKey.hour(of: noon), writer: "a", firstMediaSequence: 5)
        store[key.text] = index.text
        store[key.key(ofObject: object)] = bytes
        store[IndexKey.key(ofShared: initialization.name)] = section
        cache = CopyCache(in: try CacheDirectory(directory), byteLimit: 1 << 20)
        files = StoredFiles(client, ArchiveCatalog(client, cache.indexes), cache, redirects: false, transferLimit: 4)
    }

    var objectKey: String { "media/2026-01-02T12/\(object)" }

    static func box(_ type: BoxType, _ count: Int) -> [UInt8] {
        var writer = BoxWriter()
        writer.box(type) { $0.zeros(count) }
        return writer.bytes
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// What a store answers in the place of 4,116 bytes of a segment.
private let lies: [(what: String, bytes: @Sendable ([UInt8]) -> [UInt8])] = [
    ("a page", { _ in Array("<html><body>Sign in</body></html>".utf8) }),
    (
        "a page of the same size",
        { Array(String(repeating: "<p>Sign in</p>", count: $0.count / 14 + 1).utf8.prefix($0.count)) }
    ),
    ("zeros", { [UInt8](repeating: 0, count: $0.count) }),
    (
        "one other byte of the header",
        {
            var bytes = $0
            bytes[20] ^= 1
            return bytes
        }
    ),
    (
        "one other byte of media",
        {
            var bytes = $0
            bytes[bytes.count - 1] ^= 1
            return bytes
        }
    ),
    ("nothing", { _ in [] }),
]

@Suite struct StoredFilesTests {
    @Test(arguments: lies.indices) func otherBytesAreNeitherPassedOnNorKept(row: Int) async throws {
        let (what, lie) = lies[row]
        let stored = try StoredSegment()
        defer { stored.remove() }
        stored.store.change { $0.lies[stored.objectKey] = lie(stored.bytes) }
        await #expect(throws: RingError.self, "\(what)") { try await stored.files.path(of: stored.segment) }
        let isSameHeader = lie(stored.bytes).prefix(128) == stored.bytes.prefix(128)
        if !isSameHeader {
            await #expect(throws: RingError.self, "\(what)") {
                try await stored.files.beginning(of: stored.segment, byteCount: 2048)
            }
        }
        #expect(await stored.cache.byteCount == 0, "\(what)")
        stored.store.change { $0.lies = [:] }
        let path = try await stored.files.path(of: stored.segment)
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == stored.bytes, "\(what)")
    }

    @Test func otherBytesOfAnInitSectionAreNotPassedOn() async throws {
        let stored = try StoredSegment()
        defer { stored.remove() }
        let key = IndexKey.key(ofShared: stored.initialization.name)
        for lie in [Array("<html>".utf8), StoredSegment.box("ftyp", 56), []] {
            stored.store.change { $0.lies[key] = lie }
            await #expect(throws: RingError.self) { try await stored.files.path(of: stored.initialization) }
            await #expect(throws: RingError.self) { try await stored.files.path(ofShared: stored.initialization.name) }
        }
        #expect(await stored.cache.byteCount == 0)
        #expect(stored.reported.errors.withLock { $0.map(\.reason) }.allSatisfy { $0 == .damagedObject })
        #expect(stored.reported.errors.withLock { $0.count } == 6)
        stored.store.change { $0.lies = [:] }
        _ = try await stored.files.path(of: stored.initialization)
    }

    @Test func theBeginningOfASegmentIsItsHeader() async throws {
        let stored = try StoredSegment()
        defer { stored.remove() }
        #expect(
            try await stored.files.beginning(of: stored.segment, byteCount: 2048) == Array(stored.bytes.prefix(132)))
        #expect(stored.store.requests.last == "GET \(stored.objectKey) bytes=0-2047")
    }

    @Test func aLongObjectIsReadInRanges() async throws {
        let stored = try StoredSegment(payload: 9 << 20)
        defer { stored.remove() }
        let path = try await stored.files.path(of: stored.segment)
        #expect(FileManager.default.contents(atPath: path).map(Array.init) == stored.bytes)
        let ranges = stored.store.requests.filter { $0.hasPrefix("GET media") }.map { $0.split(separator: " ")[2] }
        #expect(ranges == ["bytes=0-4194303", "bytes=4194304-8388607", "bytes=8388608-\(stored.bytes.count - 1)"])
    }

    /// Work on a thread is done again with what it needed, and waits for nothing.
    @Test func workIsDoneAgainWhenItsFilesAreThere() async throws {
        let stored = try StoredSegment()
        defer { stored.remove() }
        var entry = RingEntry.numbered(5, initialization: stored.initialization.name)
        entry.segment = stored.segment
        let snapshot = RingSnapshot(
            archived: [entry], policy: RetentionPolicy(rewind: nil), targetDuration: 4, declared: [], hasEnded: false,
            version: 0, directory: "/nowhere", remote: stored.files)
        #expect(throws: RingError.self) { try snapshot.bytes(of: stored.segment) }
        let passes = Mutex(0)
        let found = await snapshot.reading {
            $0()
        } _: { snapshot in
            passes.withLock { $0 += 1 }
            let header = try? snapshot.bytes(of: stored.segment, in: 0..<1024)
            let section = try? snapshot.bytes(of: stored.initialization)
            let part = header == nil ? nil : try? snapshot.bytes(of: stored.segment, in: 1000..<1010)
            return [header?.count, section?.count, part?.count]
        }
        #expect(
            found == [132, stored.initialization.byteCount, 10] || found == [1024, stored.initialization.byteCount, 10])
        #expect(passes.withLock { $0 } == 3)
    }
}
