import Dispatch
import Testing
import WebTestSupport

@testable import HTTP
@testable import WebServer

private func key(_ name: String = "list") -> DocumentCache.Key { DocumentCache.Key(name: name) }

private func bytes(_ count: Int = 100_000) -> [UInt8] { [UInt8](repeating: 32, count: count) }

/// A cache whose thread is busy until `release` is called.
private struct BusyCache: Sendable {
    let cache: DocumentCache
    private let semaphore = DispatchSemaphore(value: 0)
    private let work: Task<Void, Never>

    init(_ cache: DocumentCache) async {
        self.cache = cache
        let begun = AsyncStream<Void>.makeStream()
        work = Task { [semaphore] in
            await cache.perform {
                begun.continuation.finish()
                semaphore.wait()
            }
        }
        for await _ in begun.stream {}
    }

    /// Returns when so many requests wait.
    func reaches(pending count: Int) async { while cache.pendingCount < count { await Task.yield() } }

    func release() async {
        semaphore.signal()
        await work.value
    }
}

@Suite(.ownThreads) struct DocumentCacheTests {
    @Test("Any number of readers share one document of a version of the list", arguments: [100, 200, 400])
    func oneForEachVersion(readers: Int) async throws {
        let busy = await BusyCache(DocumentCache(label: "test"))
        let cache = busy.cache
        let heldBytes = try await withThrowingTaskGroup(of: DocumentCache.Document.self) { group in
            for _ in 0..<readers {
                group.addTask { try await cache.document(key(), version: 1, compressed: false) { bytes() } }
            }
            await busy.reaches(pending: readers)
            await busy.release()
            var documents: [DocumentCache.Document] = []
            for try await document in group { documents.append(document) }
            return cache.heldBytes
        }
        #expect(cache.madeCount == 1 && heldBytes == 100_000, "one body, whoever reads it")
        _ = try await cache.document(key(), version: 1, compressed: true) { bytes() }
        #expect(cache.madeCount == 1)
        _ = try await cache.document(key(), version: 2, compressed: true) { bytes() }
        #expect(cache.madeCount == 2 && cache.heldBytes == 100_000)
    }

    @Test("A document of the moment is made for all who wait, and again for who asks later")
    func oneForAllThatWait() async throws {
        let busy = await BusyCache(DocumentCache(label: "test"))
        let cache = busy.cache
        let tasks = (0..<100).map { _ in
            Task { try await cache.document(key(), version: nil, compressed: false) { bytes() } }
        }
        await busy.reaches(pending: 100)
        await busy.release()
        for task in tasks { _ = try await task.value }
        #expect(cache.madeCount == 1)
        _ = try await cache.document(key(), version: nil, compressed: false) { bytes() }
        #expect(cache.madeCount == 2)
    }

    @Test func tooManyDifferentDocumentsAreRefused() async throws {
        let busy = await BusyCache(DocumentCache(label: "test"))
        let cache = busy.cache
        let tasks = (0..<DocumentCache.pendingLimit).map { number in
            Task { try await cache.document(key("\(number)"), version: 1, compressed: false) { bytes(10) } }
        }
        await busy.reaches(pending: DocumentCache.pendingLimit)
        await #expect(throws: DocumentCache.Refusal.self) {
            try await cache.document(key("another"), version: 1, compressed: false) { bytes(10) }
        }
        await busy.release()
        for task in tasks { _ = try await task.value }
        #expect(cache.pendingCount == 0)
        _ = try await cache.document(key("another"), version: 1, compressed: false) { bytes(10) }
    }

    @Test func whatSlowReadersHoldIsBounded() async throws {
        let cache = DocumentCache(label: "test", heldLimit: 500_000)
        var held: [DocumentCache.Document] = []
        await #expect(throws: DocumentCache.Refusal.self) {
            for version in 1...100 as ClosedRange<UInt64> {
                held.append(try await cache.document(key(), version: version, compressed: false) { bytes() })
            }
        }
        #expect(held.count == 5 && cache.heldBytes == 500_000)
        _ = try await cache.document(key(), version: 5, compressed: true) { bytes() }
        held.removeAll()
        _ = try await cache.document(key(), version: 6, compressed: false) { bytes() }
        #expect(cache.heldBytes == 100_000)
    }

    @Test func fewDocumentsAreKept() async throws {
        let cache = DocumentCache(label: "test")
        for host in 0..<1000 {
            _ = try await cache.document(key("\(host)"), version: 1, compressed: false) { bytes(1000) }
        }
        #expect(cache.heldBytes == DocumentCache.countLimit * 1000)
    }
}
