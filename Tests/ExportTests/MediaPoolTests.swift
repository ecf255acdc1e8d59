import Foundation
import Playlist
import Support
import Synchronization
import Testing

@testable import Export
@testable import LiveRing

/// The limits of media that is read and made for clients.
@Suite struct MediaPoolTests {
    /// Counts the threads that are in a function at once.
    private final class Gauge: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func pass() {
            counts.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            Thread.sleep(forTimeInterval: 0.002)
            counts.withLock { $0.now -= 1 }
        }
    }

    @Test(arguments: [1, 3]) func threadsAreLimited(_ threads: Int) async {
        var limits = MediaPool.Limits()
        limits.threads = threads
        let (pool, gauge) = (MediaPool("test", limits), Gauge())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 { group.addTask { await pool.perform { gauge.pass() } } }
        }
        #expect(gauge.most == threads)
    }

    private static let rows:
        [(when: String, before: [(client: String?, isRemote: Bool)], of: String?, isRemote: Bool)] = [
            ("all clients have enough", (0..<10).map { ("\($0)", false) }, "new", false),
            ("one client has enough", (0..<4).map { _ in ("a", false) }, "a", false),
            ("a store has enough", (0..<6).map { ("\($0)", true) }, "new", true),
        ]

    @Test(arguments: rows) func pendingWorkIsLimited(
        when: String, before: [(client: String?, isRemote: Bool)], of client: String?, isRemote: Bool
    ) async throws {
        let pool = MediaPool("test", .init(pending: 10, ofClient: 4, remote: 6))
        for work in before {
            #expect(pool.begin(for: work.client, isRemote: work.isRemote))
        }
        await #expect(throws: MediaPool.Busy.self) { try await pool.admit(client, isRemote: isRemote) {} }
        #expect(pool.pendingCount == before.count)
        // Others go on: another client, and work that needs no store.
        if before.count < 10 { try await pool.admit("other") { await pool.perform {} } }
        pool.end(for: before[0].client, isRemote: before[0].isRemote)
        #expect(try await pool.admit(client, isRemote: isRemote) { pool.pendingCount } == before.count)
        for work in before.dropFirst() { pool.end(for: work.client, isRemote: work.isRemote) }
        #expect(pool.pendingCount == 0)
    }

    @Test func unknownClientsHaveNoLimitOfTheirOwn() {
        let pool = MediaPool("test", .init(pending: 10, ofClient: 4))
        for _ in 0..<10 { #expect(pool.begin(for: nil)) }
        #expect(!pool.begin(for: nil))
    }

    @Test func heldBytesAreLimited() async throws {
        let pool = MediaPool("test", .init(pending: 10, ofClient: 4, heldBytes: 100))
        var held = [pool.held.hold([UInt8](repeating: 0, count: 99))]
        try await pool.admit("a") {}
        held.append(pool.held.hold([0]))
        await #expect(throws: MediaPool.Busy.self) { try await pool.admit("a") {} }
        held.removeLast()
        try await pool.admit("a") {}
    }

    /// The statement of limits of the process: a recording that waits for its disk delays no clip.
    @Test func poolsDoNotWaitForEachOther() async {
        let stop = DispatchSemaphore(value: 0)
        let others: [MediaPool] = [.recordings, .finishing, .stills]
        let waiting = others.map { pool in Task { await pool.perform { stop.wait() } } }
        for pool in [MediaPool.segments, .clips] { #expect(await pool.perform { 1 } == 1) }
        for _ in waiting { stop.signal() }
        for task in waiting { await task.value }
    }

    /// A store that does not answer.
    private struct SlowStore: RemoteFiles {
        let asked: AsyncStream<Void>.Continuation
        let answer: AsyncStream<Void>

        func path(of file: SpoolFile) async throws(RingError) -> String {
            asked.yield()
            for await _ in answer {}
            throw .remote(name: file.name, message: "gone")
        }

        func beginning(of file: SpoolFile, byteCount: Int) async throws(RingError) -> [UInt8] {
            _ = try await path(of: file)
            return []
        }

        func clientURL(of file: SpoolFile) async -> Secret? { nil }
    }

    @Test func noThreadWaitsForAStore() async throws {
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let (answer, release) = AsyncStream<Void>.makeStream()
        let snapshot = RingSnapshot(
            archived: [RingEntry](), policy: RetentionPolicy(rewind: nil, freeReserve: 0), targetDuration: 6,
            declared: [],
            hasEnded: true, version: 1, directory: "/nowhere", remote: SlowStore(asked: ask, answer: answer))
        let pool = MediaPool("test")
        let slow = Task {
            await pool.perform(reading: snapshot) { snapshot in
                (try? snapshot.bytes(of: SpoolFile(name: "seg-1-00000000.m4s", byteCount: 1)))?.count
            }
        }
        for await _ in asked { break }
        #expect(await pool.perform { 1 } == 1)
        release.finish()
        #expect(await slow.value == nil)
    }
}
