import Synchronization
import Testing

@testable import ArchiveStore
@testable import LiveRing

/// An index of some segments.
private func index(of count: Int) -> ArchiveIndex {
    var index = head
    for n in 0..<count { index.append(.numbered(n), isLost: false) }
    return index
}

@Suite final class SegmentCacheTests: Sendable {
    private static let limit = 20_000
    private let cache = SegmentCache<ArchiveIndex>(segmentLimit: limit) { $0.entries.count }
    private let fetches = Mutex<[String]>([])

    private func load(_ name: String, _ tag: String = "a", count: Int = 1) async throws(StoreError) -> Int {
        try await cache.value(name, version: tag) { [self] () async throws(StoreError) in
            fetches.withLock { $0.append("\(name) \(tag)") }
            await Task.yield()
            return index(of: count)
        }.entries.count
    }

    @Test func manyReadersOfAnIndexTakeOneRequest() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { [self] in try await load("i", count: 3) } }
            for try await count in group { #expect(count == 3) }
        }
        #expect(fetches.withLock { $0 } == ["i a"])
    }

    @Test func anIndexThatChangedIsReadAgain() async throws {
        _ = try await load("i")
        #expect(try await load("i", "b", count: 2) == 2)
        #expect(fetches.withLock { $0 } == ["i a", "i b"])
    }

    @Test func theLastIndexHasToDoWhereTheNextCannotBeRead() async throws {
        _ = try await load("i", count: 2)
        let old = try await cache.value("i", version: "b") { () async throws(StoreError) in
            throw StoreError(.badListing, object: "i")
        }
        #expect(old.entries.count == 2)
        await #expect(throws: StoreError.self) {
            try await cache.value("j", version: "b") { () async throws(StoreError) in
                throw StoreError(.badListing, object: "j")
            }
        }
    }

    @Test func theLastUsedStay() async throws {
        let large = index(of: 3600)
        let count = Self.limit / 3600 + 2
        for number in 0..<count {
            _ = try await cache.value("\(number)", version: "a") { () async throws(StoreError) in large }
            _ = try await load("0")
        }
        #expect(await cache.segmentCount <= Self.limit)
        #expect(fetches.withLock { $0 }.isEmpty, "the first is used all the time")
        _ = try await load("1")
        #expect(fetches.withLock { $0 } == ["1 a"])
    }
}
