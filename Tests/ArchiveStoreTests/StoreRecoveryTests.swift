import Foundation
import StoreTestSupport
import Support
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import LiveRing

/// The ring of a channel in a directory, whose files are there.
private struct SpooledRing {
    let directory: String
    let snapshot: RingSnapshot

    init(_ numbers: Range<Int>) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "spooled-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var index = RingIndex(
            policy: RetentionPolicy(rewind: nil), targetDuration: 4, nextMediaSequence: UInt64(numbers.lowerBound))
        for n in numbers {
            let entry = RingEntry.numbered(n)
            index.replay(entry)
            for file in entry.ownFiles + entry.sharedFiles {
                try Data(repeating: UInt8(n % 251), count: file.byteCount).write(
                    to: URL(filePath: "\(directory)/\(file.name)"))
            }
        }
        snapshot = RingSnapshot(
            version: 0, index: index, hasEnded: false, rewindDrops: 0, housekeepingError: nil, directory: directory)
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}

/// What an upload reports.
private final class Reports: Sendable {
    private let state = Mutex<[ArchiveUploader<ContinuousClock>.Report]>([])

    func add(_ report: ArchiveUploader<ContinuousClock>.Report) { state.withLock { $0.append(report) } }
    var all: [ArchiveUploader<ContinuousClock>.Report] { state.withLock { $0 } }
    var changes: [ArchiveUpload.NameChange] {
        all.compactMap { if case .renamed(let change) = $0 { change } else { nil } }
    }
}

/// Uploads a ring to its end.
@discardableResult private func upload(
    _ ring: SpooledRing, to store: MemoryStore, as writer: String = "w", run: String = "r", retention: Duration? = nil
) async throws -> Reports {
    let reports = Reports()
    let uploader = ArchiveUploader(
        try store.client(), writer: writer, run: run, retention: retention, clock: ContinuousClock(),
        makeName: { "\(writer)2" }, report: { reports.add($0) })
    uploader.close()
    await uploader.run {
        ring.snapshot
    } observe: { _ in
    }
    return reports
}

extension MemoryStore {
    fileprivate func numbers(in key: String) -> [UInt64] {
        (self[key].flatMap { try? ArchiveIndex($0, name: key) })?.entries.map(\.mediaSequence) ?? []
    }

    fileprivate var indexKeys: [String] { keys.filter { IndexKey($0) != nil } }
}

private let first = "index/2026-01-02T12/w-0.m3u8"

/// The newest index, as a restart finds it.
private let damages: [(what: String, text: @Sendable ([UInt8]) -> [UInt8])] = [
    ("empty", { _ in [] }), ("a page", { _ in Array("<html><body>Sign in</body></html>".utf8) }),
    (
        "of a later format",
        { Array(String(decoding: $0, as: UTF8.self).replacing("LIVERELAY-SPOOL:", with: "LIVERELAY-SPOOL:9").utf8) }
    ),
    ("zeros", { [UInt8](repeating: 0, count: $0.count) }),
    ("another playlist", { _ in Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n".utf8) }),
    (
        "a name of an object that is none",
        { Array(String(decoding: $0, as: UTF8.self).replacing(".m4s seg-", with: ".m4 seg-").utf8) }
    ),
]

@Suite struct StoreRecoveryTests {
    @Test(arguments: damages.indices) func anIndexThatCannotBeReadIsSetAside(row: Int) async throws {
        let (what, damage) = damages[row]
        let store = try MemoryStore()
        let (ring, longer) = (try SpooledRing(0..<6), try SpooledRing(0..<9))
        defer { for each in [ring, longer] { each.remove() } }
        try await upload(ring, to: store)
        let whole = try #require(store[first])
        let damaged = damage(whole)
        #expect(damaged != whole, "\(what)")
        store[first] = damaged
        let reports = try await upload(longer, to: store, run: "s")
        #expect(store.numbers(in: first) == Array(0..<9), "\(what)")
        #expect(store["\(first).damaged"] == damaged, "\(what)")
        #expect(reports.all.contains { if case .setAside = $0 { true } else { false } }, "\(what)")
        #expect(reports.changes.isEmpty, "\(what)")
    }

    @Test func theLastIndexThatCanBeReadIsContinued() async throws {
        let store = try MemoryStore()
        let (ring, longer) = (try SpooledRing(898..<902), try SpooledRing(898..<905))
        defer { for each in [ring, longer] { each.remove() } }
        try await upload(ring, to: store)
        let (old, new) = ("index/2026-01-02T12/w-898.m3u8", "index/2026-01-02T13/w-900.m3u8")
        #expect(store.indexKeys == [old, new])
        store[new] = []
        try await upload(longer, to: store, run: "s")
        #expect(store.numbers(in: old) == [898, 899] && store.numbers(in: new) == Array(900..<905))
    }

    /// Two processes with one name: the spool of one is a copy of the other's.
    @Test func twoProcessesOfOneNameGetTwoNames() async throws {
        let store = try MemoryStore()
        let (ring, longer) = (try SpooledRing(0..<6), try SpooledRing(0..<9))
        defer { for each in [ring, longer] { each.remove() } }
        try await upload(ring, to: store, run: "one")
        let reports = Reports()
        let uploader = ArchiveUploader(
            try store.client(), writer: "w", run: "two", retention: nil, clock: ContinuousClock(), makeName: { "x" },
            report: { reports.add($0) })
        uploader.close()
        // The first process begins again while the second one uploads.
        store.change { state in
            state.lies[WriterClaim.key(of: "w")] = WriterClaim(run: "one", retention: nil, date: noon).text
        }
        await uploader.run {
            longer.snapshot
        } observe: { _ in
        }
        #expect(reports.changes == [.taken])
        #expect(store.numbers(in: "index/2026-01-02T12/x-0.m3u8") == Array(0..<9))
        #expect(store.numbers(in: first) == Array(0..<6))
    }

    @Test func aSpoolThatCountsAnewUploadsUnderAnotherName() async throws {
        let store = try MemoryStore()
        let (ring, anew) = (try SpooledRing(100..<106), try SpooledRing(0..<6))
        defer { for each in [ring, anew] { each.remove() } }
        try await upload(ring, to: store)
        let reports = try await upload(anew, to: store, run: "s")
        #expect(reports.changes == [.countsAnew])
        #expect(store.numbers(in: "index/2026-01-02T12/w2-0.m3u8") == Array(0..<6))
    }

    @Test func twoLengthsOnOnePrefixAreSaid() async throws {
        let store = try MemoryStore()
        let ring = try SpooledRing(0..<6)
        defer { ring.remove() }
        try await upload(ring, to: store, as: "a", retention: .seconds(86_400))
        for (length, said) in [(Int64(7 * 86_400), true), (86_400, false)] {
            let reports = try await upload(ring, to: store, as: "b\(length)", retention: .seconds(length))
            let other = ArchiveUploader<ContinuousClock>.Report.otherRetention(
                theirs: .seconds(86_400), own: .seconds(length))
            #expect(reports.all.contains(other) == said)
        }
    }

    @Test func theEndIsFoundWithoutAListOfAllIndexes() async throws {
        let store = try MemoryStore()
        for hour in 1...5000 {
            let key = IndexKey(
                hour: IndexKey.hour(of: noon) - Int64(hour), writer: "v", firstMediaSequence: UInt64(hour))
            store[key.text] = [1]
        }
        let (ring, longer) = (try SpooledRing(0..<6), try SpooledRing(0..<9))
        defer { for each in [ring, longer] { each.remove() } }
        try await upload(ring, to: store)
        let before = store.requests.count
        try await upload(longer, to: store, run: "s")
        let lists = store.requests.dropFirst(before).filter { $0.hasPrefix("LIST index/") }
        #expect(lists.count == 1, "\(lists)")
        #expect(store.numbers(in: first) == Array(0..<9))
    }
}

// MARK: - Reading

/// The last segments of a channel, for a relay that continues another one's live playlist.
@Suite struct StoredWindowTests {
    /// The end of segment `n`.
    private func end(of n: Int) -> ProgramDateTime { noon.advanced(byMilliseconds: Int64(n + 1) * 4000) }

    @Test func segmentsOfSeveralWritersBelongTogether() async throws {
        let store = try MemoryStore()
        for (writer, numbers) in [("a", 0..<20), ("b", 20..<24)] {
            let ring = try SpooledRing(numbers)
            defer { ring.remove() }
            try await upload(ring, to: store, as: writer)
        }
        let window = try #require(
            try await StoredWindow(before: 23, until: end(of: 23), lasting: .seconds(30), in: try store.client()))
        #expect(window.entries.map(\.mediaSequence) == Array(16...23))
        let files = Mutex<[String: Int]>([:])
        await window.readFiles { name, bytes in files.withLock { $0[name] = bytes.count } }
        let expected = window.entries.flatMap(\.ownFiles).map { ($0.name, $0.byteCount) }
        let read = files.withLock { $0 }
        for (name, size) in expected { #expect(read[name] == size, "\(name)") }
    }

    @Test func whatIsPublishedLaterIsLeftOut() async throws {
        let store = try MemoryStore()
        let ring = try SpooledRing(0..<10)
        defer { ring.remove() }
        try await upload(ring, to: store)
        let client = try store.client()
        let window = try await StoredWindow(before: 6, until: end(of: 6), lasting: .seconds(12), in: client)
        #expect(window?.entries.map(\.mediaSequence) == [4, 5, 6])
        #expect(try await StoredWindow(before: 6, until: end(of: 3000), lasting: .seconds(12), in: client) == nil)
    }

    @Test func segmentsOfAnotherRelayAreNotPutAgain() async throws {
        let store = try MemoryStore()
        let ring = try SpooledRing(0..<10)
        defer { ring.remove() }
        var policy = ArchiveUpload.Policy()
        policy.beginning = 6
        let uploader = ArchiveUploader(
            try store.client(), writer: "w", run: "r", policy: policy, retention: nil, clock: ContinuousClock(),
            makeName: { "w2" }, report: { _ in })
        uploader.close()
        await uploader.run {
            ring.snapshot
        } observe: { _ in
        }
        let window = try await StoredWindow(before: 9, until: end(of: 9), lasting: .seconds(60), in: try store.client())
        #expect(window?.entries.map(\.mediaSequence) == [6, 7, 8, 9])
    }
}

@Suite struct StoreListingTests {
    private static func reader(_ store: MemoryStore, _ cache: CopyCache) throws -> ArchiveReader {
        ArchiveReader(try store.client(), cache: cache, policy: RetentionPolicy(rewind: nil), redirects: false) { nil }
    }

    private static func withCache<Value>(_ body: (CopyCache) async throws -> Value) async throws -> Value {
        let directory = FileManager.default.temporaryDirectory.appending(path: "listing-\(UUID().uuidString)").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await body(CopyCache(in: try CacheDirectory(directory), byteLimit: 1 << 20))
    }

    /// An index that cannot be read costs its own segments alone.
    @Test func anotherIndexOfARangeIsReadAllTheSame() async throws {
        let store = try MemoryStore()
        for (hour, numbers) in [0..<30, 900..<930].enumerated() {
            var index = head
            for n in numbers { index.append(.numbered(n), isLost: false) }
            let key = IndexKey(
                hour: IndexKey.hour(of: noon) + Int64(hour), writer: "a", firstMediaSequence: UInt64(numbers.lowerBound)
            )
            store[key.text] = hour == 0 ? Array("<html>".utf8) : index.text
        }
        try await Self.withCache { cache in
            let reader = try Self.reader(store, cache)
            for _ in 0..<3 {
                let part = try await reader.part(from: noon, to: noon.advanced(byMilliseconds: 7_200_000), with: nil)
                #expect(part?.snapshot.index.entry(numbered: 910) != nil)
            }
            #expect(store.requests.count { $0.hasPrefix("GET index") } == 2, "a damaged version is read once")
        }
    }

    /// The newest hours of an archive of years are there, and are listed alone from then on.
    @Test func onlyTheNewestHoursAreListedAgain() async throws {
        let store = try MemoryStore()
        for hour in 1...3000 {
            let key = IndexKey(
                hour: IndexKey.hour(of: noon) - Int64(hour), writer: "v", firstMediaSequence: UInt64(hour))
            store[key.text] = [1]
        }
        let time = Mutex(ContinuousClock.now)
        try await Self.withCache { cache in
            let catalog = ArchiveCatalog(try store.client(), cache.indexes) { time.withLock { $0 } }
            func lists(after seconds: Int64, _ key: IndexKey?) async throws -> Int {
                let before = store.requests.count
                time.withLock { $0 += .seconds(seconds) }
                #expect(try await catalog.newestKey() == key)
                return store.requests.count - before
            }
            let hour = IndexKey.hour(of: noon)
            let last = IndexKey(hour: hour - 1, writer: "v", firstMediaSequence: 1)
            #expect(try await lists(after: 0, last) == 3)
            #expect(try await lists(after: 9, last) == 0)
            let new = IndexKey(hour: hour, writer: "a", firstMediaSequence: 7)
            store[new.text] = head.text
            #expect(try await lists(after: 2, new) == 1)
            #expect(try await lists(after: 600, new) == 4, "all of them once in ten minutes")
        }
    }
}

// MARK: - Sweeps

/// Hours before noon of which a store has an index and two objects, and what a sweep removes of an archive of a day.
private let sweeps:
    [(what: String, hours: ClosedRange<Int>, clock: Int64, published: Int64, removed: Int, waiting: Int, differs: Bool)] =
        [
            ("nothing is older", 0...23, 0, 0, 0, 0, false), ("two hours are older", 0...26, 0, 0, 6, 0, false),
            ("26 hours at once", 0...90, 0, 0, 78, 40, false),
            ("a store that is 30 days ahead", 0...90, 30 * 86_400, 0, 0, 0, true),
            ("a store that is 6 minutes behind", 0...90, -360, 0, 0, 0, true),
            ("a store that is 4 minutes ahead", 0...26, 240, 0, 6, 0, false),
            ("dates of the upstream 30 days ahead", 0...26, 0, 30 * 24, 6, 0, false),
            ("dates of the upstream 5 hours behind", 0...26, 0, -5, 0, 0, false),
        ]

@Suite struct ArchiveSweepTests {
    @Test(arguments: sweeps.indices) func aSweepRemovesWholeHoursOfAWrongClockNone(row: Int) async throws {
        let row = sweeps[row]
        let store = try MemoryStore()
        let noonHour = IndexKey.hour(of: noon)
        let foreign = [
            "files/init-a.mp4", "index/2999-01-01T00/w-1.m3u8", "media/2999-01-01T00/x.m4s", "media/other/x.m4s",
        ]
        for key in foreign { store[key] = [1] }
        for hour in row.hours {
            let key = IndexKey(hour: noonHour - Int64(hour), writer: "w", firstMediaSequence: UInt64(hour))
            for text in [key.text, key.key(ofObject: "a.m4s"), key.key(ofObject: "b.m4s")] { store[text] = [1] }
        }
        store.change { $0.clockOffset = row.clock }
        let before = store.keys
        let sweep = ArchiveSweep(store: try store.client(), retention: .seconds(86_400))
        let outcome = try await sweep.sweep(publishedUntil: noon.advanced(byMilliseconds: row.published * 3_600_000))
        #expect(before.count - store.keys.count == row.removed, "\(row.what)")
        #expect(outcome.removedObjects == row.removed && outcome.waitingHours == row.waiting, "\(row.what)")
        #expect((outcome.clockDifference != nil) == row.differs, "\(row.what)")
        #expect(Set(foreign).isSubset(of: store.keys), "\(row.what)")
        // The oldest hours go first, and an index before its objects.
        let removed = store.requests.filter { $0.hasPrefix("DELETE") }
        let hours = removed.map { $0.split(separator: "/")[1] }
        #expect(hours == hours.sorted(), "\(row.what)")
        #expect(removed.first?.contains("index/") ?? true, "\(row.what)")
    }

    /// The store refuses a date once, and its own date signs the requests from then on.
    @Test func aClockThatSignsRequestsRemovesNothing() async throws {
        let store = try MemoryStore()
        let client = try store.client()
        for hour in 0...90 {
            store[IndexKey(hour: IndexKey.hour(of: noon) - Int64(hour), writer: "w", firstMediaSequence: 1).text] = [1]
        }
        store.change { ($0.clockOffset, $0.checksDates) = (30 * 86_400, true) }
        await #expect(throws: StoreError.self) { try await client.put("x", [1], type: "text/plain") }
        try await client.put("x", [1], type: "text/plain")
        #expect(client.date == noon, "what is kept is counted by this machine's clock")
        let outcome = try await ArchiveSweep(store: client, retention: .seconds(86_400)).sweep(publishedUntil: noon)
        #expect(outcome.removedObjects == 0 && outcome.clockDifference == .seconds(30 * 86_400))
        #expect(!store.requests.contains { $0.hasPrefix("DELETE") })
    }
}
